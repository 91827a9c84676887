"""Every path that a command reads may be anything: it gets a sentence, never a traceback."""

import io
import json
import os
import shutil
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from dragoman.cli import main
from dragoman.exit_codes import WRONG_USE

RELEASE = Path(__file__).parents[1] / "fixtures" / "release-0.1.0"
COMMANDS = [
    "train {path} -o {new}",
    "plan {path}",
    "corpus check {path}",
    "corpus check --source {path} --target {text}",
    "corpus check --source {text} --target {path}",
    "translate {path} {text}",
    "translate {model} {text} --glossary {path}",
    "evaluate {path} {pairs}",
    "evaluate {model} {path}",
    "evaluate {model} --source {path} --reference {text}",
    "evaluate {model} {pairs} --compare {path}",
    "explain {path} one -o {new}",
    "align {path} {pairs}",
    "align {model} {path}",
    "align {model} {pairs} --gold {path}",
    "inspect {path}",
    "plot attention {path} one -o {new}.png",
    "plot positions {path} -o {new}.png",
    "plot training {path} -o {new}.png",
    "plot architecture {path} -o {new}.svg",
    "plot report {path}",
    "check {path}",
    "export {path} --to ctranslate2",
    "serve {path} --port 0",
    "serve {model} --glossary {path} --port 0",
    "import marian {path} -o {new} --languages en-it",
]
ALLOWED = {
    ("translate {model} {text} --glossary {path}", "empty"),
    ("corpus check {path}", "empty"),
}
"""What is no mistake."""


def test_a_hyphen_is_told_not_to_be_standard_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["corpus", "check", "-"]) == WRONG_USE

    said = capsys.readouterr().err
    assert said.startswith("dragoman: - is not a file name here: ")
    assert said.count("\n") == 1


@pytest.mark.parametrize("name", ["-dash.tsv", "--json.tsv", "-a b.tsv"])
def test_a_file_whose_name_begins_with_a_hyphen_is_told_how_to_be_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    below = f"'./{name}'" if " " in name else f"./{name}"
    assert main(["corpus", "check", name]) == WRONG_USE
    assert "./" not in capsys.readouterr().err  # there is no such file

    Path(name).write_text("a cat\tun gatto\n")

    assert main(["corpus", "check", name]) == WRONG_USE
    told = f"dragoman: {name} begins like an option; to name the file, write {below}\n"
    assert capsys.readouterr().err == told
    assert main(["corpus", "check", below.strip("'")]) == 0


@pytest.mark.parametrize(
    ("option", "advice"),
    [
        ("-o -x.de", "-o needs a value; if -x.de is a file, write ./-x.de; dragoman translate"),
        ("-o --json", "-o needs a value; dragoman translate"),
        ("--glossary -x.tsv", "--glossary needs a value; if -x.tsv is a file, write ./-x.tsv; "),
        ("-o", "-o needs a value; dragoman translate --help"),
        ("--beam-size -x", "--beam-size needs a value; dragoman translate --help"),
    ],
)
def test_a_value_that_begins_with_a_hyphen_is_told_how_to_be_given(
    option: str, advice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["translate", "model", "a.en", *option.split()]) == WRONG_USE

    assert capsys.readouterr().err.startswith(f"dragoman: {advice}")


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    """Copy the model, into which `align` writes, and make room for what is written."""
    shutil.copytree(RELEASE / "model", tmp_path / "model")
    return {
        "model": str(tmp_path / "model"),
        "pairs": str(RELEASE / "validation.tsv"),
        "text": str(RELEASE / "sentences.txt"),
        "new": str(tmp_path / "new"),
    }


def misuses(folder: Path) -> dict[str, str]:
    """Make what is not what a command expects."""
    (folder / "folder").mkdir()
    (folder / "empty").touch()
    (folder / "bytes").write_bytes(bytes(range(256)) * 4)
    (folder / os.fsdecode(b"\xe9")).write_bytes(b"\xff\xfe\n")
    return {
        "missing": str(folder / "missing"),
        "below a file": str(folder / "empty" / "missing"),
        "folder": str(folder / "folder"),
        "empty": str(folder / "empty"),
        "bytes": str(folder / "bytes"),
        "strange name": str(folder / os.fsdecode(b"\xe9")),
        "strange and missing": str(folder / os.fsdecode(b"\xe8")),
        "long": "x" * 5000,
        "nothing": "",
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_a_path_to_something_else_gets_one_sentence(
    command: str, places: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = io.BytesIO()
    monkeypatch.setattr("sys.stderr", io.TextIOWrapper(said, errors="backslashreplace"))
    for name, path in misuses(tmp_path).items():
        if (command, name) in ALLOWED:
            continue
        arguments = [word.format(path=path, **places) for word in command.split()]

        assert main(arguments) in (1, 2), name

        sys.stderr.flush()
        assert said.getvalue().strip(), name
        said.truncate(0)


def test_a_name_that_is_not_utf_8_is_printed_with_escapes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    strange = tmp_path / os.fsdecode(b"caf\xe9.tsv")
    strange.write_text("a cat\tun gatto\n")
    said = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(said, encoding="utf-8"))

    assert main(["corpus", "check", str(strange)]) == 0

    assert "caf\\udce9.tsv: 1 pair," in said.getvalue().decode()


@pytest.mark.parametrize(
    ("encoding", "errors"),
    [
        ("utf-8", "strict"),
        ("utf-8", "surrogateescape"),  # C and C.UTF-8, as in containers
        ("latin-1", "strict"),
        ("ascii", "strict"),
    ],
)
def test_json_is_utf_8_in_every_locale(
    encoding: str, errors: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    strange = tmp_path / os.fsdecode("città 猫 ".encode() + b"\xe9.tsv")
    strange.write_text("a cat\tun gatto\n")
    said = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(said, encoding, errors))

    assert main(["corpus", "check", str(strange), "--json"]) == 0

    sys.stdout.flush()
    assert json.loads(said.getvalue().decode())["corpora"][0]["corpus"] == str(strange)
    with redirect_stdout(io.StringIO()) as caught:  # which has no encoding
        assert main(["corpus", "check", str(strange), "--json"]) == 0
    assert json.loads(caught.getvalue())["corpora"][0]["corpus"] == str(strange)


@pytest.mark.parametrize(
    "command",
    [
        "translate {there} {text}",
        "train {recipe} -o {there}",
        "export {model} --to ctranslate2 -o {there}",
    ],
)
def test_a_model_under_a_name_that_is_not_utf_8_is_refused_at_once(
    command: str, places: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = io.TextIOWrapper(io.BytesIO(), errors="backslashreplace")
    monkeypatch.setattr("sys.stderr", said)
    there = tmp_path / os.fsdecode(b"caf\xe9")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        'source_language = "en"\ntarget_language = "it"\n'
        f'[corpora]\ntrain = [{{ path = "{places["pairs"]}" }}]\n[model]\npreset = "tiny"\n'
    )
    if command.startswith("translate"):
        Path(places["model"]).rename(there)

    arguments = [word.format(there=there, recipe=recipe, **places) for word in command.split()]

    assert main(arguments) == WRONG_USE
    said.seek(0)
    assert "this name is not UTF-8; rename the directory" in said.read()
    assert there.exists() == command.startswith("translate")
