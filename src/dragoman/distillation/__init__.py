"""A large model teaches a small, fast one (Kim and Rush 2016, arXiv 1606.07947)."""
