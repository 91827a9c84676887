"""A word that a setting does not know is refused, also where no recipe was read."""

import re
from typing import Any

import pytest

from dragoman.corpora.config import CorporaConfig, CorpusConfig
from dragoman.evaluation.config import EvaluationConfig
from dragoman.model.config import TransformerConfig
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.training.config import TrainingConfig

CORPORA = CorporaConfig(train=(CorpusConfig(path="a.tsv"),))


@pytest.mark.parametrize(
    ("config", "name", "word", "known"),
    [
        (TransformerConfig(), "norm", "befor", "before, after"),
        (TransformerConfig(), "layer_norm", "rms", "per_feature, scalar"),
        (TransformerConfig(), "tied_embeddings", "source", "all, target, none"),
        (TrainingConfig(), "optimizer", "sgd", "adamw, muon"),
        (TrainingConfig(), "schedule", "cosin", "paper, inverse_square_root, cosine, "),
        (TrainingConfig(), "precision", "fp16", "auto, fp32, bf16"),
        (TokenizerConfig(), "kind", "wordpiece", "unigram, bpe, words, marian"),
        (EvaluationConfig(), "tokenize", "moses", "13a, intl, zh, ja-mecab, char, none"),
        (CORPORA, "overlap", "ignore", "refuse, drop, allow"),
    ],
)
def test_a_word_that_a_setting_does_not_know_is_refused(
    config: Any, name: str, word: str, known: str
) -> None:
    object.__setattr__(config, name, word)  # where tests check types, they would be first

    with pytest.raises(ValueError, match=f"^{name}='{word}' is none of {known}"):
        config.__post_init__()


@pytest.mark.parametrize(
    ("metrics", "unknown"),
    [(("BLEU", "chrf++"), "chrf++"), ("TER", "T")],  # and one without a comma behind it
)
def test_so_is_one_of_several(metrics: Any, unknown: str) -> None:
    """It was computed as chrF, under its own name."""
    with pytest.raises(
        ValueError, match=rf"^metrics='{re.escape(unknown)}' is none of BLEU, chrF, "
    ):
        EvaluationConfig(metrics=metrics)
