"""The settings of the tokenizers."""

from dataclasses import dataclass
from typing import Literal

from dragoman.choices import check_choices

TokenizerKind = Literal["unigram", "bpe", "words", "marian"]

IMPORTED = "marian"
"""The kind that is never learnt here: it comes with a model that `dragoman import` has read."""

FEWEST_ENTRIES = 5
"""Padding, unknown, beginning, end, and one token of text."""


@dataclass(frozen=True, kw_only=True)
class TokenizerConfig:
    """How text is cut into tokens."""

    kind: TokenizerKind = "unigram"
    """Subwords by unigram (Kudo 2018) or BPE (Sennrich et al. 2016), or whole words, for text with
    spaces between them (Chinese, Japanese and Thai have none); `marian` is the tokenizer of an
    imported model, which can only be taken from there."""

    joint: bool = True
    """One vocabulary for both languages, so that the model can share one embedding table."""

    vocab_size: int | None = None
    """Maximum size of a vocabulary, special tokens included. If left out, the amount of text
    decides."""

    from_model: str | None = None
    """Use the vocabulary of this model directory as it is, instead of learning one. Set `kind`,
    `joint` and `lowercase` as in that model's recipe; the vocabulary alone decides about upper
    case, and `lowercase` is not compared with it. `~` and `$VARIABLE` are expanded."""

    byte_fallback: bool = True
    """`unigram` and `bpe` only: spell characters that the vocabulary lacks as UTF-8 bytes, so that
    nothing is unknown."""

    lowercase: bool = False
    """Convert upper case to lower, as some published tables do. Translations come out in lower
    case. It is done alike in all languages, so Turkish I becomes i."""

    sampling: float = 0.0
    """Cut the training text differently in each epoch; 0 always cuts it the same way.

    For `bpe` this is the rate at which merges are dropped (Provilkov et al. 2020 use 0.1). For
    `unigram` it is the exponent alpha on the probability of a segmentation (Kudo 2018 uses 0.2):
    the smaller, the more varied. Batches are planned for the usual cut, so updates and
    micro-batches have more tokens than `batching` says.
    """

    min_frequency: int = 2
    """`words` only: a word that occurs fewer times in the training text is unknown."""

    def __post_init__(self) -> None:
        check_choices(self)
        if self.vocab_size is not None and self.vocab_size < FEWEST_ENTRIES:
            raise ValueError(f"vocab_size={self.vocab_size} is less than {FEWEST_ENTRIES}")
        if self.vocab_size is not None and self.from_model is not None:
            raise ValueError(
                f"vocab_size={self.vocab_size} does not go with from_model={self.from_model!r}, "
                "whose vocabulary is taken as it is; leave one of them out"
            )
        if self.kind == IMPORTED and self.from_model is None:
            raise ValueError(
                "kind='marian' needs from_model: such a vocabulary cannot be learnt here"
            )
        if not 0.0 <= self.sampling <= 1.0:
            raise ValueError(f"sampling={self.sampling} is not in [0, 1]")
        if self.sampling and self.kind in ("words", IMPORTED):
            raise ValueError(
                f"sampling={self.sampling} needs subwords by unigram or bpe, but kind is "
                f"{self.kind!r}"
            )
        if self.sampling and not self.byte_fallback:
            raise ValueError(
                f"sampling={self.sampling} needs byte_fallback=true: sampling reads the text back "
                "from its tokens, and unknown characters would be lost"
            )
        if self.min_frequency < 1:
            raise ValueError(f"min_frequency={self.min_frequency} is not positive")
