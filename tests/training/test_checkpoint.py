"""A checkpoint is written whole or not at all, and is verified before use."""

import contextlib
import errno
import itertools
import json
import os
import re
import resource
import shutil
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file

from dragoman.training import checkpoint
from dragoman.training.checkpoint import CheckpointError, Checkpoints, misfit

TENSORS = {"weights": {"a": torch.arange(6.0), "b": torch.ones(2, 3)}}


def saved(directory: Path, *updates: int) -> Checkpoints:
    checkpoints = Checkpoints(directory)
    for update in updates:
        checkpoints.save(update, TENSORS, {"update": update})
    return checkpoints


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    newest = saved(tmp_path, 7).newest()

    assert newest is not None
    update, loaded, complaints = newest
    assert (update, complaints) == (7, [])
    assert loaded.values == {"update": 7}
    assert torch.equal(loaded.tensors["weights"]["a"], torch.arange(6.0))


def test_a_tensor_that_is_not_contiguous_is_saved_like_any_other(tmp_path: Path) -> None:
    transposed = torch.arange(6.0).view(2, 3).t()

    Checkpoints(tmp_path).save(1, {"weights": {"a": transposed}}, {})

    assert torch.equal(Checkpoints(tmp_path).load(1).tensors["weights"]["a"], transposed)


def test_only_the_groups_that_are_asked_for_are_loaded(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    checkpoints.save(1, {**TENSORS, "optimizer": {"c": torch.ones(2)}}, {})

    assert checkpoints.load(1, groups=["weights"]).tensors.keys() == {"weights"}
    assert checkpoints.load(1, groups=[]).tensors == {}


def test_the_newest_is_the_one_with_the_highest_number_not_name(tmp_path: Path) -> None:
    newest = saved(tmp_path, 99_999_999, 100_000_000, 5).newest()

    assert newest is not None
    assert newest[0] == 100_000_000


def test_no_checkpoint_is_no_error(tmp_path: Path) -> None:
    assert Checkpoints(tmp_path).newest() is None


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _flip_a_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def _empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("file", ["weights.safetensors", "state.json", "manifest.json"])
@pytest.mark.parametrize("damage", [_truncate, _flip_a_bit, _empty, Path.unlink])
def test_a_damaged_checkpoint_is_passed_over(tmp_path: Path, file: str, damage) -> None:  # type: ignore[no-untyped-def]
    checkpoints = saved(tmp_path, 1, 2)
    damage(checkpoints.path(2) / file)

    newest = checkpoints.newest()

    assert newest is not None
    assert newest[0] == 1
    assert "update-00000002" in newest[2][0]


def test_swapped_files_are_noticed(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    checkpoints.save(1, {"a": {"t": torch.zeros(3)}, "b": {"t": torch.ones(3)}}, {})
    one, other = (checkpoints.path(1) / f"{name}.safetensors" for name in "ab")
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)

    with pytest.raises(CheckpointError, match="is damaged"):
        checkpoints.load(1)


def test_no_intact_checkpoint_is_an_error_not_a_new_beginning(tmp_path: Path) -> None:
    checkpoints = saved(tmp_path, 1, 2)
    for update in (1, 2):
        _truncate(checkpoints.path(update) / "weights.safetensors")

    with pytest.raises(CheckpointError, match="no checkpoint can be used"):
        checkpoints.newest()


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    checkpoints = saved(tmp_path, 1)
    path = checkpoints.path(1) / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format_version": 2}))

    with pytest.raises(CheckpointError, match="format 2; this release reads 1"):
        checkpoints.load(1)


def test_pruning_keeps_what_it_is_told(tmp_path: Path) -> None:
    checkpoints = saved(tmp_path, 1, 2, 3, 4, 5)

    checkpoints.prune({1, 4, 5})

    assert checkpoints.updates() == [1, 4, 5]


def test_saving_again_leaves_what_is_there(tmp_path: Path) -> None:
    checkpoints = saved(tmp_path, 1)

    checkpoints.save(1, {"weights": {"a": torch.zeros(1)}}, {})

    assert torch.equal(checkpoints.load(1).tensors["weights"]["a"], torch.arange(6.0))


def test_a_full_disk_leaves_the_last_good_checkpoint(tmp_path: Path) -> None:
    checkpoints = saved(tmp_path, 1)
    large = {"weights": {"a": torch.zeros(100_000)}}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        with pytest.raises(CheckpointError, match="update-00000002: cannot write"):
            checkpoints.save(2, large, {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    newest = checkpoints.newest()
    assert newest is not None
    assert newest[0] == 1
    assert [path.name for path in tmp_path.iterdir()] == ["update-00000001"]


@pytest.mark.parametrize("flushed", [0, 1, 2])
def test_a_disk_that_fails_leaves_the_last_good_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flushed: int
) -> None:
    checkpoints = saved(tmp_path, 1)
    flushes = itertools.count()
    fsync = os.fsync

    def fail(descriptor: int) -> None:
        if next(flushes) >= flushed:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        fsync(descriptor)

    monkeypatch.setattr("os.fsync", fail)

    with pytest.raises(CheckpointError, match=r"00000002: cannot write .*Input/output error"):
        checkpoints.save(2, TENSORS, {})

    newest = checkpoints.newest()
    assert newest is not None
    assert newest[0] == 1
    assert [path.name for path in tmp_path.iterdir()] == ["update-00000001"]


def _save_and_die(directory: Path, stage: int) -> int:
    """Save twice; die at a stage of the second save. Return how many stages there were."""
    stages = 0

    def dies_at(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **settings: Any) -> Any:
            nonlocal stages
            stages += 1
            if stages == stage:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **settings)

        return call

    checkpoints = saved(directory, 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoint, "save_file", dies_at(save_file))
        patch.setattr(os, "fsync", dies_at(os.fsync))
        patch.setattr(Path, "rename", dies_at(Path.rename))
        patch.setattr(Path, "write_text", dies_at(Path.write_text))
        checkpoints.save(2, {"weights": {"a": torch.ones(3)}, "more": {"b": torch.ones(3)}}, {})
    return stages


def test_a_kill_at_any_stage_of_a_save_leaves_a_checkpoint_that_verifies(tmp_path: Path) -> None:
    num_stages = _save_and_die(tmp_path / "all", 0)
    assert num_stages >= 10
    for stage in range(1, num_stages + 1):
        child = os.fork()
        if child == 0:
            _save_and_die(tmp_path / str(stage), stage)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL

        newest = Checkpoints(tmp_path / str(stage)).newest()
        assert newest is not None
        update, intact, _ = newest
        assert intact.tensors["weights"]["a"].sum() == (15 if update == 1 else 3)


def test_what_a_kill_left_of_an_old_checkpoint_is_deleted_when_the_run_goes_on(
    tmp_path: Path,
) -> None:
    checkpoints = saved(tmp_path, 1, 2, 3)
    checkpoints.path(1).rename(checkpoints.path(1).with_suffix(".tmp"))  # was being deleted

    checkpoints.go_back_to(2)

    assert sorted(path.name for path in checkpoints.directory.iterdir()) == [
        "update-00000002",
        "update-00000003.damaged",
    ]


def test_an_update_may_be_damaged_more_than_once(tmp_path: Path) -> None:
    for _ in range(2):
        saved(tmp_path, 1, 2).go_back_to(1)

    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "update-00000001",
        "update-00000002.damaged",
    ]


def test_nothing_of_a_save_that_was_killed_gets_into_the_next(tmp_path: Path) -> None:
    half = tmp_path / "update-00000001.tmp"
    half.mkdir()
    save_file({"c": torch.ones(2)}, half / "average.safetensors")

    assert saved(tmp_path, 1).load(1).tensors.keys() == {"weights"}


def test_a_checkpoint_has_all_its_names_on_the_disk_before_it_has_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: dict[str, list[str]] = {}
    fsync = os.fsync

    def remember(descriptor: int) -> None:
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        if path.is_dir():
            flushed[path.name] = sorted(inside.name for inside in path.iterdir())
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", remember)
    checkpoints = saved(tmp_path, 1)

    names = sorted(path.name for path in checkpoints.path(1).iterdir())
    assert flushed == {"update-00000001.tmp": names, tmp_path.name: ["update-00000001"]}


def test_a_checkpoint_of_no_use_to_the_run_is_passed_over_with_the_reason(tmp_path: Path) -> None:
    checkpoints = saved(tmp_path, 1, 2)

    newest = checkpoints.newest(lambda found: "foreign" if found.values["update"] == 2 else None)

    assert newest is not None
    assert (newest[0], newest[2]) == (1, [f"{checkpoints.path(2)}: foreign"])


@pytest.mark.parametrize(
    ("group", "tensors", "message"),
    [
        ("weights", {"a": torch.zeros(6)}, "weights lacks b"),
        ("weights", {**TENSORS["weights"], "c": torch.zeros(1)}, "weights has c"),
        ("weights", {**TENSORS["weights"], "a": torch.zeros(1)}, r"a of weights has shape \[1\]"),
        (
            "weights",
            {**TENSORS["weights"], "b": torch.zeros(3, 2)},
            r"\[3, 2\] instead of \[2, 3\]",
        ),
        ("average", {"a": torch.zeros(6)}, "average has a"),
    ],
)
def test_tensors_of_another_model_are_named(
    group: str, tensors: dict[str, torch.Tensor], message: str
) -> None:
    expected = {"weights": {"a": (6,), "b": (2, 3)}}

    assert misfit(expected, TENSORS) is None
    assert misfit(expected, {}) == "weights lacks a"
    assert re.search(message, misfit(expected, {**TENSORS, group: tensors}) or "")


@pytest.mark.parametrize(
    "manifest",
    [
        "[]",
        "[" * 100_000,
        '{"format_version": 1}',
        '{"format_version": 1, "files": 3}',
        '{"format_version": 1, "files": {}}',
        '{"format_version": 1, "files": {"../x": {}}}',
    ],
)
def test_a_manifest_that_makes_no_sense_is_refused(tmp_path: Path, manifest: str) -> None:
    checkpoints = saved(tmp_path, 1)
    (checkpoints.path(1) / "manifest.json").write_text(manifest)

    with pytest.raises(CheckpointError, match="update-00000001: "):
        checkpoints.load(1)


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_no_flipped_bit_and_no_cut_goes_unnoticed(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        checkpoints = saved(Path(folder), 1)
        path = data.draw(st.sampled_from(sorted(checkpoints.path(1).iterdir())))
        content = bytearray(path.read_bytes())
        place = data.draw(st.integers(0, len(content) - 1))
        if data.draw(st.booleans()):
            content[place] ^= 1 << data.draw(st.integers(0, 7))
        else:
            del content[place:]
        path.write_bytes(content)

        with contextlib.suppress(CheckpointError):
            found = checkpoints.load(1)  # only white space or a letter's case may have changed
            assert found.values == {"update": 1}
            assert all(
                torch.equal(found.tensors["weights"][n], t) for n, t in TENSORS["weights"].items()
            )
            assert path.name == "manifest.json"


def test_half_of_a_checkpoint_never_has_the_name_of_a_whole_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoints = saved(tmp_path, 1, 2)

    def interrupted(path: Path, **options: object) -> None:
        next(path.iterdir()).unlink()
        raise KeyboardInterrupt

    monkeypatch.setattr("shutil.rmtree", interrupted)
    with pytest.raises(KeyboardInterrupt):
        checkpoints.prune({2})

    assert checkpoints.updates() == [2]


def test_what_cannot_be_saved_is_not_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=1_000_000)
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)

    message = r"needs 1\.1 MiB and 1\.0 MiB are free; make space"
    with pytest.raises(CheckpointError, match=message):
        Checkpoints(tmp_path).require_space(1_000_000)
    with pytest.raises(CheckpointError, match=message):
        Checkpoints(tmp_path).save(1, {"weights": {"a": torch.zeros(250_000)}}, {})
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("file", "content"),
    [("weights.safetensors", b"no tensors"), ("state.json", b"{"), ("state.json", b"[" * 100_000)],
)
def test_a_file_that_was_written_like_this_and_makes_no_sense_is_refused(
    tmp_path: Path, file: str, content: bytes
) -> None:
    checkpoints = saved(tmp_path, 1)
    path = checkpoints.path(1)
    (path / file).write_bytes(content)
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["files"][file] = checkpoint._fingerprint(path / file)
    (path / "manifest.json").write_text(json.dumps(manifest))

    with pytest.raises(CheckpointError, match="update-00000001: cannot be read: "):
        checkpoints.load(1)
