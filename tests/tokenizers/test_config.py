"""Settings that contradict each other are refused by name."""

from typing import Any

import pytest

from dragoman.tokenizers.config import TokenizerConfig


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"vocab_size": 0}, "vocab_size=0 is less than 5"),
        ({"vocab_size": 9, "from_model": "runs/en-it"}, "does not go with from_model"),
        ({"sampling": 1.5}, r"sampling=1.5 is not in \[0, 1\]"),
        ({"sampling": 0.1, "kind": "words"}, "sampling=0.1 needs subwords"),
        ({"sampling": 0.1, "kind": "marian", "from_model": "m"}, "sampling=0.1 needs subwords"),
        ({"kind": "marian"}, "kind='marian' needs from_model"),
        ({"sampling": 0.1, "byte_fallback": False}, "sampling=0.1 needs byte_fallback=true"),
        ({"min_frequency": 0}, "min_frequency=0 is not positive"),
    ],
)
def test_a_bad_setting_is_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TokenizerConfig(**settings)
