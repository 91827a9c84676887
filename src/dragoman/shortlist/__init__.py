"""Lexical shortlists: the few target tokens that a source sentence may need."""
