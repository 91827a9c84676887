"""The settings of a search."""

from dataclasses import dataclass, fields, replace
from numbers import Integral, Real
from typing import Any

RANGES = {
    "beam_size": (1, 1024),
    "n_best": (1, 1024),
    "patience": (1, 1024),
    "max_length_extra": (1, 65_536),
    "length_penalty": (0, 10),
    "max_length_ratio": (0, 100),
    "sampling_temperature": (0, 100),
    "top_k": (0, 2**24),
}
"""The least and the most of each number; more would use up memory, or overflow where a length is
raised to a power, and find nothing better."""

LEAST_TEMPERATURE = 0.001
"""Below it, the best token is all but certain, and logits divided by less may be infinite."""


@dataclass(frozen=True, kw_only=True)
class SearchConfig:
    """How translations are searched for.

    Beam search is the default, with the paper's beam and length penalty (section 6.1). A beam of
    one is greedy search. A sampling temperature above zero samples from the model instead.
    """

    beam_size: int = 4
    """Unfinished translations of a sentence that are followed at once; 1 is greedy search."""

    length_penalty: float = 0.6
    """Alpha of the length penalty; 0 ranks by log-probability, which favours short translations.
    Those of our models are 5 to 10 % too short with the paper's 0.6; recipes and plans have 1."""

    n_best: int = 1
    """Translations returned for each sentence."""

    patience: int = 2
    """A beam search is over when this many translations for each place in the beam have ended
    (Kasai et al. 2022). 1 is faster and a little worse; 3 gains nothing. A search that must keep
    terms always uses 1."""

    max_length_ratio: float = 2.0
    """A translation has at most this many tokens for each source token..."""

    max_length_extra: int = 20
    """...and this many more, the end of the sentence included."""

    sampling_temperature: float = 0.0
    """0 searches; above 0, tokens are sampled, without a beam: 1 from the model's own distribution,
    less is closer to greedy."""

    top_k: int = 0
    """Sample only from this many of the most probable tokens; 0 is all of them."""

    top_p: float = 1.0
    """Sample only from the fewest tokens whose probabilities add up to at least this."""

    seed: int = 0
    """Another seed gives other samples."""

    def __post_init__(self) -> None:
        self._check_types()
        for name, (least, most) in RANGES.items():
            if not least <= getattr(self, name) <= most:
                raise ValueError(f"{name}={getattr(self, name)} is not between {least} and {most}")
        if 0.0 < self.sampling_temperature < LEAST_TEMPERATURE:
            raise ValueError(
                f"sampling_temperature={self.sampling_temperature} is neither 0 nor at least "
                f"{LEAST_TEMPERATURE}"
            )
        if not 0.0 < self.top_p <= 1.0:
            raise ValueError(f"top_p={self.top_p} is not in (0, 1]")
        if not self.samples and (self.top_k, self.top_p, self.seed) != (0, 1.0, 0):
            raise ValueError("top_k, top_p and seed need a sampling_temperature above 0")
        if not self.samples and self.n_best > self.beam_size:
            raise ValueError(f"n_best={self.n_best} is more than beam_size={self.beam_size} finds")

    def _check_types(self) -> None:
        """Reject what is no number, and fractions where whole numbers are meant; take NumPy's."""
        for field in fields(self):
            value: Any = getattr(self, field.name)
            is_whole = type(field.default) is int
            fits = isinstance(value, Integral if is_whole else Real)
            if isinstance(value, bool) or not fits:
                kind = "a whole number" if is_whole else "a number"
                raise ValueError(f"{field.name}={value!r} is not {kind}")
            if type(value) not in (int, float):
                number = int(value) if is_whole else float(value)
                object.__setattr__(self, field.name, number)  # it is frozen

    @property
    def samples(self) -> bool:
        """Whether tokens are drawn instead of searched for."""
        return self.sampling_temperature > 0.0

    @property
    def width(self) -> int:
        """How many prefixes of a sentence are followed at once."""
        return self.n_best if self.samples else self.beam_size

    def without_sampling(self) -> "SearchConfig":
        """Return settings that search for one translation, where these sample."""
        return replace(self, n_best=1, sampling_temperature=0.0, top_k=0, top_p=1.0, seed=0)

    def max_length(self, source_length: int, prefix_length: int = 0) -> int:
        """Compute how many tokens a translation may have, its end included.

        This depends on the sentence alone, so that it is translated the same in every batch. A
        prefix that it must begin with still leaves room for more.

        >>> config = SearchConfig(max_length_ratio=2.0, max_length_extra=20)
        >>> [config.max_length(10, begun) for begun in (0, 5, 39, 41)]
        [40, 40, 59, 61]
        """
        limit = int(self.max_length_ratio * source_length) + self.max_length_extra
        return max(limit, prefix_length + self.max_length_extra)

    def penalty(self, length: int) -> float:
        """Compute the length penalty ((5 + length) / 6)^alpha (Wu et al. 2016, equation 14).

        A log-probability is divided by it before it is compared with those of other lengths. The
        end of the sentence counts, because its probability does.

        >>> round(SearchConfig(length_penalty=0.6).penalty(7), 4)
        1.5157
        """
        return float(((5 + length) / 6) ** self.length_penalty)
