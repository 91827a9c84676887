"""Scores of translations, always with their signature."""
