"""`dragoman demo` as a person types it: it trains on its own text and on no other."""

from pathlib import Path

import pytest

from dragoman.cli import demo, main
from dragoman.corpora.primer.corpus import generate
from dragoman.pipeline.run_directory import claim
from dragoman.recipe import recipe_from_table


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "SIZES", {"train": 7, "validation": 3, "test": 3})


def test_text_of_somebody_else_is_neither_learnt_nor_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text" / "train.tsv"
    text.parent.mkdir()
    text.write_text("cat\tgatto\n", encoding="utf-8")

    assert main(["demo", "-o", str(tmp_path)]) == 1

    assert capsys.readouterr().err == (
        f"dragoman: {text}: it is not the text of the demo; name another directory with -o\n"
    )
    assert text.read_text(encoding="utf-8") == "cat\tgatto\n"
    assert not (tmp_path / "recipe.toml").exists()


def test_its_own_text_is_kept_and_the_rest_is_written(tmp_path: Path) -> None:
    paths = {split: tmp_path / f"{split}.tsv" for split in demo.SIZES}
    demo._write_text(paths, has_begun=False)
    written = {split: path.read_bytes() for split, path in paths.items()}
    paths["test"].unlink()

    demo._write_text(paths, has_begun=False)

    assert {split: path.read_bytes() for split, path in paths.items()} == written
    pairs = [f"{pair.source}\t{pair.target}\n" for pair in generate(3, seed=1, split="test")]
    assert written["test"].decode() == "".join(pairs)


def test_a_directory_with_what_training_would_overwrite_gets_no_text(tmp_path: Path) -> None:
    (tmp_path / "model.toml").write_text("mine", encoding="utf-8")

    assert main(["demo", "-o", str(tmp_path)]) == 1

    assert [path.name for path in tmp_path.iterdir()] == ["model.toml"]


def test_the_run_of_another_recipe_gets_no_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    languages = {"source_language": "en", "target_language": "it"}
    corpora = {"train": [{"path": "mine.tsv"}], "validation": [{"path": "held.tsv"}]}
    claim(recipe_from_table({**languages, "corpora": corpora}), tmp_path)
    (tmp_path / "finished").touch()

    assert main(["demo", "-o", str(tmp_path)]) == 1

    assert "it holds the run of another recipe" in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"finished", "recipe.toml"}
