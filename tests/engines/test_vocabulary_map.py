"""A shortlist is written as CTranslate2 reads it."""

import numpy as np
import pytest

from dragoman.engines.protocol import EngineError
from dragoman.engines.vocabulary_map import write_vocabulary_map
from dragoman.shortlist.shortlist import Shortlist

SHORTLIST = Shortlist(
    frequent=np.array([1, 3], dtype=np.int32),
    translations=np.array([[1, 1, 1], [0, 2, 1], [4, 4, 3]], dtype=np.int32),
)
TARGET = ["<pad>", "</s>", "▁gatto", "▁il", "è"]


def test_every_source_token_has_a_line_behind_that_of_every_sentence() -> None:
    written = write_vocabulary_map(SHORTLIST, ["</s>", "▁cat", "is"], TARGET)
    assert written.decode() == (
        "\t</s> ▁il\n"  # always
        "</s>\t</s>\n"
        "▁cat\t<pad> ▁gatto </s>\n"
        "is\tè ▁il\n"
    )


@pytest.mark.parametrize("sign", [" ", "\t", "\n"])
def test_a_token_that_the_format_cannot_hold_is_named(sign: str) -> None:
    with pytest.raises(EngineError, match=r"with the token 'a.*b', which has white"):
        write_vocabulary_map(SHORTLIST, ["</s>", f"a{sign}b", "is"], TARGET)
    with pytest.raises(EngineError, match="take engine pytorch"):
        write_vocabulary_map(SHORTLIST, ["</s>", "cat", "is"], [*TARGET[:-1], f"{sign}b"])
