"""The settings of evaluation."""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal

from dragoman.languages.codes import base_language

Tokenization = Literal["13a", "intl", "zh", "ja-mecab", "char", "none"]
MetricName = Literal["BLEU", "chrF", "chrF++", "TER"]


@dataclass(frozen=True, kw_only=True)
class EvaluationConfig:
    """What is measured and how. The defaults are sacreBLEU's, so that numbers are comparable."""

    metrics: tuple[MetricName, ...] = ("BLEU", "chrF", "TER")
    """BLEU (Papineni et al. 2002), chrF (Popović 2015), chrF++ (2017), TER (Snover et al. 2006)."""

    lowercase: bool = False
    """Ignore case in BLEU and chrF; TER always does, as in sacreBLEU."""

    tokenize: Tokenization = "13a"
    """How BLEU splits text into words: if left out, `zh` for Chinese, `ja-mecab` (without MeCab
    `char`) for Japanese, and `13a` for other languages; `none` is for text that is already
    split."""

    bootstrap_samples: int = 1000
    """Number of resampled test sets behind each confidence interval, which needs at least 40, and
    each p-value; 0 leaves both out."""

    seed: int = 12345
    """Decides which test sets are resampled; the default is sacreBLEU's."""

    def __post_init__(self) -> None:
        if not self.metrics:
            raise ValueError("metrics is empty")
        if self.bootstrap_samples < 0:
            raise ValueError(f"bootstrap_samples={self.bootstrap_samples} is negative")
        if self.seed < 0:
            raise ValueError(f"seed={self.seed} is negative")


def usual_tokenization(language: str) -> Tokenization:
    """Choose how BLEU finds words: Chinese and Japanese put no spaces between them."""
    language = base_language(language)
    if language == "zh":
        return "zh"
    if language == "ja":
        return "ja-mecab" if find_spec("MeCab") and find_spec("ipadic") else "char"
    return EvaluationConfig.tokenize
