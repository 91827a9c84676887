"""A small parallel text, and tokenizers that learnt from it."""

from itertools import product

import pytest

from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.sentencepiece import SentencePieceTokenizer
from dragoman.tokenizers.training import train_tokenizers

SUBJECTS = {"The cat": "Il gatto", "My sister": "Mia sorella", "A teacher": "Un'insegnante"}
VERBS = {"sees": "vede", "draws": "disegna", "remembers": "ricorda", "paints": "dipinge"}
OBJECTS = {"the house": "la casa", "a dog": "un cane", "the old city": "la città vecchia"}


@pytest.fixture(scope="session")
def corpus() -> list[tuple[str, str]]:
    return [
        (f"{subject} {verb} {thing}.", f"{SUBJECTS[subject]} {VERBS[verb]} {OBJECTS[thing]}.")
        for subject, verb, thing in product(SUBJECTS, VERBS, OBJECTS)
    ]


@pytest.fixture(scope="session")
def unigram_pair(
    corpus: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> TokenizerPair:
    return train_tokenizers(TokenizerConfig(), lambda: corpus, tmp_path_factory.mktemp("unigram"))


@pytest.fixture(scope="session", params=["unigram", "bpe"])
def subwords(
    request: pytest.FixtureRequest,
    corpus: list[tuple[str, str]],
    tmp_path_factory: pytest.TempPathFactory,
) -> SentencePieceTokenizer:
    """Learn from a text that is full of what looks like special pieces."""
    injected = [(f"{source} </s> <s> <pad>", f"<unk> <0x41> {target}") for source, target in corpus]
    config = TokenizerConfig(kind=request.param)
    pair = train_tokenizers(config, lambda: corpus + injected, tmp_path_factory.mktemp("subwords"))
    assert isinstance(pair.source, SentencePieceTokenizer)
    return pair.source
