"""Ways to run a model: token ids to token ids."""
