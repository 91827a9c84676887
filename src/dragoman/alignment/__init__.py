"""Which words of a sentence became which words of its translation, read from attention."""
