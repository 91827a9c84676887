"""`dragoman distill`: wrong use is told in one sentence, before anything is begun."""

from pathlib import Path

import pytest

from dragoman.cli import main
from dragoman.config import to_table
from dragoman.recipe import recipe_from_table

from .test_model_commands import build_model

VALIDATION = 'corpora.validation=[{path="dev.tsv"}]'


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--student", "tiny-6-1"], "name the text that the model translates: PAIRS"),
        (["pairs.tsv", "--student", "tiney", "--set", VALIDATION], "did you mean 'tiny'?"),
        (["pairs.tsv", "--student", "tiny-6-1"], "name a text with --set"),
        (["pairs.tsv", "--student", "tiny-6-1", "--jobs", "0"], '"0" for --jobs. Must be >= 1'),
        *(
            (
                ["pairs.tsv", "--student", "tiny-6-1", "--set", VALIDATION, "--n-best", count],
                f"dragoman: --n-best {count} is not between 1 and 1024",
            )
            for count in ("0", "5000")
        ),
    ],
)
def test_wrong_use_is_told_and_leaves_nothing_behind(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = build_model(tmp_path)

    assert main(["distill", str(model), *words, "-o", str(tmp_path / "run")]) == 2

    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_text_that_is_not_there_is_missed_and_leaves_nothing_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, run, dev = build_model(tmp_path), tmp_path / "run", tmp_path / "dev.tsv"
    pairs = tmp_path / "pairs.tsv"
    judged = f'corpora.validation=[{{path="{dev}"}}]'
    command = ["distill", str(model), str(pairs), "--student", "tiny-6-1", "--set", judged]

    assert main([*command, "-o", str(run)]) == 1
    assert capsys.readouterr().err == f"dragoman: {pairs}: there is no such file\n"
    pairs.write_text("a cat\tun gatto\n", encoding="utf-8")
    assert main([*command, "-o", str(run), "--monolingual", "a.txt", "--monolingual", "b"]) == 1
    assert capsys.readouterr().err == "dragoman: a.txt: there is no such file\n"
    assert main([*command, "-o", str(run)]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"dragoman: {dev}: there is no such file, and the student is judged")
    assert f"run the command where {model} was trained" in error

    assert not run.exists()


def test_a_text_that_lacks_its_case_is_told_and_leaves_nothing_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lower = str(tmp_path / "lower.tsv")
    learnt = [{"path": "cased.tsv"}, {"path": lower, "truecase": True}]
    recipe = recipe_from_table(
        {
            "source_language": "en",
            "target_language": "it",
            "corpora": {"train": learnt, "validation": [{"path": "dev.tsv"}]},
        }
    )
    model = build_model(tmp_path, training={"recipe": to_table(recipe)})
    run = tmp_path / "run"

    assert main(["distill", str(model), lower, "--student", "tiny-6-1", "-o", str(run)]) == 2

    error = capsys.readouterr().err
    assert error.startswith(f"dragoman: {lower}: the teacher learnt it with the case")
    assert not run.exists()


def test_a_student_that_is_none_is_wrong_use_without_an_output_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["distill", str(build_model(tmp_path)), "pairs.tsv", "--student", "a/b"]

    assert main([*command, "--set", VALIDATION]) == 2

    assert "unknown model.preset 'a/b'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("use", "path", "problem"),
    [
        ("validation", "$NOWHERE/dev.tsv", "the environment variable NOWHERE is not defined"),
        ("test", "gone.tsv", "gone.tsv: there is no such file"),
    ],
)
def test_a_text_that_judges_and_is_not_there_is_missed(
    use: str, path: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, run, pairs = build_model(tmp_path), tmp_path / "run", tmp_path / "pairs.tsv"
    pairs.write_text("a cat\tun gatto\n", encoding="utf-8")
    texts = {"validation": str(pairs), use: path}
    command = ["distill", str(model), str(pairs), "--student", "tiny-6-1", "-o", str(run)]
    for name, text in texts.items():
        command += ["--set", f'corpora.{name}=[{{path="{text}"}}]']

    assert main(command) == 1

    error = capsys.readouterr().err
    assert f"{problem}, and the student is judged by it; run the command where" in error
    assert f"--set 'corpora.{use}=[{{path=\"dev.tsv\"}}]'" in error
    assert not run.exists()


def test_a_compiler_that_is_not_there_is_missed_before_anything_is_translated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model, run, pairs = build_model(tmp_path), tmp_path / "run", tmp_path / "pairs.tsv"
    pairs.write_text("a cat\tun gatto\n", encoding="utf-8")
    monkeypatch.setattr("dragoman.training.compilation._has_cpp_compiler", lambda: False)
    settings = (
        f'corpora.validation=[{{path="{pairs}"}}]',
        "training.compile=true",
        "training.device=cpu",
    )
    command = ["distill", str(model), str(pairs), "--student", "tiny-6-1", "-o", str(run)]

    assert main([*command, *(f"--set={setting}" for setting in settings)]) == 1

    assert "C++ compiler" in capsys.readouterr().err
    assert not run.exists()
