"""What is translated of files is kept, and whole at the end."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from dragoman.bulk.file_format import BulkError
from dragoman.bulk.files import Progress, in_this_process, rejections_path, translate_files
from dragoman.bulk.form import Form
from dragoman.bulk.job import Job, TranslatorSettings
from dragoman.bulk.partial_output import KeptParts
from dragoman.bulk.plain_text import PlainText
from dragoman.bulk.unchanged import Unchanged
from dragoman.cli import main
from dragoman.decoding.config import SearchConfig
from dragoman.engines.protocol import EngineKind
from dragoman.model_directory import ModelError
from dragoman.translation import Translation
from dragoman.translator import Translator

from .conftest import LINES, Start, blocks_in, environment, held_after, result_of


def run(job: Job) -> int:
    return translate_files(job, in_this_process, lambda progress: None)


def expected(job: Job) -> str:
    return "\n".join(job.translator.load()(LINES))


def stop_after(job: Job, num_blocks: int) -> None:
    """Interrupt a translation when so many blocks are finished."""
    told: list[Progress] = []

    def tell(progress: Progress) -> None:
        told.append(progress)
        if len(told) > num_blocks:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        translate_files(job, in_this_process, tell)


def test_the_output_is_what_the_translator_says_and_nothing_stays_beside_it(job: Job) -> None:
    assert run(job) == 0

    assert job.output.read_text() == expected(job)
    assert sorted(path.name for path in job.output.parent.iterdir()) == ["in.txt", "out.txt"]


def test_an_empty_file_gives_an_empty_output(job: Job, text: Path) -> None:
    text.write_bytes(b"")

    assert run(job) == 0

    assert job.output.read_bytes() == b""


def test_a_killed_translation_goes_on_to_the_same_bytes(job: Job, start: Start) -> None:
    kept = job.output.with_name("out.txt.part")
    for num_blocks, num_more in ((1, 1), (7, 6)):
        process = start(injected=held_after(num_more))
        while len(blocks_in(kept)) < num_blocks and process.poll() is None:
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert not job.output.exists()

    rejected, before = result_of(start())

    assert (rejected, before) == (0, 7 * 8)
    assert job.output.read_text() == expected(job)
    assert not kept.exists()


def test_what_is_finished_is_not_translated_again(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after(job, 3)
    assert not list(job.output.with_name("out.txt.part").glob("*.attempt"))
    translated: list[str] = []
    original = Translator.translate

    def translate(self: Translator, texts: Iterable[str]) -> Iterator[Translation]:
        translated.extend(taken := list(texts))
        return original(self, taken)

    monkeypatch.setattr(Translator, "translate", translate)
    run(job)

    assert translated == LINES[24:]


@pytest.mark.parametrize("form", ["text", "scores", "list", "json"])
def test_every_form_and_the_alignments_survive_an_interruption(job: Job, form: Form) -> None:
    search = SearchConfig(beam_size=2, n_best=2, max_length_ratio=1.0, max_length_extra=2)
    both = [
        replace(
            job,
            translator=replace(job.translator, search=search),
            files=PlainText(job.files.paths, form),
            output=job.output.with_name(name),
            alignments=job.output.with_name(f"{name}.align"),
        )
        for name in ("straight", "interrupted")
    ]
    straight, interrupted = both
    run(straight)

    stop_after(interrupted, 9)
    assert interrupted.alignments is not None
    assert straight.alignments is not None
    assert not interrupted.output.exists()
    assert not interrupted.alignments.exists()
    run(interrupted)

    assert interrupted.output.read_bytes() == straight.output.read_bytes()
    aligned = interrupted.alignments.read_text()
    assert aligned == straight.alignments.read_text()
    assert aligned.count("\n") == len(LINES)
    assert "0-0" in aligned


def test_another_text_model_or_option_is_refused_with_its_name(
    job: Job, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after(job, 2)
    other = replace(job, translator=replace(job.translator, search=SearchConfig(beam_size=3)))

    with pytest.raises(BulkError, match=r"the option beam_size \(4 before, 3 now\); undo the"):
        run(other)
    with monkeypatch.context() as patched:
        patched.setattr("dragoman.engines.selection.fault_of_copy", lambda directory: "damaged")
        automatic = replace(job, translator=replace(job.translator, engine="auto"))
        assert "pytorch on cpu in float32" in automatic.identity().values()
        patched.setattr("dragoman.device.has_fast_bf16", lambda device: True)
        assert "pytorch on cpu in bfloat16" in automatic.identity().values()
    with pytest.raises(BulkError, match="the form of the output"):
        run(replace(job, files=PlainText((text,), "json")))
    with pytest.raises(BulkError, match="the size of blocks"):
        run(replace(job, lines_per_block=job.lines_per_block + 1))
    text.write_text(text.read_text() + "\nmore")
    with pytest.raises(BulkError, match=rf"differs in the content of {text}; undo"):
        run(job)

    assert blocks_in(job.output.with_name("out.txt.part"))


def test_another_glossary_is_noticed_whatever_it_is_called(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No shell replaces the ~ of --glossary=~/terms.tsv."""
    monkeypatch.setenv("HOME", str(tmp_path))
    terms = tmp_path / "terms.tsv"
    terms.write_text("w1\tw2\n")
    job = replace(job, translator=replace(job.translator, glossary=Path("~/terms.tsv")))
    before = job.identity()

    terms.write_text("w1\tw3\n")

    assert {name for name, value in job.identity().items() if value != before[name]} == {
        "the glossary"
    }


def test_the_lock_goes_last_and_who_begins_then_is_left_alone(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = job.output.with_name("out.txt.part")
    left: list[str] = []

    def delete(path: Path, *, ignore_errors: bool) -> None:
        left.extend(each.name for each in path.iterdir())
        (kept / "job.json").write_text(json.dumps(job.identity()))  # by another command

    monkeypatch.setattr("shutil.rmtree", delete)

    run(job)

    assert left == [".lock"]
    assert (kept / "job.json").exists()


def test_all_outputs_are_on_the_disk_before_the_parts_go(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alignments = tmp_path / "elsewhere" / "alignments.txt"
    alignments.parent.mkdir()
    link = tmp_path / "alignments.txt"
    link.symlink_to(alignments)
    job = replace(job, alignments=link)
    flushed: list[tuple[Path, bool]] = []
    kept = job.output.with_name("out.txt.part")
    monkeypatch.setattr(
        "dragoman.bulk.files.flush", lambda path: flushed.append((path, kept.exists()))
    )

    run(job)

    assert flushed == [(alignments.parent, True), (tmp_path, True)]


def test_alignments_may_go_into_a_pipe(job: Job) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading) as alignments:
        run(replace(job, alignments=Path(f"/dev/fd/{writing}")))
        os.close(writing)
        assert len(alignments.readlines()) == len(LINES)

    assert not job.output.with_name("out.txt.part").exists()


def test_a_second_process_for_one_output_is_refused(job: Job, start: Start) -> None:
    with KeptParts(job.output, job.identity(), Unchanged(job.files.paths)).claim():
        second = start()
        _, errors = second.communicate()

    assert second.returncode != 0
    assert f"{job.output}: another process is translating to it; wait or stop it" in errors


@pytest.mark.parametrize(
    ("room", "begun", "num_kept"),
    [(100, False, 0), (50, True, 2), (100, True, 2), (1800, False, len(LINES) // 8 + 1)],
)
def test_a_full_disk_is_told_and_costs_nothing(
    job: Job, start: Start, room: int, begun: bool, num_kept: int
) -> None:
    """There is no room for the description of the job, for a note, for a block, for the output."""
    if begun:
        stop_after(job, 2)
    job.output.write_text("earlier")
    process = start(room=room)
    _, errors = process.communicate()

    assert process.returncode != 0
    assert f"{job.output}: cannot be written: File too large; what is finished is kept" in errors
    assert len(blocks_in(job.output.with_name("out.txt.part"))) == num_kept
    assert job.output.read_text() == "earlier"
    assert not list(job.output.parent.glob(".*"))
    result_of(start())
    assert job.output.read_text() == expected(job)


def poison(monkeypatch: pytest.MonkeyPatch, *, texts: frozenset[str] | None) -> None:
    """Let the translator fail for some texts, or for all."""
    original = Translator.translate

    def translate(self: Translator, given: Iterable[str]) -> Iterator[Translation]:
        taken = list(given)
        if texts is None or texts & frozenset(taken):
            raise RuntimeError("it overflows")
        return original(self, taken)

    monkeypatch.setattr(Translator, "translate", translate)


@pytest.mark.parametrize(
    ("form", "written"),
    [
        ("text", "\n"),
        ("scores", "\t-inf\n"),
        ("list", "22 |||  ||| -inf\n"),
        ("json", '"text": "", "rejected": "it fails with RuntimeError: it overflows"}\n'),
    ],
)
def test_a_line_that_fails_is_set_aside_and_its_place_stays(
    job: Job, text: Path, form: Form, written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = replace(job, files=PlainText((text,), form))
    run(job)
    whole = job.output.read_text().splitlines(keepends=True)
    poison(monkeypatch, texts=frozenset({LINES[22]}))

    assert run(job) == 1

    lines = job.output.read_text().splitlines(keepends=True)
    assert lines[22].endswith(written)
    if form == "json":  # in another batch, the last digits of a score are others
        lines, whole = ([json.loads(line)["text"] for line in each] for each in (lines, whole))
    assert [*lines[:22], *lines[23:]] == [*whole[:22], *whole[23:]]
    assert json.loads(rejections_path(job.output).read_text()) == {
        "place": f"{text}:23",
        "line": 23,
        "text": LINES[22],
        "reason": "it fails with RuntimeError: it overflows",
    }


def test_few_searches_find_the_lines_that_fail(
    job: Job, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = replace(job, lines_per_block=128)
    run(job)
    whole = job.output.read_text().split("\n")
    poison(monkeypatch, texts=frozenset({LINES[22], LINES[127]}))
    poisoned, asked = Translator.translate, []

    def translate(self: Translator, given: Iterable[str]) -> Iterator[Translation]:
        taken = list(given)
        asked.append(len(taken))
        return poisoned(self, taken)

    monkeypatch.setattr(Translator, "translate", translate)
    warnings: list[str] = []

    translate_files(job, in_this_process, lambda progress: warnings.extend(progress.warnings))

    of_lines = [warning for warning in warnings if "it overflows" in warning]
    assert [warning.partition(": ")[0] for warning in of_lines] == [f"{text}:23", f"{text}:128"]
    lines = job.output.read_text().split("\n")
    whole[22] = whole[127] = ""
    assert lines == whole
    assert len(asked) == 1 + 2 + 4 * 6 + 1  # all, both halves, four in each of six rounds, the rest


def test_a_file_whose_name_is_not_utf_8_is_translated_too(
    job: Job, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    strange = text.rename(text.with_name(os.fsdecode(b"caf\xe9.txt")))
    job = replace(job, files=PlainText((strange,), "text"))
    stop_after(job, 2)
    poison(monkeypatch, texts=frozenset({LINES[22]}))

    assert run(job) == 1

    assert len(job.output.read_text().split("\n")) == len(LINES)
    (rejected,) = rejections_path(job.output).read_bytes().splitlines()
    assert json.loads(rejected)["place"] == f"{strange}:23"


@pytest.mark.parametrize("length", [245, 255])
def test_an_output_may_have_the_longest_name_that_a_file_may(
    job: Job, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = replace(job, output=job.output.with_name("x" * (length - 4) + ".txt"))
    with monkeypatch.context() as patch:
        poison(patch, texts=frozenset({LINES[22]}))
        assert run(job) == 1
    assert rejections_path(job.output).exists()

    assert run(job) == 0

    assert job.output.read_text() == expected(job)


def test_rejections_of_an_earlier_output_do_not_stay(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        poison(patch, texts=frozenset({LINES[22]}))
        run(job)
    assert rejections_path(job.output).exists()

    assert run(job) == 0

    assert not rejections_path(job.output).exists()


@pytest.mark.parametrize("content", ["\n".join(LINES), "w1 w2\n"])
def test_an_error_that_is_not_about_a_line_ends_it(
    content: str, job: Job, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text.write_text(content)
    poison(monkeypatch, texts=None)

    with pytest.raises(RuntimeError, match="it overflows"):
        run(job)

    assert sorted(path.name for path in job.output.parent.iterdir()) == ["in.txt"]


def test_weights_that_are_damaged_are_not_the_fault_of_the_lines(job: Job, text: Path) -> None:
    text.write_text("w1 w2\nw3 {x} %s 4711\n" * 8)
    model = Path(shutil.copytree(job.translator.model, text.with_name("model")))
    job = replace(job, translator=replace(job.translator, model=model, engine="auto", device="cpu"))
    (model / "model.safetensors").write_bytes(b"of another model")

    with pytest.raises(ModelError, match=r"model\.safetensors: not a safetensors file"):
        run(job)

    assert not job.output.exists()
    assert not rejections_path(job.output).exists()


def test_a_text_that_changes_meanwhile_is_noticed(job: Job, text: Path) -> None:
    def tell(progress: Progress) -> None:
        if progress.num_lines == 80:
            text.write_text(text.read_text().upper())

    with pytest.raises(BulkError, match=f"{text}: it changed while it was translated"):
        translate_files(job, in_this_process, tell)

    assert not job.output.exists()


def test_what_was_made_of_a_changed_text_is_not_kept(job: Job, text: Path) -> None:
    original = text.read_text()

    def tell(progress: Progress) -> None:
        if progress.num_lines == 80:
            text.write_text("\n".join(reversed(LINES)))

    with pytest.raises(BulkError, match="restore it and run the command again"):
        translate_files(job, in_this_process, tell)
    text.write_text(original)

    assert run(job) == 0
    assert job.output.read_text() == expected(job)


def test_what_another_model_makes_is_not_kept(
    job: Job, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a worker is replaced after somebody has written another model to its place."""
    copy = tmp_path / "model"
    shutil.copytree(model, copy)
    other = replace(job, translator=replace(job.translator, model=copy))
    original = TranslatorSettings.load

    def load(self: TranslatorSettings) -> Translator:
        with (copy / "model.toml").open("a") as file:
            file.write("# another\n")
        return original(self)

    monkeypatch.setattr(TranslatorSettings, "load", load)
    with pytest.raises(BulkError, match="the model changed while it was translated; undo"):
        run(other)

    assert not job.output.exists()


def test_a_text_that_is_gone_has_changed(text: Path) -> None:
    unchanged = Unchanged((text,))
    text.unlink()

    with pytest.raises(BulkError, match=f"{text}: it changed while it was translated"):
        unchanged.check()


def test_what_is_made_without_a_copy_that_was_there_is_not_kept(
    job: Job, model: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "model"
    shutil.copytree(model, copy)
    settings = replace(job.translator, model=copy, engine="auto")
    identity = replace(job, translator=settings).identity()
    parts = KeptParts(job.output, identity, Unchanged(job.files.paths))
    parts.check_identity(settings.checksums())
    shutil.rmtree(copy / "ctranslate2")

    with pytest.raises(BulkError, match="the model's copy for CTranslate2 changed while"):
        parts.check_identity(settings.checksums())
    assert "none" not in settings.identity().values()  # blocks are known by what there is


@pytest.mark.parametrize(
    "content", ["{", '{"output": ["x"], "alignments": [], "rejected": [], "warnings": []}']
)
def test_a_block_that_is_damaged_or_lacks_lines_is_named(job: Job, content: str) -> None:
    stop_after(job, 3)
    (kept,) = job.output.with_name("out.txt.part").glob("000000001-*.json")
    kept.write_text(content)

    with pytest.raises(BulkError, match=f"{kept}: it is damaged; delete it and run"):
        run(job)
    kept.unlink()

    assert run(job) == 0
    assert job.output.read_text() == expected(job)


def test_a_file_where_the_parts_would_be_is_named(job: Job) -> None:
    kept = job.output.with_name("out.txt.part")
    kept.write_text("holiday")

    with pytest.raises(BulkError, match=f"{kept}: it was not made by a translation.*move it away"):
        run(job)


def test_what_kills_have_left_is_tidied_up(job: Job) -> None:
    job = replace(job, alignments=job.output.with_name("align.txt"))
    stop_after(job, 3)
    kept = job.output.with_name("out.txt.part")
    for name in ("out.txt", "align.txt", "out.txt.rejected.jsonl"):
        job.output.with_name(f".{name}.4711.unfinished").write_text("half of it")
    (kept / "job.json").unlink()  # a kill while everything is deleted
    (kept / "000000099.attempt").write_text("{}")

    run(job)

    assert job.output.read_text() == expected(job)
    left = {path.name for path in job.output.parent.iterdir()}
    assert left == {"in.txt", "out.txt", "align.txt"}


def test_where_nothing_is_finished_another_text_begins_anew(job: Job, text: Path) -> None:
    stop_after(job, 3)
    kept = job.output.with_name("out.txt.part")
    for name in blocks_in(kept):  # as after a kill during the first block
        (kept / name).unlink()
    text.write_text("w1 w2")

    run(job)

    assert job.output.read_text() == job.translator.load()("w1 w2")
    assert not kept.exists()


def test_a_directory_that_is_not_ours_is_left_alone(job: Job) -> None:
    kept = job.output.with_name("out.txt.part")
    kept.mkdir()
    (kept / "photograph.jpg").write_text("holiday")

    with pytest.raises(BulkError, match=r"photograph\.jpg: it was not made by a translation"):
        run(job)

    assert (kept / "photograph.jpg").exists()


@pytest.mark.parametrize("content", ["", "{", "[]", "\0\0"])
def test_a_description_that_is_damaged_is_named(job: Job, content: str) -> None:
    stop_after(job, 2)
    kept = job.output.with_name("out.txt.part")
    (kept / "job.json").write_text(content)

    damage = f"{kept}/job.json: it is damaged; delete {kept} to begin anew"
    with pytest.raises(BulkError, match=f"^{re.escape(damage)}$"):
        run(job)

    assert len(blocks_in(kept)) == 2


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130)]
)
def test_the_command_goes_on_and_says_so(
    job: Job, text: Path, number: int, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    text.write_text("w1 w2\n" * 3000 + "poison \ud7ff\n")
    command = [sys.executable, "-m", "dragoman", "translate", str(job.translator.model), str(text)]
    options = ["-o", str(job.output), "--engine", "ctranslate2", "--whole-lines"]
    kept = job.output.with_name("out.txt.part")
    process = subprocess.Popen(
        [*command, *options],
        env=environment(job.output.with_name("injected"), held_after(1)),
        stderr=subprocess.PIPE,
        text=True,
        # A shell may have the tests ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    while not blocks_in(kept) and process.poll() is None:
        time.sleep(0.001)
    process.send_signal(number)
    _, errors = process.communicate()
    assert process.returncode == code, errors
    assert "Traceback" not in errors
    assert (number == signal.SIGINT) == errors.endswith("run the same command again to go on\n")
    assert blocks_in(kept)
    assert not job.output.exists()

    assert main([*command[3:], *options]) == 0

    assert "going on: 2,048 of 3,001 lines translated" in capsys.readouterr().err
    assert job.output.read_text().count("\n") == 3001


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_of_standard_input_a_command_that_is_told_to_end_leaves_nothing(
    job: Job, number: int
) -> None:
    command = [sys.executable, "-m", "dragoman", "translate", str(job.translator.model)]
    process = subprocess.Popen(
        [*command, "-o", str(job.output)],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell may have the tests ignore it.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # noqa: PLW1509
    )
    while not (begun := list(job.output.parent.glob("*.unfinished"))) and process.poll() is None:
        time.sleep(0.001)
    process.send_signal(number)
    _, errors = process.communicate()

    assert begun
    assert (process.returncode, errors) == (128 + number, b"")
    assert not list(job.output.parent.glob("*.unfinished"))


@pytest.mark.parametrize(
    ("engine", "device", "lines"),
    [("pytorch", "cuda", 2**14), ("pytorch", "cpu", 2048), ("ctranslate2", "cuda", 2048)],
)
def test_blocks_are_larger_where_a_gpu_translates(
    engine: EngineKind, device: str, lines: int, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.device.choose_device", lambda name: torch.device(device))
    assert TranslatorSettings(model=model, engine=engine).lines_per_block == lines


@pytest.mark.parametrize(
    ("option", "value"), [("whole_lines", False), ("protect", False), ("shortlist", True)]
)
def test_what_was_translated_with_another_option_is_of_another_job(
    job: Job, option: str, value: bool
) -> None:
    setting: dict[str, Any] = {option: value}
    other = replace(job, translator=replace(job.translator, **setting))
    before, after = job.identity(), other.identity()

    changed = {name for name in before | after if before.get(name) != after.get(name)}
    assert changed == {f"the option {option}"}


def test_the_same_files_in_another_order_or_another_number_are_of_another_job(
    job: Job, text: Path
) -> None:
    other = text.with_name("other.txt")
    other.write_text("w1")
    lists = [(text, other), (other, text), (text, other, text)]

    identities = [replace(job, files=PlainText(paths, "text")).identity() for paths in lists]

    assert len({identity.pop("the list of files") for identity in identities}) == len(lists)
    assert identities == [identities[0]] * len(lists)  # nothing else would tell them apart


def test_a_translation_without_alignments_does_not_go_on_with_them(job: Job) -> None:
    stop_after(job, 2)

    with pytest.raises(BulkError, match=r"the option alignments \(no before, yes now\); undo the"):
        run(replace(job, alignments=job.output.with_name("alignments.txt")))


def test_another_version_of_what_computes_is_noticed(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = job.identity()
    monkeypatch.setattr("importlib.metadata.version", lambda package: f"another {package}")

    after = job.identity()

    assert {name for name in before if before[name] != after[name]} == {
        f"the version of {package}" for package in ("dragoman", "ctranslate2", "torch")
    }


def test_each_setting_reaches_the_translator(monkeypatch: pytest.MonkeyPatch, model: Path) -> None:
    monkeypatch.setattr("dragoman.memory.keep_freed_memory", lambda: None)
    monkeypatch.setattr("dragoman.translator.Translator", lambda _, **given: given)
    search, glossary = SearchConfig(beam_size=3), Path("terms.tsv")
    engine: dict[str, Any] = {"engine": "pytorch", "device": "cpu", "precision": "bf16"}
    texts: dict[str, Any] = {"protect": False, "glossary": glossary, "search": search}
    speed: dict[str, Any] = {"threads": 3, "shortlist": True}
    settings = {**engine, **texts, **speed}

    loaded: Any = TranslatorSettings(model=model, whole_lines=True, **settings).load()

    assert loaded == {**settings, "split_sentences": False}
