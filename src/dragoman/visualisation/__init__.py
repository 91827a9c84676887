"""Figures of models and of training journals."""
