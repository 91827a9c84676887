"""What a plan knows of a text is what is in it."""

from dataclasses import replace
from pathlib import Path

import pytest

from dragoman.corpora.config import CorpusConfig
from dragoman.corpora.prepared_text import read_tsv
from dragoman.planning import text
from dragoman.planning.text import PlanError, TextMeasure, measure_text
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.training import train_tokenizers


def write(path: Path, pairs: list[tuple[str, str]]) -> CorpusConfig:
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs))
    return CorpusConfig(path=str(path))


def read_sample(measured: TextMeasure) -> list[tuple[str, str]]:
    return [pair for part in measured.sample for pair in read_tsv(Path(str(part.path)))]


def numbered(count: int) -> list[tuple[str, str]]:
    return [(f"the number {n} is here", f"il numero {n} è qui") for n in range(count)]


def test_pairs_are_counted_after_cleaning_over_all_corpora(tmp_path: Path) -> None:
    corpora = [
        write(tmp_path / "a.tsv", [*numbered(300), ("same", "same"), ("", "vuoto")]),
        write(tmp_path / "b.tsv", [("a word", "una parola")]),
    ]

    measured = measure_text(corpora, ("en", "it"), tmp_path)

    assert measured.pairs == 301
    assert len(read_sample(measured)) == 301
    pieces = train_tokenizers(
        TokenizerConfig(vocab_size=measured.vocab_size),
        lambda: read_sample(measured),
        tmp_path / "again",
    ).target
    targets = [target for _, target in read_sample(measured)]
    assert measured.target_tokens == sum(len(pieces.encode(target)) + 1 for target in targets)
    assert measured.epoch_tokens == measured.target_tokens
    assert measured.max_length == 32


def test_an_epoch_takes_each_corpus_as_often_as_it_weighs(tmp_path: Path) -> None:
    long = [(f"and now the number {n} is here", f"e ora il numero {n} è qui") for n in range(300)]
    often = replace(write(tmp_path / "often.tsv", numbered(100)), weight=3.0)
    lowered = write(tmp_path / "lowered.tsv", [("a", "a"), *long])
    seldom = replace(lowered, weight=0.5, truecase=True)

    together = measure_text([often, seldom], ("en", "it"), tmp_path)
    vocabulary = train_tokenizers(
        TokenizerConfig(vocab_size=together.vocab_size), lambda: read_sample(together), tmp_path
    )

    def count(pairs: list[tuple[str, str]]) -> int:
        return sum(len(vocabulary.target.encode(target)) + 1 for _, target in pairs)

    assert together.target_tokens == count(numbered(100)) + count(long)
    assert together.epoch_tokens == round(3 * count(numbered(100)) + count(long) / 2)
    assert [(part.weight, part.truecase) for part in together.sample] == [(3, False), (0.5, True)]
    assert [len(list(read_tsv(Path(str(part.path))))) for part in together.sample] == [100, 300]


def test_a_sample_without_the_text_that_has_case_restores_none(tmp_path: Path) -> None:
    nothing = write(tmp_path / "nothing.tsv", [("same", "same")])
    lowered = replace(write(tmp_path / "lowered.tsv", numbered(300)), truecase=True)

    measured = measure_text([nothing, lowered], ("en", "it"), tmp_path)

    assert [part.truecase for part in measured.sample] == [False]


def test_a_text_of_one_source_is_too_little_to_plan_for(tmp_path: Path) -> None:
    corpus = write(tmp_path / "a.tsv", [("a cat", "un gatto"), ("A cat.", "una gatta")])

    with pytest.raises(PlanError, match="1 source sentence after cleaning is too few to plan for"):
        measure_text([corpus], ("en", "it"), tmp_path)


def test_a_sample_stands_for_all_of_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text, "SAMPLE_PAIRS", 200)
    corpus = write(tmp_path / "a.tsv", numbered(2000))

    measured = measure_text([corpus], ("en", "it"), tmp_path)

    drawn = [int(source.split()[2]) for source, _ in read_sample(measured)]
    assert measured.pairs == 2000
    assert len(set(drawn)) == 200
    assert 800 < sum(drawn) / 200 < 1200  # from all over the text, not from its beginning
    monkeypatch.setattr(text, "SAMPLE_PAIRS", 2000)
    whole = measure_text([corpus], ("en", "it"), tmp_path)
    assert measured.target_tokens == pytest.approx(whole.target_tokens, rel=0.25)


def test_text_that_cleaning_empties_cannot_be_planned_for(tmp_path: Path) -> None:
    corpus = write(tmp_path / "a.tsv", [("same", "same")])

    with pytest.raises(PlanError, match="cleaning leaves no pair"):
        measure_text([corpus], ("en", "it"), tmp_path)


def test_a_pair_that_comes_twice_counts_once(tmp_path: Path) -> None:
    corpus = write(tmp_path / "a.tsv", numbered(300))

    assert measure_text([corpus, corpus], ("en", "it"), tmp_path).pairs == 300


def test_a_script_of_many_characters_gets_the_vocabulary_that_it_needs(tmp_path: Path) -> None:
    characters = [chr(0x4E00 + n) for n in range(2000)]
    pairs = [(f"word {n}", "".join(characters[2 * n : 2 * n + 2]) * 2) for n in range(1000)]
    corpus = write(tmp_path / "a.tsv", pairs)

    assert measure_text([corpus], ("en", "zh"), tmp_path).vocab_size > 2000


def test_pairs_that_are_too_long_are_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short, long = numbered(100), [(f"and {n} " * 90, f"e {n} " * 90) for n in range(20, 40)]
    alone = measure_text([write(tmp_path / "a.tsv", short)], ("en", "it"), tmp_path)
    monkeypatch.setattr(text, "LONGEST", 64)

    measured = measure_text([write(tmp_path / "b.tsv", [*short, *long])], ("en", "it"), tmp_path)

    assert measured.pairs == alone.pairs == 100
    assert measured.share_too_long == pytest.approx(20 / 120)
    assert measured.target_tokens < 100 * 15
    with pytest.raises(PlanError, match="every pair has more than 64 tokens"):
        measure_text([write(tmp_path / "c.tsv", long)], ("en", "it"), tmp_path)
