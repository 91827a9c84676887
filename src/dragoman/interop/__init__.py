"""Other people's model formats."""
