"""Text is prepared once, whole, and only for the settings and files it was prepared for."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dragoman.corpora.config import CleaningConfig, CorporaConfig, CorpusConfig
from dragoman.corpora.overlap import OverlapError
from dragoman.corpora.preparation import PreparedText, TextPreparation
from dragoman.corpora.store_description import TokenStoreError
from dragoman.corpora.text_file import CorpusError
from dragoman.tokenizers.config import TokenizerConfig

NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
NUMERI = ["uno", "due", "tre", "quattro", "cinque", "sei", "sette", "otto", "nove", "dieci"]

Prepare = Callable[..., PreparedText]


def sentences(first: int, last: int) -> list[str]:
    """Write numbers out, digit by digit, in English and Italian."""
    return [
        f"{' '.join(NUMBERS[int(d)] for d in str(n))}.\t{' '.join(NUMERI[int(d)] for d in str(n))}."
        for n in range(first, last)
    ]


@pytest.fixture
def prepare(tmp_path: Path) -> Prepare:
    def write(name: str, lines: list[str]) -> CorpusConfig:
        path = tmp_path / f"{name}.tsv"
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return CorpusConfig(path=str(path))

    def call(
        train: list[str],
        *,
        validation: list[str] | None = None,
        test: list[str] | None = None,
        more: list[str] | None = None,
        **settings: str,
    ) -> PreparedText:
        corpora = CorporaConfig(
            train=(
                write("train", train),
                *([replace(write("more", more), weight=2.0)] if more else []),
            ),
            validation=(write("validation", validation),) if validation else (),
            test=(write("test", test),) if test else (),
            **settings,  # type: ignore[arg-type]
        )
        preparation = TextPreparation(
            tmp_path / "data",
            languages=("en", "it"),
            corpora=corpora,
            cleaning=CleaningConfig(),
            tokenizer=TokenizerConfig(kind="bpe", vocab_size=400),
            max_length=32,
        )
        return preparation.prepare(lambda message: None)

    return call


def test_pairs_come_back_from_the_store_as_they_were_written(prepare: Prepare) -> None:
    text = prepare(sentences(100, 160), validation=sentences(200, 205))

    decoded = [
        f"{text.tokenizers.source.decode(text.store.source(i).tolist())}\t"
        f"{text.tokenizers.target.decode(text.store.target(i).tolist())}"
        for i in range(len(text.store))
    ]
    assert decoded == sentences(100, 160)
    assert len(text.validation_store) == len(text.validation) == 5


def test_what_is_read_is_kept_or_counted(prepare: Prepare) -> None:
    lines = [
        *sentences(100, 150),
        *sentences(100, 103),
        "\tvuoto.",
        "same\tsame",
        *sentences(300, 302),
    ]

    text = prepare(lines, validation=sentences(200, 205), test=sentences(300, 301), overlap="drop")

    summary = text.summaries[0]
    assert summary.dropped == {"duplicate": 3, "empty": 1, "identical sides": 1}
    assert (summary.overlap, summary.kept, len(text.store)) == (1, 51, 51)
    assert summary.read == summary.kept + summary.overlap + sum(summary.dropped.values())


def test_duplicates_are_found_across_corpora(prepare: Prepare) -> None:
    text = prepare(sentences(100, 150), more=sentences(140, 160), validation=sentences(200, 205))

    assert [summary.kept for summary in text.summaries] == [50, 10]
    assert [(corpus.start, corpus.stop, corpus.weight) for corpus in text.store.corpora] == [
        (0, 50, 1.0),
        (50, 60, 2.0),
    ]


def test_evaluation_sentences_in_the_training_text_are_refused(prepare: Prepare) -> None:
    with pytest.raises(OverlapError, match=r"train: 2 pairs .* \(lines 51, 52\)"):
        prepare([*sentences(100, 150), *sentences(300, 302)], test=sentences(300, 302))


def test_without_validation_text_some_of_the_training_text_is_held_out(prepare: Prepare) -> None:
    text = prepare(sentences(1000, 2000))

    held_out = {pair.source for pair in text.validation}
    learnt = {
        text.tokenizers.source.decode(text.store.source(i).tolist()) for i in range(len(text.store))
    }
    assert 25 <= len(held_out) <= 75
    assert len(held_out) + len(learnt) == 1000
    assert not held_out & learnt
    assert text.summaries[0].held_out == len(held_out)


def test_prepared_text_is_opened_not_made_again(prepare: Prepare, tmp_path: Path) -> None:
    prepare(sentences(100, 160), validation=sentences(200, 205))
    before = (tmp_path / "data" / "train" / "store.json").stat().st_mtime_ns

    prepare(sentences(100, 160), validation=sentences(200, 205))

    assert (tmp_path / "data" / "train" / "store.json").stat().st_mtime_ns == before


def test_other_text_than_was_prepared_is_refused(prepare: Prepare) -> None:
    prepare(sentences(100, 160), validation=sentences(200, 205))

    with pytest.raises(TokenStoreError):
        prepare(sentences(100, 161), validation=sentences(200, 205))


def test_nothing_left_after_cleaning_is_an_error(prepare: Prepare) -> None:
    with pytest.raises(CorpusError, match="cleaning leaves no training pair"):
        prepare(["same\tsame"], validation=sentences(200, 205))
