"""A student learns what its teacher says, once, and whatever interrupts it."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file
from tests.pipeline.conftest import Listener, sentences, write_lines

from dragoman import Translator
from dragoman.corpora.config import CorpusConfig
from dragoman.corpora.overlap import OverlapError
from dragoman.corpora.text_file import CorpusError
from dragoman.decoding.config import SearchConfig
from dragoman.distillation.run import Distillation, DistillationError, distil
from dragoman.errors import UsageError
from dragoman.model_directory import ModelDirectory, save_model
from dragoman.pipeline.run import train_model
from dragoman.pipeline.run_directory import RunError
from dragoman.recipe import read_recipe
from dragoman.training.display import Display

from .conftest import Counting

pytestmark = pytest.mark.slow

SMALL = ("model.d_model=16", "model.d_ff=24", "model.num_heads=2", "model.num_encoder_layers=2")

Distil = Callable[..., tuple[int | None, Counting, list[str]]]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.fixture
def teacher(teacher: Path, tmp_path: Path) -> Path:
    """Give each test a copy, which it may change."""
    return shutil.copytree(teacher, tmp_path / "copy of the teacher")


@pytest.fixture
def start(teacher: Path, tmp_path: Path, run: Path) -> Distil:
    """Give a function that distils, and tells what it returned, translated and said."""

    def call(
        lines: list[str] | None,
        *more: str,
        dies_after: int | None = None,
        directory: Path = run,
        counting: Counting | None = None,
        n_best: int = 1,
    ) -> tuple[int | None, Counting, list[str]]:
        pairs = tmp_path / "pairs.tsv"
        if lines is None:
            pairs.unlink(missing_ok=True)
        else:
            write_lines(pairs, lines)
        order = Distillation(
            teacher=teacher,
            corpora=(CorpusConfig(path=str(pairs)),),
            student="tiny-6-1",
            directory=directory,
            n_best=n_best,
            assignments=(*SMALL, "training.updates=4", "training.validate_every=2", *more),
        )
        counting = counting or Counting(dies_after=dies_after)
        display = Listener()
        return distil(order, counting, lambda progress: None, display), counting, display.messages

    return call


def translate_only(start: Distil, lines: list[str]) -> None:
    """Start, and interrupt when all is translated and nothing is taught yet."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("dragoman.distillation.run.write_pairs", interrupt)
        with pytest.raises(KeyboardInterrupt):
            start(lines)


def taught(run: Path) -> list[str]:
    return (run / "distillation" / "distilled.tsv").read_text(encoding="utf-8").splitlines()


def weights(run: Path) -> dict[str, bytes]:
    return {name: tensor.tobytes() for name, tensor in load_file(run / "model.safetensors").items()}


def test_the_student_is_taught_what_the_teacher_says_but_for_its_faults(
    start: Distil, teacher: Path, run: Path
) -> None:
    sources = [line.partition("\t")[0] for line in sentences(100, 140)]
    translations = list(Translator(teacher).translate(sources))
    good = [t for t in translations if t.finished and not t.faults]

    assert start(sentences(100, 140))[0] is None

    assert taught(run) == [f"{each.source}\t{each.text}" for each in good]
    assert len(good) > 10
    references = {line.partition("\t")[2] for line in sentences(100, 140)}
    assert any(each.text not in references for each in good), "the teacher should err, to tell"


def test_a_student_is_taught_several_translations_of_each_sentence(
    start: Distil, teacher: Path, run: Path
) -> None:
    """More of them than the beam of the teacher's recipe finds."""
    search = SearchConfig(beam_size=3, n_best=3, max_length_extra=3)
    sources = [line.partition("\t")[0] for line in sentences(100, 140)]
    good = [
        f"{t.source}\t{each.text}"
        for t in Translator(teacher, search=search).translate(sources)
        for each in t.alternatives
        if each.finished and not each.faults
    ]

    start(sentences(100, 140), n_best=3)

    assert taught(run) == good
    assert len(good) > 60


def test_with_another_search_or_teacher_it_is_another_distillation(
    start: Distil, teacher: Path
) -> None:
    """Once the student has weights, its recipe, which has that search, would tell as well."""
    translate_only(start, sentences(100, 140))

    with pytest.raises(DistillationError, match=r"\(n_best changed since\)"):
        start(sentences(100, 140), n_best=2)

    directory = ModelDirectory(teacher)
    longer_trained = {
        name: 1.01 * weight for name, weight in directory.load_transformer().named_parameters()
    }
    save_model(teacher, directory.description, directory.load_tokenizers(), longer_trained)
    with pytest.raises(DistillationError, match=r"\(teacher changed since\)"):
        start(sentences(100, 140))

    description = teacher / "model.toml"
    text = description.read_text(encoding="utf-8")
    assert "length_penalty = 0.6" in text
    description.write_text(text.replace("length_penalty = 0.6", "length_penalty = 1.0"))

    with pytest.raises(DistillationError, match=r"\(teacher and length_penalty changed since\)"):
        start(sentences(100, 140))


def test_a_corpus_of_the_teacher_is_seen_as_often_as_by_the_teacher(
    teacher: Path, text: dict[str, str], tmp_path: Path, run: Path
) -> None:
    """The recipe of the teacher of this test gives its text a weight of 3."""
    heavy = tmp_path / "teacher"
    shutil.copytree(teacher, heavy)
    description = heavy / "model.toml"
    before = description.read_text(encoding="utf-8")
    once = rf'(path = "{re.escape(text["train"])}",?\s+weight = )1\.0'
    thrice, count = re.subn(once, r"\g<1>3.0", before)
    assert count == 1
    description.write_text(thrice, encoding="utf-8")
    other = write_lines(tmp_path / "other.tsv", sentences(260, 290))
    order = Distillation(
        teacher=heavy,
        corpora=(CorpusConfig(path=other), CorpusConfig(path=text["train"])),
        student="tiny-6-1",
        directory=run,
        assignments=(*SMALL, "training.updates=4", "training.validate_every=2"),
    )

    distil(order, Counting(), lambda progress: None, Display())

    first, second = ModelDirectory(run).description.training["corpora"]
    assert (first["weight"], first["read"]) == (1.0, 30)
    assert (second["weight"], second["read"]) == (3.0, 150)
    pairs = (run / "distillation" / "distilled-1.tsv").read_text(encoding="utf-8")
    assert [line.partition("\t")[0] for line in pairs.splitlines()] == [
        line.partition("\t")[0] for line in sentences(260, 290)
    ]


def test_a_student_begins_with_the_layers_of_its_teacher(
    start: Distil, teacher: Path, run: Path
) -> None:
    still = ("training.updates=1", "training.warmup_updates=0", "training.learning_rate=1e-12")
    start(sentences(100, 140), *still)

    student, other = (load_file(path / "model.safetensors") for path in (run, teacher))
    one_of_each = [
        name.replace("encoder.blocks.1.", "encoder.blocks.0.").replace(
            "decoder.blocks.0.", "decoder.blocks.1."
        )
        for name in student
    ]
    for name, counterpart in zip(student, one_of_each, strict=True):
        np.testing.assert_allclose(student[name], other[counterpart], rtol=1e-5, atol=1e-7)
    assert {name for name in one_of_each if "blocks" in name} == {
        name for name in other if "decoder.blocks.0." not in name and "blocks" in name
    }
    assert "It began with the weights of" in (run / "README.md").read_text(encoding="utf-8")


def test_several_processes_do_not_translate_for_one_student(
    start: Distil, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "none")
    monkeypatch.setenv("WORLD_SIZE", "2")

    advice = (
        r"torchrun --nproc-per-node 2 -m dragoman train '.*/my run/recipe\.toml' -o '.*/my run'$"
    )
    with pytest.raises(UsageError, match=advice):
        start(sentences(100, 140), directory=run.with_name("my run"))
    assert not run.with_name("my run").exists()


def test_a_full_disk_is_that_of_the_run(start: Distil, run: Path) -> None:
    folder = run / "distillation"
    folder.mkdir(parents=True)
    (folder / "sources.txt.new.pairs").symlink_to("/dev/full")

    with pytest.raises(RunError, match=r"/run: cannot be written: No space left .* command again"):
        start(sentences(100, 140))


def test_a_source_with_several_translations_is_translated_once(start: Distil, run: Path) -> None:
    lines = sentences(100, 140)
    again = [f"{line} {line.rpartition(' ')[2]}" for line in lines[:3]]  # otherwise translated

    _, counting, messages = start([*lines, *again])
    _, all_of_them, _ = start(
        [*lines, *again], "cleaning.drop_duplicates=false", directory=run.with_name("all")
    )

    assert (counting.lines, all_of_them.lines) == (40, 43)
    assert "3 repeated sources left out" in messages


def test_text_without_translations_is_taught_too(
    teacher: Path, text: dict[str, str], tmp_path: Path, run: Path
) -> None:
    sources = [line.partition("\t")[0] for line in sentences(500, 540)]
    alone = tmp_path / "alone.txt"
    write_lines(alone, [*sources, "four zero zero"])  # the last is a sentence of the test text
    order = Distillation(
        teacher=teacher,
        corpora=(CorpusConfig(path=text["train"]),),
        monolingual=(alone,),
        student="tiny-6-1",
        directory=run,
        assignments=(
            *SMALL,
            "training.updates=4",
            "training.validate_every=2",
            "corpora.overlap=drop",
        ),
    )
    display = Listener()

    distil(order, Counting(), lambda progress: None, display)

    good = [t for t in Translator(teacher).translate(sources) if t.finished and not t.faults]
    pairs = (run / "distillation" / "distilled-2.tsv").read_text(encoding="utf-8")
    assert pairs.splitlines() == [f"{each.source}\t{each.text}" for each in good]
    assert len(good) > 10
    assert f"{alone}: 41 sentences read, 40 kept (1 evaluation sentence left out)" in (
        display.messages
    )
    first, second = ModelDirectory(run).description.training["corpora"]
    assert (first["weight"], second["weight"], second["read"]) == (1.0, 1.0, len(good))


def test_text_without_translations_that_gives_away_the_test_is_refused(
    teacher: Path, tmp_path: Path, run: Path
) -> None:
    alone = tmp_path / "alone.txt"
    write_lines(alone, ["one two", "four zero zero"])
    order = Distillation(
        teacher=teacher, monolingual=(alone,), student="tiny-6-1", directory=run, assignments=SMALL
    )

    with pytest.raises(OverlapError, match=r"alone\.txt: 1 pair .* \(line 2\)"):
        distil(order, Counting(), lambda progress: None, Display())


def test_the_student_has_the_vocabulary_of_its_teacher_and_learns_its_pairs(
    start: Distil, teacher: Path, run: Path
) -> None:
    start(sentences(100, 140))

    student, other = ModelDirectory(run).description, ModelDirectory(teacher).description
    assert student.tokenizer == other.tokenizer
    assert (student.model.num_encoder_layers, student.model.num_decoder_layers) == (2, 1)
    (corpus,) = student.training["corpora"]
    assert (corpus["name"], corpus["read"]) == ("distilled", len(taught(run)))
    assert list(student.training["scores"]) == ["test"]
    validation = (run / "data" / "validation.tsv").read_text(encoding="utf-8")
    assert validation.splitlines() == sentences(300, 307)


def test_the_recipe_that_is_written_trains_the_same_student(
    start: Distil, run: Path, tmp_path: Path
) -> None:
    start(sentences(100, 140))

    train_model(read_recipe(run / "recipe.toml").recipe, tmp_path / "again", Display())

    assert weights(tmp_path / "again") == weights(run)


def test_what_was_translated_before_an_interruption_is_not_translated_again(
    start: Distil, run: Path
) -> None:
    lines = sentences(1000, 3100)  # two blocks
    first = Counting(dies_after=1)
    with pytest.raises(KeyboardInterrupt):
        start(lines, counting=first)

    _, second, _ = start(lines)

    assert (first.lines, second.lines) == (2048, 2100 - 2048)
    records = (run / "distillation" / "translations.jsonl").read_text(encoding="utf-8")
    sources = [json.loads(record)["source"] for record in records.splitlines()]
    assert sources == [line.partition("\t")[0] for line in lines]


def test_a_finished_translation_is_not_made_again(start: Distil, run: Path) -> None:
    translate_only(start, sentences(100, 140))
    origin = run / "distillation" / "origin.json"
    recorded = json.loads(origin.read_bytes())
    del recorded["patience"]  # as if it were a newer setting
    origin.write_text(json.dumps(recorded))

    _, counting, _ = start(sentences(100, 140))

    assert counting.lines == 0
    assert (run / "finished").exists()

    *_, messages = start(None)

    assert messages == [f"{run}: this run is finished; nothing is left to do"]
    (run / "finished").unlink()
    with pytest.raises(CorpusError, match=r"pairs\.tsv: there is no such file"):
        start(None)


def test_translations_of_another_text_are_not_taught(start: Distil, run: Path) -> None:
    start(sentences(100, 140))
    before = sorted((path.name, path.read_bytes()) for path in (run / "distillation").iterdir())

    with pytest.raises(DistillationError, match="sources changed since"):
        start(sentences(100, 141))

    after = sorted((path.name, path.read_bytes()) for path in (run / "distillation").iterdir())
    assert after == before


@pytest.mark.parametrize("damage", ["", "[]", "{}", '{"sources": "0"}', "[" * 100_000])
def test_translations_of_what_cannot_be_told_are_not_taught(
    start: Distil, run: Path, damage: str
) -> None:
    (run / "distillation").mkdir(parents=True)
    (run / "distillation" / "origin.json").write_text(damage)
    (run / "distillation" / "translations.jsonl").touch()

    with pytest.raises(
        DistillationError, match=r"origin\.json: it is missing or damaged .* to begin anew"
    ):
        start(sentences(100, 140))


def test_the_directory_of_another_run_is_refused_before_anything_is_translated(
    start: Distil, teacher: Path
) -> None:
    before = weights(teacher)
    counting = Counting()

    with pytest.raises(RunError, match="it holds the run of another recipe"):
        start(sentences(100, 140), directory=teacher, counting=counting)

    assert counting.lines == 0
    assert weights(teacher) == before
    assert not (teacher / "distillation").exists()


def test_sentences_of_the_test_text_are_refused_before_anything_is_translated(
    start: Distil, run: Path
) -> None:
    counting = Counting()

    with pytest.raises(OverlapError, match="5 pairs of the training text would give away"):
        start(sentences(400, 440), counting=counting)

    assert counting.lines == 0
    assert not any((run / "distillation").iterdir())


def test_what_is_left_out_is_told(start: Distil, run: Path) -> None:
    long = "\t".join([" ".join(["one"] * 13), " ".join(["uno"] * 13)])

    _, counting, said = start([*sentences(100, 120), long, "one two\t"])

    assert "pairs: 22 pairs read, 21 kept (1 empty)" in said
    assert "1 source with more than 12 tokens left out" in said
    summary = json.loads((run / "distillation" / "summary.json").read_bytes())
    assert counting.lines == 20 == summary["kept"] + sum(summary["left_out"].values())
    (account,) = (text for text in said if "translations to learn from" in text)
    assert account.startswith(
        f"{summary['kept']} translations to learn from, {20 - summary['kept']} left out"
    )
