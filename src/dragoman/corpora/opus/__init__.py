"""Corpora of OPUS, the open parallel corpus (Tiedemann 2012): downloaded, verified, recorded."""
