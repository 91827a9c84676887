"""From text to a token store."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from dragoman.batched import batched
from dragoman.corpora.prepared_text import read_tsv
from dragoman.corpora.store_description import read_description
from dragoman.corpora.token_store_writer import TokenStoreWriter
from dragoman.tokenizers.pair import TokenizerPair

ENCODED_AT_ONCE = 10_000


def encode(
    text: Path,
    tokenizers: TokenizerPair,
    corpora: Sequence[tuple[str, float, int]],
    directory: Path,
    *,
    fingerprint: str,
    max_length: int,
) -> list[int]:
    """Write a token store.

    Args:
        text: Lines of source, tab and target.
        tokenizers: What encodes both sides.
        corpora: Name, weight and number of lines of each corpus, in the order of the text.
        directory: Where the store will be.
        fingerprint: A checksum of all that determines the text.
        max_length: Pairs with more tokens on a side are left out.

    Returns:
        How many pairs of each corpus were left out.

    Raises:
        TokenStoreError: no pair is left.
    """
    pairs = read_tsv(text)
    vocab_size = max(tokenizers.source.vocab_size, tokenizers.target.vocab_size)
    with TokenStoreWriter(
        directory, vocab_size=vocab_size, fingerprint=fingerprint, max_length=max_length
    ) as writer:
        for name, weight, count in corpora:
            writer.start_corpus(name, weight)
            for block in batched(islice(pairs, count), ENCODED_AT_ONCE):
                sources, targets = zip(*block, strict=True)
                writer.add(
                    tokenizers.source.encode_batch(sources), tokenizers.target.encode_batch(targets)
                )
    return [corpus.too_long for corpus in read_description(directory).corpora]
