"""Translation of whole files: block by block, each kept when finished, by one process or many."""
