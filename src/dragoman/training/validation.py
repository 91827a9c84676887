"""What a validation during training finds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    """One live translation."""

    source: str
    reference: str
    translation: str


@dataclass(frozen=True)
class Validation:
    """How good the model is at the moment."""

    metrics: Mapping[str, float]
    """`loss` (cross-entropy of a target token in nats) and, where it translated, BLEU and chrF."""

    samples: Sequence[Sample] = ()

    def summary(self) -> str:
        """Write the metrics on one line."""
        return "  ".join(
            f"{name} {value:.3f}" if name == "loss" else f"{name} {value:.1f}"
            for name, value in self.metrics.items()
        )
