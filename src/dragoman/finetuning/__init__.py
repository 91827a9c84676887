"""Going on with a finished model on text of one's own."""
