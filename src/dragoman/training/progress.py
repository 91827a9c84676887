"""How far a training run is."""

from dataclasses import dataclass, field
from typing import Any

from dragoman.corpora.batching import Position


@dataclass
class Progress:
    """How far a run is: all its state besides tensors."""

    update: int = 0
    position: Position = field(default_factory=lambda: Position(0, 0))
    tokens: int = 0
    seconds: float = 0.0
    """Spent on updates, without validations."""

    best: float | None = None
    best_update: int | None = None
    validated_update: int = 0
    validations_without_improvement: int = 0
    journal_size: int = 0

    @classmethod
    def from_values(cls, values: dict[str, Any]) -> "Progress":
        """Read what `asdict` wrote."""
        return cls(**{**values, "position": Position(**values["position"])})
