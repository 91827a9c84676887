"""From a recipe to a model directory: all the parts of a training run, put together."""
