"""Translation of whole files: block by block, kept as it is finished, by one process or many."""
