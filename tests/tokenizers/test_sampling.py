"""Subwords are drawn with the right probabilities, and the same ones in every process."""

import io
import math
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random

import pytest
import sentencepiece
from hypothesis import example, given
from hypothesis import strategies as st

import dragoman
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.sampling import BPE, Unigram
from dragoman.tokenizers.sentencepiece import SentencePieceTokenizer
from dragoman.tokenizers.training import train_tokenizers

TEXT = "The old teacher remembers the house, the city and a dog ß that nobody draws."
DRAW = """
import sys
from pathlib import Path
from dragoman.tokenizers.sentencepiece import SentencePieceTokenizer
tokenizer = SentencePieceTokenizer.load(Path(sys.argv[1]))
print(tokenizer.sample([sys.argv[2]] * 50, seed=2, strength=0.3))
"""
DRAWS = 4000
MOST = 30.0  # a chi-square of 3 degrees of freedom exceeds it once in 700 000 times


@pytest.fixture(scope="module")
def bpe(
    corpus: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> SentencePieceTokenizer:
    config = TokenizerConfig(kind="bpe")
    pair = train_tokenizers(config, lambda: corpus, tmp_path_factory.mktemp("bpe"))
    assert isinstance(pair.source, SentencePieceTokenizer)
    return pair.source


def chi_square(drawn: "Counter[str]", expected: dict[str, float]) -> float:
    assert sum(expected.values()) == pytest.approx(1.0)
    assert drawn.keys() <= expected.keys()
    return sum(
        (drawn[cut] - DRAWS * share) ** 2 / (DRAWS * share) for cut, share in expected.items()
    )


def test_fresh_processes_draw_the_same_with_one_seed(
    subwords: SentencePieceTokenizer, tmp_path: Path
) -> None:
    model = tmp_path / "tokenizer.model"
    subwords.save(model)

    processes = [
        subprocess.run(
            [sys.executable, "-c", DRAW, str(model), TEXT],
            env={"PYTHONPATH": str(Path(dragoman.__file__ or "").parents[1])},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]

    here = subwords.sample([TEXT] * 50, seed=2, strength=0.3)
    assert processes == [f"{here}\n"] * 2
    assert len(set(map(tuple, here))) > 10


@given(text=st.text(st.characters() | st.sampled_from("the cat ▁dogsß")), seed=st.integers(0))
@example(text="▁\uffff▁ \u2581\u0301", seed=0)
@example(text="日本語のテキスト " * 30, seed=1)
@example(text="the <0x41> <s>", seed=0)  # which look like bytes and control pieces
def test_every_draw_is_the_same_text_without_special_ids(
    subwords: SentencePieceTokenizer, text: str, seed: int
) -> None:
    (drawn,) = subwords.sample([text], seed=seed, strength=0.3)

    assert subwords.decode(drawn) == subwords.decode(subwords.encode(text))
    assert not {0, 1, 2, 3} & set(drawn)


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_a_model_that_folds_case_draws_what_it_would_encode(
    kind: str, corpus: list[tuple[str, str]], tmp_path: Path
) -> None:
    config = TokenizerConfig(kind=kind, lowercase=True)  # type: ignore[arg-type]
    tokenizer = train_tokenizers(config, lambda: corpus, tmp_path).source

    (drawn,) = tokenizer.sample(["THE Cat Ä"], seed=3, strength=0.3)

    assert tokenizer.decode(drawn) == "the cat ä"


@given(text=st.text(st.characters() | st.sampled_from("the old teacher draws ▁ß")))
@example(text=TEXT)
def test_bpe_that_drops_nothing_makes_the_merges_of_sentencepiece(
    bpe: SentencePieceTokenizer, text: str
) -> None:
    assert bpe.sample([text], seed=1, strength=1e-12) == [bpe.encode(text)]


def test_bpe_that_drops_everything_leaves_characters(bpe: SentencePieceTokenizer) -> None:
    (drawn,) = bpe.sample(["the old cat"], seed=1, strength=1.0)

    assert bpe.pieces(drawn) == list("▁the▁old▁cat")


def test_unigram_with_a_large_exponent_takes_the_best(unigram_pair: TokenizerPair) -> None:
    tokenizer = unigram_pair.source
    texts = [TEXT, "Un'insegnante ricorda la città vecchia.", "</s> <unk>x▁y", "日本 cat", ""]

    assert tokenizer.sample(texts, seed=1, strength=1e5) == tokenizer.encode_batch(texts)


@pytest.mark.parametrize("strength", [0.5, 1.0])
def test_unigram_draws_with_the_powers_of_the_probabilities(strength: float) -> None:
    shares = {"a": 0.2, "b": 0.1, "ab": 0.04, "aa": 0.3, "ba": 0.2, "longer": 0.16}
    unigram = Unigram({piece: math.log(share) for piece, share in shares.items()})
    chance = Random(1)

    drawn = Counter("|".join(unigram.draw("aab", strength, chance)) for _ in range(DRAWS))

    # 0.2 * 0.2 * 0.1 = 0.004, 0.2 * 0.04 = 0.008 and 0.3 * 0.1 = 0.03
    powers = {"a|a|b": 0.004**strength, "a|ab": 0.008**strength, "aa|b": 0.03**strength}
    total = sum(powers.values())
    assert chi_square(drawn, {cut: power / total for cut, power in powers.items()}) < MOST


def test_an_unknown_character_stands_alone_unless_a_longer_piece_has_it() -> None:
    unigram = Unigram({"a": math.log(0.5), "a?": math.log(0.5) - 11.0})
    chance = Random(2)

    drawn = Counter("|".join(unigram.draw("a?", 1.0, chance)) for _ in range(DRAWS))

    # The worst piece has log 0.5 - 11, the unknown one 10 less, and "a" stands before it.
    alone = math.exp(-10.0) * 0.5
    assert chi_square(drawn, {"a|?": alone / (1 + alone), "a?": 1 / (1 + alone)}) < MOST


@pytest.mark.parametrize("drop", [0.1, 0.4])
def test_bpe_drops_merges_anew_at_each_step(drop: float) -> None:
    merges = BPE({"ab": 0.0, "cd": -1.0, "a": -2.0, "b": -3.0, "c": -4.0, "d": -5.0})
    chance = Random(3)

    drawn = Counter("|".join(merges.draw("abcd", drop, chance)) for _ in range(DRAWS))

    # "ab" is merged first, or it is dropped and "cd" is; then the other one, if it is not dropped.
    keep = 1 - drop
    expected = {
        "ab|cd": keep * keep + drop * keep * keep,
        "ab|c|d": keep * drop,
        "a|b|cd": drop * keep * drop,
        "a|b|c|d": drop * drop,
    }
    assert chi_square(drawn, expected) < MOST


def test_bpe_drops_overlapping_merges() -> None:
    merges = BPE({"ab": 0.0, "bc": -1.0, "abc": -2.0, "a": -3.0, "b": -4.0, "c": -5.0})
    chance = Random(4)

    drawn = Counter("|".join(merges.draw("abc", 0.3, chance)) for _ in range(DRAWS))

    expected = {
        "abc": 0.7 * 0.7 + 0.3 * 0.7 * 0.7,
        "ab|c": 0.7 * 0.3,
        "a|bc": 0.3 * 0.7 * 0.3,
        "a|b|c": 0.3 * 0.3,
    }
    assert chi_square(drawn, expected) < MOST


def test_pieces_of_several_words_are_drawn_too() -> None:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["in the end", "in the house", "in the city"] * 20),
        model_writer=model,
        model_type="bpe",
        vocab_size=300,
        hard_vocab_limit=False,
        split_by_whitespace=False,
        byte_fallback=True,
        pad_id=0,
        unk_id=1,
        bos_id=2,
        eos_id=3,
        minloglevel=2,
    )
    tokenizer = SentencePieceTokenizer(model.getvalue())

    (drawn,) = tokenizer.sample(["in the end"], seed=1, strength=0.1)

    assert any("▁" in piece[1:] for piece in tokenizer.pieces(drawn))
    assert tokenizer.decode(drawn) == "in the end"
