"""Parallel text: read, cleaned, stored as token ids, and batched."""
