"""The settings of evaluation."""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

from dragoman.choices import check_choices
from dragoman.languages.codes import base_language

Tokenization = Literal["13a", "intl", "zh", "ja-mecab", "char", "none"]
MetricName = Literal["BLEU", "chrF", "chrF++", "TER"]


@dataclass(frozen=True, kw_only=True)
class EvaluationConfig:
    """What is measured and how. The defaults are sacreBLEU's, so that numbers are comparable."""

    metrics: tuple[MetricName, ...] = ("BLEU", "chrF", "TER")
    """BLEU (Papineni et al. 2002), chrF (Popović 2015), chrF++ (2017), TER (Snover et al. 2006);
    if left out, without TER for Burmese, Khmer, Lao and Thai, which it cannot split."""

    lowercase: bool = False
    """Ignore case in BLEU and chrF; TER always does, as in sacreBLEU."""

    tokenize: Tokenization = "13a"
    """How BLEU splits text into words: if left out, `zh` for Chinese, `ja-mecab` (without MeCab
    `char`) for Japanese, `char` for Burmese, Khmer, Lao and Thai, and `13a` for other languages;
    `none` is for text that is already split. With `zh`, `ja-mecab` and `char`, TER
    splits Chinese and Japanese, too (`asian:yes` in its signature)."""

    bootstrap_samples: int = 1000
    """Number of resampled test sets behind each confidence interval, which needs at least 40, and
    each p-value; 0 leaves both out."""

    seed: int = 12345
    """Decides which test sets are resampled; the default is sacreBLEU's."""

    @property
    def splits_at_spaces(self) -> bool:
        """Whether words are what stands between spaces, apart from punctuation."""
        return self.tokenize in ("13a", "intl", "none")

    def __post_init__(self) -> None:
        check_choices(self)
        if not self.metrics:
            raise ValueError("metrics is empty")
        if len(set(self.metrics)) < len(self.metrics):
            raise ValueError(f"metrics={', '.join(self.metrics)} names one twice")
        if self.bootstrap_samples < 0:
            raise ValueError(f"bootstrap_samples={self.bootstrap_samples} is negative")
        if self.seed < 0:
            raise ValueError(f"seed={self.seed} is negative")


def usual_evaluation(language: str) -> dict[str, Any]:
    """Choose the settings that suit a target language: not all put spaces between their words.

    sacreBLEU's TER can take apart Chinese and Japanese, but no language of South-East Asia: there
    it would only count the sentences that are not equal to their reference.
    """
    language = base_language(language)
    if language in ("zh", "yue"):
        return {"tokenize": "zh"}
    if language == "ja":
        has_mecab = find_spec("MeCab") and find_spec("ipadic")
        return {"tokenize": "ja-mecab" if has_mecab else "char"}
    if language in ("km", "lo", "my", "th"):
        return {"tokenize": "char", "metrics": ["BLEU", "chrF"]}
    return {}
