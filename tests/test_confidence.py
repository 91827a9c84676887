import math

import pytest

from dragoman.confidence import judge_words
from dragoman.tokenizers.words import WordTokenizer


class Pieces(WordTokenizer):
    """A tokenizer whose pieces are joined unless they begin with an underscore."""

    def decode(self, ids: object) -> str:
        assert isinstance(ids, list | tuple)
        return "".join(self.pieces(ids)).replace("_", " ").strip()


PIECES = Pieces(["_il", "_gat", "to", "_", "dorme", "."])
IL, GAT, TO, SPACE, DORME, STOP = range(4, 10)


def test_the_probability_of_a_word_is_the_product_of_those_of_its_tokens() -> None:
    ids = [IL, GAT, TO, SPACE, DORME, STOP]
    values = [math.log(p) for p in (0.5, 0.8, 0.5, 0.9, 0.5, 0.25, 0.1)]
    words = judge_words(ids, values, PIECES)
    assert [word.text for word in words] == ["il", "gatto", "dorme."]
    # The lone space, which cannot be seen yet, belongs to the word that follows it.
    assert [word.confidence for word in words] == pytest.approx([0.5, 0.8 * 0.5, 0.9 * 0.5 * 0.25])


def test_what_adds_nothing_at_the_end_belongs_to_the_last_word() -> None:
    (word,) = judge_words([IL, SPACE], [math.log(0.5), math.log(0.5)], PIECES)
    assert word.confidence == pytest.approx(0.25)


def test_an_empty_translation_has_no_words() -> None:
    assert judge_words([], [math.log(0.5)], PIECES) == []
