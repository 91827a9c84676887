"""Model to token ids: greedy search, beam search, sampling."""
