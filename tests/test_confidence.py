import math
from pathlib import Path

import pytest

from dragoman.confidence import Judgement, judge_words
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.tokenizer import Tokenizer
from dragoman.tokenizers.training import train_tokenizers
from dragoman.tokenizers.words import WordTokenizer


@pytest.fixture
def unigram(tmp_path: Path) -> Tokenizer:
    pairs = [("the cat", "il gatto")] * 20
    return train_tokenizers(TokenizerConfig(vocab_size=280), lambda: pairs, tmp_path).source


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


def test_without_spaces_a_word_is_what_a_token_adds() -> None:
    pieces = Pieces(["_", "猫", "が", "います", "。", "_Py", "thon"])
    ids = list(range(4, 11))
    values = [math.log(p) for p in (0.9, 0.5, 0.4, 0.3, 0.2, 0.8, 0.5)]

    words = judge_words(ids, values, pieces)

    assert [word.text for word in words] == ["猫", "が", "います", "。", "Python"]
    expected = [0.9 * 0.5, 0.4, 0.3, 0.2, 0.8 * 0.5]
    assert [word.confidence for word in words] == pytest.approx(expected)


def test_the_bytes_of_a_character_are_one_word(unigram: Tokenizer) -> None:
    ids = unigram.encode("猫犬")  # in none of the texts that it has learnt from
    values = [math.log(0.9)] * len(ids)

    words = judge_words(ids, values, unigram)

    assert [word.text for word in words] == ["猫", "犬"]
    assert words[1].confidence == pytest.approx(0.9**3)
    assert math.prod(word.confidence for word in words) == pytest.approx(0.9 ** len(ids))


def test_an_empty_translation_has_no_words() -> None:
    assert judge_words([], [math.log(0.5)], PIECES) == []


@pytest.mark.parametrize(
    ("probabilities", "expected"), [((0.5, 0.8, 0.2), 0.08 ** (1 / 3)), ((0.25,), 0.25), ((), 1.0)]
)
def test_the_confidence_in_a_translation_is_the_mean_of_its_tokens_probabilities(
    probabilities: tuple[float, ...], expected: float
) -> None:
    judgement = Judgement(
        words=(),
        log_probability=math.fsum(map(math.log, probabilities)),
        num_tokens=len(probabilities),
    )
    assert judgement.confidence == pytest.approx(expected)
