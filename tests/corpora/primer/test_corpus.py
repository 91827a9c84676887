import os
import subprocess
import sys
from itertools import pairwise
from random import Random

import pytest

from dragoman.corpora.primer import corpus, grammar
from dragoman.corpora.primer.corpus import AlignedPair, PrimerError, generate
from dragoman.corpora.primer.derivation import Derivation, Sentence
from dragoman.corpora.primer.grammar import derive
from dragoman.corpora.primer.spelling import spell, words
from dragoman.corpora.primer.splits import Split, split_of_combination, split_of_sentence
from dragoman.corpora.primer.tables import phrasebook

SPLITS: tuple[Split, ...] = ("train", "validation", "test")


@pytest.fixture(scope="module")
def train() -> list[AlignedPair]:
    return list(generate(30_000, seed=1))


@pytest.fixture(scope="module")
def test() -> list[AlignedPair]:
    return list(generate(500, seed=2, split="test"))


def test_sources_are_distinct(train: list[AlignedPair]) -> None:
    assert len({pair.source for pair in train}) == 30_000


def test_a_source_has_one_translation_whatever_the_seed(train: list[AlignedPair]) -> None:
    known = {pair.source: pair.target for pair in train}
    other = list(generate(20_000, seed=3))
    shared = [pair for pair in other if pair.source in known]
    assert len(shared) > 500
    assert all(known[pair.source] == pair.target for pair in shared)


def test_training_starts_with_the_phrasebook(train: list[AlignedPair]) -> None:
    book = phrasebook()
    assert [(pair.source, pair.target) for pair in train[: len(book)]] == list(book)
    assert all(pair.alignment == () for pair in train[: len(book)])


def test_the_same_seed_gives_the_same_pairs_in_another_process() -> None:
    program = (
        "from dragoman.corpora.primer.corpus import generate\n"
        "for pair in generate(300, seed=4, split='test'): print(pair)"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={
                **os.environ,
                "PYTHONHASHSEED": hash_seed,
                "PYTHONPATH": os.pathsep.join(sys.path),
            },
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert outputs.pop().count("\n") == 300


def test_another_seed_gives_other_pairs() -> None:
    first, second = (list(generate(50, seed=seed, split="test")) for seed in (1, 2))
    assert first != second


def test_splits_are_disjoint_across_seeds(
    train: list[AlignedPair], test: list[AlignedPair]
) -> None:
    validation = {pair.source for pair in generate(500, seed=1, split="validation")}
    trained = {pair.source for pair in train}
    tested = {pair.source for pair in test}
    assert not trained & tested
    assert not trained & validation
    assert not tested & validation


def test_a_sentence_belongs_to_the_split_of_its_held_out_combination() -> None:
    random, seen = Random(5), set()
    for _ in range(20_000):
        _, combinations = derive(random)
        splits = {split_of_combination(one) for one in combinations} - {"train"}
        expected = None if len(splits) == 2 else next(iter(splits), "train")
        assert split_of_sentence(combinations) == expected
        seen.add(expected)
    assert seen == {"train", "validation", "test", None}


def test_a_small_part_of_the_combinations_is_held_out() -> None:
    drawn = [split_of_combination(f"verb-object: {i} + {i * i}") for i in range(5_000)]
    assert 0.03 < drawn.count("test") / 5_000 < 0.05
    assert 0.03 < drawn.count("validation") / 5_000 < 0.05


def test_every_lexeme_of_the_test_set_occurs_in_training() -> None:
    random = Random(7)
    lexemes: dict[Split | None, set[str]] = {"train": set(), "test": set()}
    for _ in range(15_000):
        _, combinations = derive(random)
        parts = {part for one in combinations for part in one.split(": ")[1].split(" + ")}
        lexemes.setdefault(split_of_sentence(combinations), set()).update(parts)
    assert len(lexemes["test"]) > 200
    assert not lexemes["test"] - lexemes["train"]


def test_hardly_any_word_form_of_the_test_set_is_new(
    train: list[AlignedPair], test: list[AlignedPair]
) -> None:
    trained = {word for pair in train for word in words(pair.target.lower())}
    tested = [word for pair in test for word in words(pair.target.lower())]
    assert sum(word not in trained for word in tested) < 0.01 * len(tested)


def test_alignments_link_existing_words_and_leave_no_word_alone(
    test: list[AlignedPair],
) -> None:
    for pair in test:
        source, target = words(pair.source), words(pair.target)
        assert {i for i, _ in pair.alignment} == set(range(len(source))), pair
        assert {j for _, j in pair.alignment} == set(range(len(target))), pair


def test_texts_are_well_formed(train: list[AlignedPair]) -> None:
    for pair in train[len(phrasebook()) :]:
        for text in (pair.source, pair.target):
            assert text[0].isupper()
            assert text[-1] in ".?!"
            assert "  " not in text
            assert " ," not in text
            assert "' " not in text
            assert text == text.strip()
        assert pair.source[-1] == pair.target[-1]
        assert 2 <= len(words(pair.source)) <= 18


def test_articles_fit_the_next_word(train: list[AlignedPair]) -> None:
    exceptions = ("uni", "use", "hon")
    for pair in train[len(phrasebook()) :]:
        tokens = words(pair.source.lower())
        for article, word in pairwise(tokens):
            if article in ("a", "an") and not word.startswith(exceptions):
                assert (article == "an") == (word[0] in "aeiou"), pair.source


@pytest.mark.parametrize("construction", list(grammar.CONSTRUCTIONS), ids=lambda f: f.__name__)
def test_every_construction_gives_aligned_sentences(construction: grammar.Construction) -> None:
    random = Random(6)
    for _ in range(30):
        source, target, alignment = spell(construction(Derivation(random)))
        assert len(alignment) >= 2
        assert source
        assert target


def test_asking_for_more_than_there_is_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "_PATIENCE", 10)
    monkeypatch.setattr(
        corpus, "derive", lambda random: (Sentence((("hi", 1),), (("ciao", 1),)), [])
    )
    everything = len(phrasebook()) + 1
    assert len(list(generate(everything, seed=1))) == everything
    with pytest.raises(PrimerError, match=f"ask for {everything} or fewer"):
        list(generate(everything + 1, seed=1))
