"""Texts with tags and escapes in them: what is translated, and what is kept verbatim."""
