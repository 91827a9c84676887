"""Fit a model to batches."""
