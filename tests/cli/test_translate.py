"""`dragoman translate`: as many lines out as in, whatever is in them."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from cyclopts import App

from dragoman.cli.translate import translate
from dragoman.config import DragomanError, RecipeError
from dragoman.corpora.text_file import CorpusError
from dragoman.model.config import TransformerConfig
from dragoman.model.transformer import Transformer
from dragoman.model_directory import ModelDescription, TokenizerDescription, save_model
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.tokenizer import SpecialIds
from dragoman.tokenizers.words import WordTokenizer
from dragoman.translator import Translator

PROGRAM = (
    "import sys\n"
    "from cyclopts import App\n"
    "from dragoman.cli.translate import translate\n"
    "app = App()\n"
    "app.command(translate)\n"
    "sys.exit(app(['translate', *sys.argv[1:]], result_action='return_value'))"
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Save a model that has learnt nothing, not even to end."""
    path = tmp_path_factory.mktemp("model")
    words = WordTokenizer(["the", "cat", "dog", "table"])
    config = TransformerConfig(
        d_model=8,
        d_ff=12,
        num_heads=2,
        num_encoder_layers=1,
        num_decoder_layers=1,
        projection_bias=True,
    )
    transformer = Transformer(
        config,
        source_vocab_size=words.vocab_size,
        target_vocab_size=words.vocab_size,
        padding_id=0,
    )
    with torch.no_grad():
        transformer.projection.linear.bias[SpecialIds().eos] = -50.0
    pair = TokenizerPair(words, words)
    description = ModelDescription(
        source_language="en",
        target_language="it",
        model=config,
        tokenizer=TokenizerDescription.of(pair, TokenizerConfig(kind="words")),
        special_ids=SpecialIds(),
        search={"beam_size": 3, "max_length_ratio": 1.0, "max_length_extra": 2},
    )
    save_model(path, description, pair, dict(transformer.named_parameters()))
    return path


def run(*arguments: str | Path) -> int:
    app = App()
    app.command(translate)
    code: int = app(
        ["translate", *map(str, arguments), "--device", "cpu"],
        exit_on_error=False,
        print_error=False,
        result_action="return_value",
    )
    return code


def pipe(arguments: Sequence[str | Path], text: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments, "--device", "cpu"],
        input=text,
        capture_output=True,
        check=False,
    )


def test_every_line_keeps_its_place_and_its_ending(model: Path, tmp_path: Path) -> None:
    lines = ["the cat", "", "the\u2028dog", "a\x85 \x0b b\x0c\x1c", "\ufeff", "\r", "the \r table"]
    endings = ["\n", "\r\n", "\n", "\r\n", "\n", "\n", ""]
    source, output = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_bytes("".join(map("".join, zip(lines, endings, strict=True))).encode())

    assert run(model, source, "-o", output) == 0

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


def test_files_follow_each_other_on_standard_output(
    model: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a").write_text("the cat\nthe dog\n")
    (tmp_path / "b").write_text("")
    (tmp_path / "c").write_text("table\n")

    run(model, tmp_path / "a", tmp_path / "b", tmp_path / "c")

    expected = Translator(model, device="cpu")(["the cat", "the dog", "table"])
    assert capfd.readouterr().out == "".join(f"{line}\n" for line in expected)


def test_standard_input_is_translated_to_standard_output(model: Path) -> None:
    result = pipe([model], b"the cat\n\nthe dog")

    expected = Translator(model, device="cpu")(["the cat", "", "the dog"])
    assert result.stdout.decode() == "\n".join(expected)


def test_a_slow_writer_gets_each_line_at_once(model: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(model), "--device", "cpu"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        expected = Translator(model, device="cpu")
        for text in ("the cat", "the dog"):  # the second is written after the first is read
            process.stdin.write(f"{text}\n".encode())
            process.stdin.flush()
            assert process.stdout.readline().decode() == expected(text) + "\n"
        process.stdin.close()


def test_a_reader_that_has_seen_enough_ends_it_quietly(model: Path, tmp_path: Path) -> None:
    source = tmp_path / "in.txt"
    source.write_text("\n" * 100_000)  # more than a pipe holds
    command = [sys.executable, "-c", PROGRAM, str(model), str(source), "--device", "cpu"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


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
    (tmp_path / "in").write_text("the cät\nthe dog\n")

    run(model, tmp_path / "in", "--json", "--n-best", "2")

    first, second = (json.loads(line) for line in capfd.readouterr().out.splitlines())
    assert (first["line"], second["line"]) == (1, 2)
    assert first["source"] == "the cät"
    assert first["text"] == first["alternatives"][0]["text"]
    assert set(first["alternatives"][1]) == {"text", "score", "finished"}
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


def test_text_that_is_not_utf_8_is_refused_with_its_place(model: Path, tmp_path: Path) -> None:
    source, output = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_bytes(b"the cat\nthe d\xffg\n")

    with pytest.raises(CorpusError, match=r"in\.txt:2: not UTF-8 \(byte 0xff at position 5\)"):
        run(model, source, "-o", output)

    assert [path.name for path in tmp_path.iterdir()] == ["in.txt"]


def test_an_interrupted_file_keeps_what_stood_there(model: Path, tmp_path: Path) -> None:
    source, output = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_bytes(b"the cat\n\xff\n")
    output.write_text("earlier")

    with pytest.raises(CorpusError):
        run(model, source, "-o", output)

    assert output.read_text() == "earlier"


def test_the_output_may_replace_the_input(model: Path, tmp_path: Path) -> None:
    source = tmp_path / "text"
    source.write_text("the cat\n")

    run(model, source, "-o", source)

    assert source.read_text() == Translator(model, device="cpu")("the cat") + "\n"


def test_options_that_do_not_go_together_are_wrong_use(model: Path) -> None:
    with pytest.raises(RecipeError, match="n_best=9 is more than beam_size=3 finds"):
        run(model, os.devnull, "--n-best", "9")


def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DragomanError, match="nowhere: there is no model here"):
        run(tmp_path / "nowhere", os.devnull)
