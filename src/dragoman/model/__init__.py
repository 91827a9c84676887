"""The Transformer of "Attention Is All You Need", one file for each of its parts.

Names of tensor dimensions, the same in the signatures of the package:

    batch     sentences in the batch          d_model   width of the residual stream
    source    source tokens, padded           d_ff      width inside the feed-forward layer
    target    target tokens, padded           heads     attention heads
    query     positions that attend           d_k       width of one head, d_v as well
    memory    positions attended to           vocab     entries of the vocabulary
    length    positions of any sequence       prefixes  beginnings of a translation, in a search
    kept      sentences that a search         places    slots for their keys and values
              continues with

Masks are boolean and say where attention may look: True is visible, False is hidden. Every row of
a mask has at least one visible position, because a softmax over nothing is not a number.

Section and equation numbers are those of Vaswani et al. 2017 (arXiv 1706.03762).
"""
