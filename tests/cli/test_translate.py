"""`dragoman translate`: as many lines out as in, whatever is in them."""

import io
import json
import os
import shutil
import sys
import threading
from pathlib import Path

import pytest
import torch
from cyclopts import App
from tests.documents.office_files import docx, paragraph
from tests.documents.office_files import run as text_run
from tests.untrained import save_transformer, untrained

from dragoman.cli import main
from dragoman.cli.translate import translate
from dragoman.corpora.text_file import CorpusError
from dragoman.decoding.config import SearchConfig
from dragoman.errors import DragomanError, UsageError
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.tokenizer import SpecialIds
from dragoman.tokenizers.words import WordTokenizer
from dragoman.translator import Translator


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Save a model that has learnt nothing, not even to end."""
    path = tmp_path_factory.mktemp("model")
    words = WordTokenizer(["the", "cat", "dog", "table"])
    pair = TokenizerPair(words, words)
    transformer = untrained(pair, projection_bias=True)
    with torch.no_grad():
        transformer.projection.linear.bias[SpecialIds().eos] = -50.0
    save_transformer(
        path,
        transformer,
        pair,
        TokenizerConfig(kind="words"),
        max_length=50,
        search={"beam_size": 3, "max_length_ratio": 1.0, "max_length_extra": 2},
    )
    return path


def run(*arguments: str | Path) -> None:
    app = App()
    app.command(translate)
    app(
        ["translate", *map(str, arguments), "--device", "cpu"],
        exit_on_error=False,
        print_error=False,
        result_action="return_value",
    )


def test_every_line_keeps_its_place_and_its_ending(model: Path, tmp_path: Path) -> None:
    lines = ["the cat", "", "the\u2028dog", "a\x85 \x0b b\x0c\x1c", "\ufeff", "\r", "the \r table"]
    endings = ["\n", "\r\n", "\n", "\r\n", "\n", "\n", ""]
    source, output = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_bytes("".join(map("".join, zip(lines, endings, strict=True))).encode())

    run(model, source, "-o", output)

    # A carriage return right before a line feed is part of the ending.
    texts, endings[5] = [line.removesuffix("\r") for line in lines], "\r\n"
    expected = Translator(model, device="cpu")(texts)
    written = output.read_bytes().decode()
    assert written == "".join(map("".join, zip(expected, endings, strict=True)))
    assert expected[0] != ""
    assert written.count("\n") == 6


def test_a_byte_order_mark_is_not_text(model: Path, tmp_path: Path) -> None:
    source, output = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_bytes("\ufeffthe cat\n".encode())

    run(model, source, "-o", output)

    assert output.read_text() == Translator(model, device="cpu")("the cat") + "\n"


def test_a_file_that_is_missing_is_told_before_others_are_translated(
    model: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a").write_text("the cat\n")

    with pytest.raises(FileNotFoundError, match="missing"):
        run(model, tmp_path / "a", tmp_path / "missing")

    assert capfd.readouterr().out == ""


def test_files_follow_each_other_each_from_a_line_of_its_own(
    model: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    contents = [b"the cat\nthe dog", b"table\r", b"", b"the cat"]
    files = [tmp_path / str(i) for i in range(len(contents))]
    for file, content in zip(files, contents, strict=True):
        file.write_bytes(content)

    run(model, *files)

    expected = Translator(model, device="cpu")(["the cat", "the dog", "table", "the cat"])
    assert capfd.readouterr().out == "{}\n{}\n{}\r\n{}".format(*expected)


def test_standard_input_is_translated_to_standard_output(
    model: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"the cat\n\nthe dog")))

    run(model)

    expected = Translator(model, device="cpu")(["the cat", "", "the dog"])
    assert capfd.readouterr().out == "\n".join(expected)


def test_a_slow_writer_gets_each_line_at_once(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (to_read, to_write), (answer, output) = os.pipe(), os.pipe()
    expected = Translator(model, device="cpu")
    with (
        os.fdopen(to_read) as stdin,
        os.fdopen(output, "w") as stdout,
        os.fdopen(answer) as answers,
    ):
        monkeypatch.setattr(sys, "stdin", stdin)
        monkeypatch.setattr(sys, "stdout", stdout)
        command = threading.Thread(target=run, args=(model,), daemon=True)
        command.start()
        for text in ("the cat", "the dog"):  # the second is written after the first is read
            os.write(to_write, f"{text}\n".encode())
            assert answers.readline() == expected(text) + "\n"
        os.close(to_write)
        command.join()


def test_a_reader_that_has_seen_enough_ends_it_quietly(
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    source = tmp_path / "in.txt"
    source.write_text("\n" * 10_000)  # more than is buffered
    answer, output = os.pipe()
    os.close(answer)
    with os.fdopen(output, "w") as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        code = main(["translate", str(model), str(source), "--device", "cpu"])
        stdout.write("what is written when the interpreter ends")

    assert code == 141
    assert capfd.readouterr().err == ""


def test_a_list_of_the_best_has_the_format_of_moses(
    model: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").write_text("the cat\n\nthe dog\n")

    run(model, tmp_path / "in", "--n-best", "2")

    fields = [line.split(" ||| ") for line in capfd.readouterr().out.splitlines()]
    assert [number for number, _, _ in fields] == ["0", "0", "1", "2", "2"]
    assert float(fields[0][2]) >= float(fields[1][2])
    assert fields[2][1:] == ["", "0.0000"]


def test_scores_stand_behind_a_tab(
    model: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").write_text("the cat\n")
    (expected,) = Translator(model, device="cpu").translate(["the cat"])

    run(model, tmp_path / "in", "--scores")

    assert capfd.readouterr().out == f"{expected.text}\t{expected.score:.4f}\n"


def test_json_holds_all_there_is(
    model: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").write_text("the cät\n")
    (tmp_path / "more").write_text("the dog\n")

    run(model, tmp_path / "in", tmp_path / "more", "--json", "--n-best", "2")

    first, second = (json.loads(line) for line in capfd.readouterr().out.splitlines())
    assert (first["line"], second["line"]) == (1, 2)
    assert first["source"] == "the cät"
    assert first["text"] == first["alternatives"][0]["text"]
    described = {"text", "parts", "score", "finished", "faults"}
    judged = {"log_probability", "num_tokens", "confidence"}
    assert set(first["alternatives"][1]) == described | judged
    assert 0 < first["confidence"] == first["alternatives"][0]["confidence"] < 1
    assert len(second["alternatives"]) == 2


def test_samples_are_the_same_for_the_same_seed(
    model: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").write_text("the cat the dog the table\n" * 2)
    drawn = []
    for seed in ("1", "1", "2"):
        run(model, tmp_path / "in", "--sample", "2.0", "--n-best", "5", "--seed", seed)
        drawn.append(capfd.readouterr().out)

    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]


def test_a_translation_that_was_stopped_is_warned_of(
    model: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").write_text("the cat the dog\n")
    (expected,) = Translator(model, device="cpu").translate(["the cat the dog"])

    run(model, tmp_path / "in")

    warning = f"warning: {tmp_path / 'in'}:1: the translation stopped at the length limit\n"
    assert not expected.finished
    assert capfd.readouterr().err == warning


def test_a_sentence_that_is_too_long_stays_one_line_and_is_warned_of(
    model: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source, output = tmp_path / "in", tmp_path / "out"
    half = " ".join(["the dog the cat the table"] * 5)
    source.write_text(f"the cat\n{half} {half}\nthe dog\n")

    run(model, source, "-o", output, "--beam-size", "1")

    warning = (
        f"warning: {source}:2: a sentence has more tokens than the model has seen, so it was cut, "
        "and its pieces were translated separately\n"
    )
    assert capfd.readouterr().err.count(warning) == 1
    lines = output.read_text().split("\n")
    search = SearchConfig(beam_size=1, max_length_ratio=1.0, max_length_extra=2)
    part = Translator(model, device="cpu", search=search)(half)
    assert lines[1] == f"{part} {part}".strip()  # such a model may say nothing
    assert len(lines) == 4


def test_the_sentences_of_a_line_are_translated_each_for_itself(
    model: Path, tmp_path: Path
) -> None:
    source, output, whole = tmp_path / "in", tmp_path / "out", tmp_path / "whole"
    source.write_text("  The cat.   The dog.\r\n")

    run(model, source, "-o", output)
    run(model, source, "-o", whole, "--whole-lines")

    first, second = Translator(model, device="cpu")(["The cat.", "The dog."])
    assert output.read_bytes().decode() == f"  {first}   {second}\r\n"
    together = Translator(model, device="cpu", split_sentences=False)("  The cat.   The dog.")
    assert whole.read_bytes().decode() == f"{together}\r\n"


def test_the_output_may_be_a_pipe(model: Path, tmp_path: Path) -> None:
    source, pipe = tmp_path / "in", tmp_path / "pipe"
    source.write_text("the cat\n")
    os.mkfifo(pipe)
    received: list[str] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_text()), daemon=True)
    reader.start()

    run(model, source, "-o", pipe)

    reader.join(timeout=30)
    assert received == [Translator(model, device="cpu")("the cat") + "\n"]
    assert pipe.is_fifo()


@pytest.mark.parametrize("option", [[], ["--jobs", "2"], ["--field", "title"]])
def test_a_directory_in_the_place_of_a_file_is_named(tmp_path: Path, option: list[str]) -> None:
    text, out = tmp_path / "in.txt", tmp_path / "out.txt"
    aligned = ("--alignments", tmp_path)
    text.touch()

    for files in ((text, "-o", tmp_path), (tmp_path, "-o", out), (text, "-o", out, *aligned)):
        with pytest.raises(DragomanError, match=f"{tmp_path}: a directory stands where a file is"):
            run(tmp_path / "model", *files, *option)


def test_of_a_folder_it_is_said_how_its_files_are_translated(tmp_path: Path) -> None:
    with pytest.raises(DragomanError, match="; name its files, and each document in a command of"):
        run(tmp_path / "model", tmp_path)


def test_whoever_names_the_text_before_the_model_is_told_the_order(
    model: Path, tmp_path: Path
) -> None:
    text = tmp_path / "in.txt"
    text.touch()

    with pytest.raises(UsageError, match=f"^{model}: it is a model, which comes first"):
        run(text, model)


def test_the_folder_of_the_output_is_missed_before_the_model_is_loaded(tmp_path: Path) -> None:
    output = tmp_path / "missing" / "out"

    with pytest.raises(DragomanError, match=f"{output}: cannot be written"):
        run(tmp_path / "no model", os.devnull, "-o", output)


def test_an_option_of_0_is_given(model: Path) -> None:
    with pytest.raises(UsageError, match="--beam-size 0 is not between"):
        run(model, os.devnull, "--beam-size", "0")


@pytest.mark.parametrize("option", [["--top-k", "5"], ["--top-p", "0.9"], ["--seed", "3"]])
def test_options_of_sampling_need_sampling(model: Path, option: list[str]) -> None:
    with pytest.raises(UsageError, match="--top-k, --top-p and --seed need --sample above 0"):
        run(model, os.devnull, *option)


@pytest.mark.parametrize("option", [["--beam-size", "2"], ["--patience", "1"]])
def test_options_of_a_beam_need_one(model: Path, option: list[str]) -> None:
    with pytest.raises(UsageError, match="sampling uses no beam; leave out --beam-size and"):
        run(model, os.devnull, "--sample", "1", *option)


def test_text_that_is_not_utf_8_is_refused_with_its_place_and_an_earlier_output_stays(
    model: Path, tmp_path: Path
) -> None:
    source, output = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_bytes(b"the cat\nthe d\xffg\n")
    output.write_text("earlier")

    with pytest.raises(CorpusError, match=r"in\.txt:2: not UTF-8 \(byte 0xff at position 5\)"):
        run(model, source, "-o", output)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "out.txt"]
    assert output.read_text() == "earlier"


def test_options_that_do_not_go_together_are_wrong_use(model: Path) -> None:
    with pytest.raises(UsageError, match="--n-best 9 is more than --beam-size 3 finds"):
        run(model, os.devnull, "--n-best", "9")


def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DragomanError, match="nowhere: there is no model here"):
        run(tmp_path / "nowhere", os.devnull)


@pytest.mark.parametrize("options", [[], ["-o", "out.srt"]])
def test_a_document_is_translated_as_a_whole(
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    options: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    cues = "1\n00:00:01,000 --> 00:00:02,000\n{}\n\n2\n00:00:02,000 --> 00:00:03,000\n- 2 -\n"
    Path("in.SRT").write_text(cues.format("the cat"))

    run(model, "in.SRT", *options)

    written = Path("out.srt").read_text() if options else capfd.readouterr().out
    assert written == cues.format(Translator(model, device="cpu")("the cat"))


@pytest.mark.parametrize("options", [[], ["-o", "out"], ["-o", "out", "--jobs", "2"]])
@pytest.mark.parametrize("name", ["in.txt", "in.md"])
def test_a_glossary_that_does_not_apply_is_noticed(
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    options: list[str],
    name: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text("the cat\n\n" * 20)
    Path("terms.tsv").write_text("gatto\tcat\n")

    run(model, name, *options, "--glossary", "terms.tsv")

    said = [line for line in capfd.readouterr().err.splitlines() if "glossary" in line]
    assert said == [
        "warning: no term of the glossary occurs in the text, but translations of its terms do; "
        "exchange its columns"
    ]


@pytest.mark.parametrize("options", [[], ["-o", "out"]])
@pytest.mark.parametrize("name", ["in.txt", "in.md"])
def test_a_text_in_another_language_is_noticed(
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    options: list[str],
    name: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text("Il gatto dorme sul tavolo e il cane guarda la finestra.\n\n" * 40)

    run(model, name, *options)

    assert (
        "warning: the text seems to be Italian (it), and the model translates from English (en)"
        in capfd.readouterr().err.splitlines()
    )


def test_an_office_document_is_not_written_to_a_terminal(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in.docx").write_bytes(docx(paragraph(text_run("the cat"))))
    _, terminal = os.openpty()
    with os.fdopen(terminal, "w") as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        with pytest.raises(UsageError, match=r"in.docx: what is written is no text; name the outp"):
            run(model, tmp_path / "in.docx")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["in.txt", "--jobs", "2"], "--jobs, --cluster and --field work from files to a file"),
        (["in.txt", "--cluster", "auto"], "--jobs, --cluster and --field work from files to a"),
        ([os.devnull, "-o", "out", "--jobs", "2"], "standard input and pipes cannot be read again"),
        (["-o", "out", "in.txt", "--cluster", "in.txt"], "--cluster in.txt: an address is HOST:"),
        (["-o", "out", "--cluster", "in.txt"], "--cluster in.txt: an address is HOST:"),
        (["in.jsonl", "-o", "out"], "in.jsonl: it has records, not lines of text; name the field"),
        (["in.jsonl"], "in.jsonl: it has records, not lines of text; name the field"),
        (["IN.NDJSON", "-o", "out"], "IN.NDJSON: it has records, not lines of text"),
        (["IN.PARQUET"], "IN.PARQUET: it has records, not lines of text"),
        (
            ["memory.TMX"],
            r"memory.TMX: \.tmx files are not translated; save the text in it line by line",
        ),
        (["in.txt", "de.po", "-o", "out"], "de.po: it is translated as a whole, and has to be the"),
        (["a.HTML.gz"], "a.HTML.gz: a document is not translated while compressed; unpack it"),
        (["a.html", "--json"], "a.html: a document has one translation: leave out --json and"),
        (["a.html", "-o", "out", "--n-best", "2"], "a.html: a document has one translation"),
        (["a.po", "--alignments", "out"], "a.po: a document has no lines; leave out --alignments"),
        (
            ["de.yml"],
            r"de.yml: \.yml files .* turn it into a \.po file and back with yaml2po and po2yaml",
        ),
        (["a.PDF"], r"a.PDF: \.pdf files are not translated; save it as \.docx or \.odt"),
        (["a.pptm"], r"a.pptm: \.pptm files are not translated; save it as \.pptx"),
        (["a.azw3"], r"a.azw3: \.azw3 files are not translated; save it as \.epub"),
        (["a.ipynb"], r"a.ipynb: \.ipynb files .* turn it into a \.md file and back with jupytext"),
        (["a.tex"], r"a.tex: \.tex files .* turn it into a \.po file and back with po4a"),
        (["a.rst"], r"a.rst: \.rst files .* sphinx-build -b gettext"),
        (["app_it.ts"], r"app_it.ts: \.ts files .* with ts2po and po2ts .* from standard input"),
        (["a.ini"], r"a.ini: \.ini files .* with ini2po and po2ini"),
        (["A.vue"], r"A.vue: \.vue files .* save the text in it line by line"),
        (["a.toml.gz"], r"a.toml.gz: \.toml files .* save the text in it line by line"),
        (["a b.TSV"], r"a b.TSV: it has columns, .* as cut -f1 'a b.TSV' does"),
        (
            ["in.txt", "-o", "out.DOCX"],
            r"out.DOCX: lines of text are written, and \.docx files have",
        ),
        (["-o", "out.pdf"], r"out.pdf: lines of text are written, .* let the name end in \.txt"),
        (
            ["a.xlsx", "-o", "b.csv"],
            r"b.csv: the translation of a \.xlsx file is one, too; let the",
        ),
        (["a.docx", "-o", "b.odt"], r"b.odt: the translation of a \.docx file is one, too"),
        (
            ["a.srt", "-o", "b.vtt"],
            r"b.vtt: .* end in \.srt, and save it as \.vtt from the program",
        ),
        (["in.txt", "--scores", "--json"], "writes the scores by itself; leave out --scores"),
        (["in.txt", "--scores", "--n-best", "2", "-o", "out"], "--scores, or give --n-best 1"),
        (["in.txt", "-o", "out", "--into", "it"], "--into it: it needs --field"),
        (
            ["in.txt", "--glossary", "terms", "-o", "terms"],
            "terms: it is read already; name another",
        ),
        (["in.txt", "--glossary", "~/terms", "-o", "terms"], "terms: it is read already"),
        (["in.txt", "-o", "{model}/model.toml"], "model.toml: it is read already; name another"),
        (["in.txt", "-o", "{model}/tokenizer.words"], "tokenizer.words: it is read already"),
        (
            ["out.rejected.jsonl", "-o", "out", "--field", "text"],
            "out.rejected.jsonl: it is read already",
        ),
        (
            ["in.txt", "-o", "out", "--alignments", "out.rejected.jsonl"],
            "out.rejected.jsonl: it is written already",
        ),
        (["in.jsonl", "-o", "out", "--field", "t", "--json"], "records have one translation each"),
        (["in.jsonl", "-o", "out.parquet", "--field", "t"], "let the name end in .jsonl"),
    ],
)
def test_long_files_are_refused_where_the_options_make_no_sense(
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    reason: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    names = ["in.jsonl", "in.txt", "out.rejected.jsonl", "terms"]
    for name in names:
        Path(name).write_text("the cat\n")
    described = [(model / name).read_bytes() for name in ("model.toml", "tokenizer.words")]

    with pytest.raises(UsageError, match=reason):
        run(model, *(argument.format(model=model) for argument in arguments))

    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert {path.read_text() for path in tmp_path.iterdir()} == {"the cat\n"}
    assert [(model / n).read_bytes() for n in ("model.toml", "tokenizer.words")] == described


@pytest.mark.parametrize("ended", [False, True])
def test_a_model_whose_training_has_not_ended_says_so(
    ended: bool, model: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    shutil.copytree(model, run)
    (run / "journal.jsonl").touch()
    if ended:
        (run / "finished").touch()
    text = tmp_path / "text"
    text.write_text("the cat\n")

    assert main(["translate", str(run), str(text)]) == 0

    told = capfd.readouterr()
    assert told.out.count("\n") == 1
    assert ("its training has not ended" in told.err) != ended
