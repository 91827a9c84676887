"""Train a finished model further, on text of one's own."""
