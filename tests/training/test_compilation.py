"""Compiled blocks compute what was written, and are compiled once."""

import json
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch

from dragoman.errors import DragomanError
from dragoman.training.compilation import require_compiler
from dragoman.training.config import TrainingConfig

pytestmark = pytest.mark.timeout(900)  # on a busy machine, compiling takes long

SINGLE, HALF = 1e-6, 1e-2
"""Relative differences of a loss. Compiled blocks turn queries and keys by the equation, which
rounds in other places."""


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    """Compare both ways in a process of its own, each kind of positions in one format.

    Most of a minute goes into compiling.
    """
    command = [sys.executable, "-m", "tests.training.compiled_blocks"]
    found = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    answer: dict[str, Any] = json.loads(found.stdout)
    return answer


def test_losses_and_gradients_are_those_of_the_blocks_as_written(report: dict[str, Any]) -> None:
    assert len(report["losses"]) == 3
    for plain, compiled in report["losses"]:
        assert compiled == pytest.approx(plain, rel=HALF)
    assert report["largest difference of gradients"] < 10 * HALF
    assert report["same names"]


def test_neither_each_block_nor_each_shape_is_compiled(report: dict[str, Any]) -> None:
    # Of six blocks of two kinds, two norms, and three shapes; the second shape may say what varies.
    assert 3 <= report["graphs"] <= 6
    assert 3 <= report["graphs with rotary"] <= 6


def test_how_many_sentences_share_a_row_of_attention_makes_no_other_graph(
    report: dict[str, Any],
) -> None:
    # In bf16 those that fit into a tile have a graph, and those that do not.
    assert 2 <= report["graphs side by side"] <= 6


def test_compiled_dropout_drops_what_it_would_as_written(report: dict[str, Any]) -> None:
    plain, compiled = report["losses with dropout"]
    assert compiled == pytest.approx(plain, rel=SINGLE)


def test_a_validation_compiles_nothing(report: dict[str, Any]) -> None:
    assert report["graphs of a validation"] == 0


def test_a_training_with_compiled_blocks_learns_the_same(report: dict[str, Any]) -> None:
    assert report["difference of what was learnt"] < 10 * SINGLE
    assert report["graphs of a training"] >= 2


def test_a_missing_compiler_is_missed_before_the_text_is_looked_at(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        'source_language = "en"\ntarget_language = "it"\n'
        'corpora.train = [{ path = "there is none.tsv" }]\n'
        'training = { compile = true, device = "cpu" }\nmodel.preset = "tiny"\n'
    )

    done = subprocess.run(
        [sys.executable, "-m", "dragoman", "train", str(recipe), "-o", str(tmp_path / "run")],
        env={**os.environ, "CXX": "no-such-compiler"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert "training.compile = true needs a C++ compiler" in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("there", "named", "is_found"),
    [
        (["gcc"], None, True),
        (["clang"], None, True),
        (["g++"], None, False),
        (["my-cc"], "my-cc", True),
        (["gcc"], "my-cc", False),
    ],
)
def test_blocks_on_a_gpu_need_a_c_compiler(
    there: list[str],
    named: str | None,
    is_found: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in there:
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    if named is not None:
        monkeypatch.setenv("CC", named)
    refused = pytest.raises(DragomanError, match=r"needs a C compiler, .* gcc, .* variable CC")

    with nullcontext() if is_found else refused:
        require_compiler(TrainingConfig(compile=True), torch.device("cuda"))
    require_compiler(TrainingConfig(), torch.device("cuda"))
