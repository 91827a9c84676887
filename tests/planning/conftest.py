"""Most of the time of a plan goes into a vocabulary, the same for the same text."""

from pathlib import Path

import pytest

from dragoman.planning import text
from dragoman.planning.sample import Sample
from dragoman.tokenizers.pair import TokenizerPair

_LEARN = text._learn


@pytest.fixture(scope="session")
def learnt() -> dict[object, TokenizerPair]:
    """Keep the vocabularies that were learnt, by their size and text."""
    return {}


@pytest.fixture(autouse=True)
def _each_vocabulary_is_learnt_once(
    learnt: dict[object, TokenizerPair], monkeypatch: pytest.MonkeyPatch
) -> None:
    def learn(vocab_size: int, sample: Sample, directory: Path) -> TokenizerPair:
        key = vocab_size, tuple(sample.pairs)
        if key not in learnt:
            learnt[key] = _LEARN(vocab_size, sample, directory)
        return learnt[key]

    monkeypatch.setattr(text, "_learn", learn)
