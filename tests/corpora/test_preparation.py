"""Text is prepared once, whole, and only for the settings and files it was prepared for."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tests.corpora.texts import preparation, written

from dragoman.corpora.clean_text import write_clean_text
from dragoman.corpora.config import CleaningConfig, CorporaConfig, CorpusConfig
from dragoman.corpora.fingerprint import fingerprint_files
from dragoman.corpora.held_out import choose
from dragoman.corpora.opus.provenance import Provenance, TextFile
from dragoman.corpora.overlap import OverlapError
from dragoman.corpora.preparation import PreparationError, TextPreparation
from dragoman.corpora.prepared_text import PreparedText
from dragoman.corpora.primer.corpus import generate
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


def interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def prepare(tmp_path: Path, said: list[str]) -> Prepare:
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
        more_validates: bool = True,
        replace_other: bool = True,
        max_length: int = 32,
        **settings: str,
    ) -> PreparedText:
        others = [replace(write("more", more), weight=2.0, hold_out=more_validates)] if more else []
        corpora = CorporaConfig(
            train=(write("train", train), *others),
            validation=(write("validation", validation),) if validation else (),
            test=(write("test", test),) if test else (),
            **settings,  # type: ignore[arg-type]
        )
        text = TextPreparation(
            tmp_path / "data",
            languages=("en", "it"),
            corpora=corpora,
            cleaning=CleaningConfig(),
            tokenizer=TokenizerConfig(kind="bpe", vocab_size=400),
            max_length=max_length,
        )
        return text.prepare(said.append, replace_other=replace_other)

    return call


def test_pairs_come_back_from_the_store_as_they_were_written(prepare: Prepare) -> None:
    text = prepare(sentences(100, 160), validation=sentences(200, 205))

    decoded = [
        f"{text.tokenizers.source.decode(text.store.sources[i].tolist())}\t"
        f"{text.tokenizers.target.decode(text.store.targets[i].tolist())}"
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

    summary = text.summary.corpora[0]
    assert summary.dropped == {"duplicate": 3, "empty": 1, "identical sides": 1}
    assert (summary.overlap, summary.kept, len(text.store)) == (1, 51, 51)
    assert summary.read == summary.kept + summary.overlap + sum(summary.dropped.values())


def test_what_a_spreadsheet_has_written_is_warned_of(
    prepare: Prepare, said: list[str], tmp_path: Path
) -> None:
    prepare(["source\ttarget", *sentences(100, 160)])

    assert (
        f"warning: {tmp_path}/train.tsv: line 1 (source, target) looks like a heading; remove it"
        in said
    )


def test_text_the_wrong_way_round_is_warned_of(
    prepare: Prepare, said: list[str], tmp_path: Path
) -> None:
    prepare([f"{pair.target}\t{pair.source}" for pair in generate(200, seed=1)])

    assert [line for line in said if line.startswith("warning: ")] == [
        f"warning: {tmp_path}/train.tsv: {side} and seems to be {other}"
        for side, other in (
            ("the source should be English (en)", "Italian (it)"),
            ("the target should be Italian (it)", "English (en)"),
        )
    ]


def test_duplicates_are_found_across_corpora(prepare: Prepare) -> None:
    text = prepare(sentences(100, 150), more=sentences(140, 160), validation=sentences(200, 205))

    assert [summary.kept for summary in text.summary.corpora] == [50, 10]
    assert [(corpus.start, corpus.stop, corpus.weight) for corpus in text.store.corpora] == [
        (0, 50, 1.0),
        (50, 60, 2.0),
    ]


def test_text_in_small_letters_gets_the_case_of_the_text_before_it(tmp_path: Path) -> None:
    cased, small, written = (tmp_path / f"{name}.tsv" for name in ("cased", "small", "written"))
    cased.write_text("".join(f"{n} cats in Rome.\tA Roma ci sono {n} gatti.\n" for n in NUMBERS))
    small.write_text("".join(f"{n} dogs in rome.\ta roma ci sono {n} cani.\n" for n in NUMBERS))
    corpora = (CorpusConfig(path=str(cased)), CorpusConfig(path=str(small), truecase=True))

    write_clean_text(
        written, CorporaConfig(train=corpora), CleaningConfig(), languages=("en", "it"), say=print
    )

    pairs = written.read_text().splitlines()
    assert pairs[0] == "one cats in Rome.\tA Roma ci sono one gatti."
    assert pairs[10] == "One dogs in Rome.\tA Roma ci sono one cani."


def test_case_is_learnt_from_text_before_and_only_for_training() -> None:
    plain, small = CorpusConfig(path="a.tsv"), CorpusConfig(path="b.tsv", truecase=True)

    with pytest.raises(ValueError, match=r"truecase = true of b: .* it is the first"):
        CorporaConfig(train=(small, plain))
    with pytest.raises(ValueError, match="truecase = true of b: that is for training text"):
        CorporaConfig(train=(plain,), test=(small,))


def test_evaluation_sentences_in_the_training_text_are_refused(prepare: Prepare) -> None:
    with pytest.raises(OverlapError, match=r"train\.tsv: 2 pairs .* \(lines 51, 52\)"):
        prepare([*sentences(100, 150), *sentences(300, 302)], test=sentences(300, 302))


@pytest.mark.parametrize(("first", "both"), [(200, 0), (198, 2)])
def test_test_sentences_that_validate_are_warned_of(
    first: int, both: int, prepare: Prepare, said: list[str]
) -> None:
    validation = [line.upper() for line in sentences(190, 200)]

    prepare(sentences(100, 150), validation=validation, test=sentences(first, 210))

    warnings = [line for line in said if line.startswith("warning: the validation text")]
    assert [f"has {both} sources of the test text" in line for line in warnings] == [True] * (
        both > 0
    )


def test_without_validation_text_some_of_the_training_text_is_held_out(
    prepare: Prepare, said: list[str]
) -> None:
    text = prepare(sentences(1000, 1999))

    held_out = {pair.source for pair in text.validation}
    learnt = {
        text.tokenizers.source.decode(text.store.sources[i].tolist())
        for i in range(len(text.store))
    }
    assert len(held_out) == 50
    assert len(held_out) + len(learnt) == 999
    assert not held_out & learnt
    assert text.summary.corpora[0].held_out == 50
    assert "no validation corpus is named: one sentence in 20 is held out for validation" in said


def test_text_that_may_not_validate_loses_copies_of_what_does(
    prepare: Prepare, said: list[str]
) -> None:
    others = [line.removesuffix(".") + "!" for line in sentences(1000, 1999)]
    text = prepare(sentences(1000, 1200), more=others, more_validates=False)

    validation = {f"{pair.source}\t{pair.target}" for pair in text.validation}
    assert validation <= set(sentences(1000, 1200))
    first, second = text.summary.corpora
    assert (first.held_out, second.held_out) == (len(validation), 0) == (10, 0)
    assert second.dropped == {"with a source that validates": 10}
    assert second.read == second.kept + 10
    assert len(text.store) == first.kept + second.kept
    assert "no validation corpus is named: one sentence in 20 is held out for validation" in said


def test_some_text_has_to_validate() -> None:
    machine = CorpusConfig(path="a.tsv", hold_out=False)

    with pytest.raises(ValueError, match="hold_out = false of all training corpora"):
        CorporaConfig(train=(machine,))
    with pytest.raises(ValueError, match="hold_out = false of a: that is for training text"):
        CorporaConfig(train=(CorpusConfig(path="b.tsv"),), validation=(machine,))


@pytest.mark.parametrize("count", [2, 3, 7])
def test_however_few_pairs_there_are_some_learn_and_one_validates(
    prepare: Prepare, count: int
) -> None:
    text = prepare(sentences(100, 100 + count))

    assert (len(text.validation), len(text.store)) == (1, count - 1)


@pytest.mark.parametrize("lines", [["one two\tuno due"], ["two\tdue", "Two!\tecco due"]])
def test_a_text_of_one_source_cannot_be_held_out(prepare: Prepare, lines: list[str]) -> None:
    with pytest.raises(CorpusError, match=r"too few pairs .* corpora\.validation"):
        prepare(lines)


def test_variants_of_a_sentence_are_held_out_together(prepare: Prepare) -> None:
    variants = [
        f"{source}\t{target}"
        for line in sentences(1000, 1200)
        for source, target in [line.split("\t")]
        for source in (source, source.removesuffix(".").upper())
    ]

    text = prepare(variants)

    held_out = [pair.source.removesuffix(".").lower() for pair in text.validation]
    assert len(held_out) == 20
    assert all(held_out.count(source) == 2 for source in held_out)


def test_a_source_that_comes_again_and_again_does_not_fill_the_validation_text() -> None:
    for word in sentences(1000, 1040):
        sources = [word] * 500 + sentences(1100, 1600)
        held_out = choose(iter(sources))
        assert held_out.sum() == 50
        assert not held_out[:500].any()


def test_where_all_sources_come_again_and_again_the_rarest_validates() -> None:
    assert choose(iter(["one", "two"] * 3 + ["six"] * 2 + ["one"])).tolist() == (
        [False] * 6 + [True] * 2 + [False]
    )


def test_held_out_pairs_are_counted_for_the_corpus_that_they_leave(prepare: Prepare) -> None:
    text = prepare(sentences(100, 150), more=sentences(200, 290))

    held_out = {pair.source for pair in text.validation}
    for summary, mine in zip(
        text.summary.corpora, (sentences(100, 150), sentences(200, 290)), strict=True
    ):
        assert summary.held_out == sum(line.split("\t")[0] in held_out for line in mine)
        assert summary.kept + summary.held_out == len(mine)


def test_pairs_with_too_many_tokens_are_counted_and_said(prepare: Prepare, said: list[str]) -> None:
    lengthy = " ".join(["one two three"] * 30) + "\t" + " ".join(["uno due tre"] * 30)

    text = prepare(
        [*sentences(100, 150), lengthy],
        validation=[*sentences(200, 205), lengthy + " x", "six\t "],
        overlap="allow",
    )

    (summary,) = text.summary.corpora
    assert summary.dropped == {"too many tokens": 1}
    assert (summary.read, summary.kept, len(text.store)) == (51, 50, 50)
    assert "train: 1 pair with more than 32 tokens on a side left out" in said
    assert (len(text.validation), len(text.validation_store)) == (6, 5)
    assert (text.summary.validation.too_long, text.summary.validation.blank) == (1, 1)
    assert "validation: 1 pair with more than 32 tokens on a side left out of the loss" in said
    assert "validation: 1 pair with a blank side left out" in said


def test_what_nobody_sees_is_not_learnt(prepare: Prepare, tmp_path: Path) -> None:
    """A text to translate is shown to the model without it, so it must learn from such text."""
    marked = tmp_path / "marked.tsv"
    marked.write_text("a\xadble\u200b\tta\xadvolo\n\u2060cats\tgat\u200eti\n", encoding="utf-8")
    corpora = CorporaConfig(train=(CorpusConfig(path=str(marked)),))
    write_clean_text(
        tmp_path / "clean.tsv", corpora, CleaningConfig(), languages=("en", "it"), say=print
    )
    assert (tmp_path / "clean.tsv").read_text() == "able\ttavolo\ncats\tgatti\n"

    text = prepare(sentences(100, 150), validation=["six ta\xadbles\tsei \u2060tavoli"])
    assert [pair[:2] for pair in text.validation] == [("six tables", "sei tavoli")]


def test_prepared_text_is_opened_not_made_again(prepare: Prepare, tmp_path: Path) -> None:
    prepare(sentences(100, 160), validation=sentences(200, 205))
    before = (tmp_path / "data" / "train" / "store.json").stat().st_mtime_ns

    prepare(sentences(100, 160), validation=sentences(200, 205))

    assert (tmp_path / "data" / "train" / "store.json").stat().st_mtime_ns == before


def test_other_text_is_refused_where_it_must_not_be_replaced(prepare: Prepare) -> None:
    prepare(sentences(100, 160), validation=sentences(200, 205))

    with pytest.raises(PreparationError, match=r"data/train: .*train\.tsv changed since"):
        prepare(sentences(100, 161), validation=sentences(200, 205), replace_other=False)


def test_other_text_is_prepared_again_where_nothing_depends_on_it(prepare: Prepare) -> None:
    prepare(sentences(100, 160), validation=sentences(200, 205))

    text = prepare(sentences(100, 161), validation=sentences(200, 205))

    assert len(text.store) == 61


def test_another_setting_prepares_the_text_again(prepare: Prepare) -> None:
    validation = sentences(200, 205)
    prepare(sentences(100, 160), validation=validation, test=sentences(100, 110), overlap="allow")

    text = prepare(
        sentences(100, 160), validation=validation, test=sentences(100, 110), overlap="drop"
    )

    assert len(text.store) == 50


@pytest.mark.parametrize(
    "name",
    [
        "summary.json",
        "validation.tsv",
        "tokenizer.model",
        "train/store.json",
        "validation/source.tokens",
    ],
)
@pytest.mark.parametrize("damage", ["torn", "gone"])
def test_what_is_missing_or_torn_is_made_again_as_it_was(
    prepare: Prepare, tmp_path: Path, name: str, damage: str
) -> None:
    before = prepare(sentences(100, 160), validation=sentences(200, 205))
    path = tmp_path / "data" / name
    whole = path.read_bytes()
    path.unlink()
    if damage == "torn":
        path.write_bytes(whole[: len(whole) // 2])

    after = prepare(sentences(100, 160), validation=sentences(200, 205), replace_other=False)

    assert path.read_bytes() == whole
    assert after.store.description == before.store.description


@pytest.mark.parametrize(
    ("name", "written", "damaged"),
    [
        # One letter of a piece, and one of a word: both files can still be read.
        ("tokenizer.model", b"due", b"dve"),
        ("validation.tsv", b"two", b"twn"),
    ],
)
def test_what_could_be_read_but_is_not_what_was_written_is_made_again(
    prepare: Prepare, tmp_path: Path, name: str, written: bytes, damaged: bytes
) -> None:
    before = prepare(sentences(100, 160), validation=sentences(200, 205))
    path = tmp_path / "data" / name
    whole = path.read_bytes()
    path.write_bytes(whole.replace(written, damaged, 1))
    assert path.read_bytes() != whole

    after = prepare(sentences(100, 160), validation=sentences(200, 205), replace_other=False)

    assert path.read_bytes() == whole
    assert after.validation == before.validation
    assert after.tokenizers.source.fingerprint == before.tokenizers.source.fingerprint


def test_a_summary_of_release_0_1_0_has_no_checksums_and_is_read(
    prepare: Prepare, tmp_path: Path, said: list[str]
) -> None:
    prepare(sentences(100, 160), validation=sentences(200, 205))
    summary = tmp_path / "data" / "summary.json"
    table = json.loads(summary.read_bytes())
    del table["written"]
    summary.write_text(json.dumps(table))
    said.clear()

    prepare(sentences(100, 160), validation=sentences(200, 205))

    assert said == []


def test_an_interrupted_preparation_is_not_taken_for_the_one_before(
    prepare: Prepare, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(sentences(100, 160), validation=sentences(200, 205))
    with monkeypatch.context() as patch:
        patch.setattr("dragoman.corpora.preparation.TokenStoreWriter", interrupt)
        with pytest.raises(KeyboardInterrupt):
            prepare(sentences(100, 260), validation=sentences(300, 305))

    text = prepare(sentences(100, 160), validation=sentences(200, 205))

    assert [pair.source for pair in text.validation] == [
        line.split("\t")[0] for line in sentences(200, 205)
    ]


def test_the_same_files_in_another_place_are_the_same_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare = preparation(tmp_path / "data", "$NUMBERS/train.tsv").prepare
    for place in ("here", "there"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "train.tsv").write_text("\n".join(sentences(100, 150)))

    monkeypatch.setenv("NUMBERS", str(tmp_path / "here"))
    prepare(print, replace_other=False)
    monkeypatch.setenv("NUMBERS", str(tmp_path / "there"))
    text = prepare(print, replace_other=False)

    assert set(text.summary.files) == {"$NUMBERS/train.tsv"}


@pytest.fixture(params=["downloaded", "saved"])
def prepare_directory(request: pytest.FixtureRequest, tmp_path: Path) -> Prepare:
    """Give a function that prepares the text of a directory, which stands in `corpus`."""
    write = write_downloaded if request.param == "downloaded" else write_saved
    write(tmp_path / "corpus", [line.split("\t") for line in sentences(100, 160)])

    def call() -> PreparedText:
        of_directory = preparation(tmp_path / "data", tmp_path / "corpus")
        return of_directory.prepare(print, replace_other=False)

    return call


def write_downloaded(directory: Path, pairs: list[list[str]]) -> None:
    directory.mkdir()
    for language, side in zip(("en", "it"), zip(*pairs, strict=True), strict=True):
        (directory / f"Books.{language}").write_text("\n".join(side))
    files = [TextFile(language=code, name=f"Books.{code}", sha256="") for code in ("en", "it")]
    Provenance(
        name="Books",
        version="v1",
        pairs=len(pairs),
        url="",
        bytes=0,
        sha256="",
        date=date(2026, 1, 2),
        files=tuple(files),
    ).save(directory)


def write_saved(directory: Path, pairs: list[list[str]]) -> None:
    datasets = pytest.importorskip("datasets")
    sources, targets = zip(*pairs, strict=True)
    datasets.Dataset.from_dict({"en": sources, "it": targets}).save_to_disk(directory)


def test_what_lies_beside_the_text_in_its_directory_is_not_text(
    prepare_directory: Prepare, tmp_path: Path
) -> None:
    prepare_directory()
    (tmp_path / "corpus" / "notes.txt").touch()

    prepare_directory()


def test_every_file_of_the_text_in_a_directory_is_compared(
    prepare_directory: Prepare, tmp_path: Path
) -> None:
    files = prepare_directory().summary.files

    assert len(files) == 3
    for name in files:
        path = Path(name)
        before = path.read_bytes()
        path.write_bytes(before + b"\n")
        with pytest.raises(PreparationError, match=rf"\({re.escape(name)} changed since\)"):
            prepare_directory()
        path.unlink()
        with pytest.raises(CorpusError, match="/corpus"):
            prepare_directory()
        path.write_bytes(before)


def test_text_for_which_release_0_1_0_recorded_what_lay_beside_it_is_opened(
    prepare_directory: Prepare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = {str(tmp_path / "corpus" / "notes.txt"): "0" * 64}
    with monkeypatch.context() as patch:
        patch.setattr(
            "dragoman.corpora.preparation.fingerprint_files",
            lambda corpora: fingerprint_files(corpora) | notes,
        )
        before = prepare_directory()
    (tmp_path / "data" / "validation.tsv").unlink()

    after = prepare_directory()

    assert after.store.description == before.store.description
    assert after.summary == before.summary


def test_nothing_left_after_cleaning_is_an_error(prepare: Prepare) -> None:
    with pytest.raises(CorpusError, match="cleaning leaves no training pair"):
        prepare(["same\tsame"], validation=sentences(200, 205))


def test_nothing_left_but_evaluation_sentences_is_told_as_that(prepare: Prepare) -> None:
    with pytest.raises(CorpusError, match="has a sentence of the validation or test text"):
        prepare(sentences(200, 203), validation=sentences(200, 205), overlap="drop")


@pytest.mark.parametrize("side", ["train", "validation"])
def test_text_of_which_nothing_fits_is_an_error(prepare: Prepare, side: str) -> None:
    long = [f"{'one ' * 40}{n}\t{'uno ' * 40}{n}" for n in range(50)]
    texts = {"train": sentences(0, 50), "validation": sentences(50, 60), side: long}

    with pytest.raises(CorpusError, match=rf"^{side}: every pair .* more than 32 tokens"):
        prepare(texts["train"], validation=texts["validation"])


@pytest.mark.parametrize(
    "changes",
    [
        {"max_length": 31},
        {"languages": ("en", "es")},
        {"cleaning": CleaningConfig(max_words=99)},
        {"tokenizer": TokenizerConfig(kind="words", min_frequency=2)},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_text_that_was_prepared_with_another_setting_is_refused(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    train = written(tmp_path / "train.tsv", "\n".join(sentences(100, 160)))
    before = preparation(tmp_path / "data", train)
    before.prepare(print, replace_other=False)
    before.prepare(print, replace_other=False)

    with pytest.raises(PreparationError, match=r"\(a setting changed since\)"):
        replace(before, **changes).prepare(print, replace_other=False)


def test_the_sizes_of_two_vocabularies_are_said_in_the_order_of_the_languages(
    tmp_path: Path, said: list[str]
) -> None:
    lines = [f"{line}\tuno" for line, _ in (each.split("\t") for each in sentences(100, 160))]
    with_two_vocabularies = preparation(
        tmp_path / "data",
        written(tmp_path / "train.tsv", "\n".join(lines)),
        cleaning=CleaningConfig(max_length_ratio=99.0),
        tokenizer=TokenizerConfig(kind="words", min_frequency=1, joint=False),
    )

    text = with_two_vocabularies.prepare(said.append, replace_other=False)

    source, target = text.tokenizers.source.vocab_size, text.tokenizers.target.vocab_size
    assert source > target
    assert f"encoding, {source} and {target} vocabulary entries" in said


def test_validation_text_of_release_0_1_0_that_is_cut_short_is_made_again(
    prepare: Prepare, tmp_path: Path
) -> None:
    prepare(sentences(100, 160), validation=sentences(200, 205))
    summary, validation = (tmp_path / "data" / name for name in ("summary.json", "validation.tsv"))
    table = json.loads(summary.read_bytes())
    del table["written"]
    summary.write_text(json.dumps(table))
    validation.write_text("".join(validation.read_text().splitlines(keepends=True)[:3]))

    text = prepare(sentences(100, 160), validation=sentences(200, 205), replace_other=False)

    assert len(text.validation) == 5
