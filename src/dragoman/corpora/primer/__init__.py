"""The embedded English-Italian corpus: a synchronous grammar, its lexicon, and a phrasebook."""
