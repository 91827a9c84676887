"""Whatever happens to a conversion, what stood in its place is not lost."""

import errno
import fcntl
import json
import os
from pathlib import Path

import pytest

from dragoman.errors import UsageError
from dragoman.interop.staging import OutputError, staging
from dragoman.model_directory import CHECKSUMS, LARGEST_CONFIG, WEIGHTS_OF_ORIGIN

WEIGHTS = "model.bin"


def export(output: Path, weights: str) -> None:
    with staging(output, weights_name=WEIGHTS) as directory:
        (directory / "config.json").write_text(json.dumps({WEIGHTS_OF_ORIGIN: "0"}))
        (directory / WEIGHTS).write_text(weights)


@pytest.fixture
def output(tmp_path: Path) -> Path:
    export(tmp_path / "out", "earlier")
    return tmp_path / "out"


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_an_earlier_export_is_replaced(output: Path) -> None:
    export(output, "newer")

    assert (output / WEIGHTS).read_text() == "newer"
    assert names(output.parent) == ["out"]


def test_an_export_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output, fsync = tmp_path / "out", os.fsync
    flushed: list[tuple[str, bool]] = []

    def remember(descriptor: int) -> None:
        flushed.append((Path(f"/proc/self/fd/{descriptor}").readlink().name, output.exists()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", remember)
    export(output, "new")

    before = [(name, False) for name in (".out.writing", "config.json", WEIGHTS)]
    assert sorted(flushed[:3]) == before
    assert flushed[3:] == [(tmp_path.name, True)]


@pytest.mark.parametrize("name", ["index.html", "checkpoint-500/model.bin"])
def test_what_somebody_has_put_beside_an_export_is_not_lost(output: Path, name: str) -> None:
    (output / name).parent.mkdir(exist_ok=True)
    (output / name).write_text("of somebody")

    with pytest.raises(OutputError, match=f"{output}: it is not an export"):
        export(output, "newer")

    assert (output / name).read_text() == "of somebody"


def test_an_export_that_somebody_has_trained_further_is_not_lost(output: Path) -> None:
    (output / WEIGHTS).write_text("trained")

    with pytest.raises(OutputError, match=f"{output}: it is not an export"):
        export(output, "newer")

    assert (output / WEIGHTS).read_text() == "trained"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff",
        b"[1]",
        b"5",
        b"[" * 100_000,
        b'{"model_type": "marian"}',  # of somebody else
        json.dumps({WEIGHTS_OF_ORIGIN: "0"}).encode().ljust(LARGEST_CONFIG + 1),
        json.dumps({WEIGHTS_OF_ORIGIN: "0", CHECKSUMS: 5}).encode(),
        json.dumps({WEIGHTS_OF_ORIGIN: "0", CHECKSUMS: [WEIGHTS]}).encode(),
    ],
)
def test_what_has_a_config_of_any_other_form_is_not_lost(output: Path, content: bytes) -> None:
    (output / "config.json").write_bytes(content)

    with pytest.raises(OutputError, match=f"{output}: it is not an export"):
        export(output, "newer")

    assert (output / WEIGHTS).read_text() == "earlier"


def test_what_finder_of_macos_leaves_in_a_directory_is_not_in_the_way(
    output: Path, tmp_path: Path
) -> None:
    for directory in (output, tmp_path / "empty"):
        directory.mkdir(exist_ok=True)
        (directory / ".DS_Store").touch()

        export(directory, "newer")

        assert names(directory) == ["config.json", WEIGHTS]


def test_an_export_of_another_format_is_not_lost(output: Path) -> None:
    refused = pytest.raises(OutputError, match=f"{output}: it is not an export")
    with refused, staging(output, weights_name="decoder.onnx"):
        pytest.fail("it was computed")

    assert (output / WEIGHTS).read_text() == "earlier"


@pytest.mark.parametrize("is_there", [True, False])
def test_a_damaged_export_that_nobody_edits_is_replaced(output: Path, is_there: bool) -> None:
    (output / WEIGHTS).write_text("damaged")
    if not is_there:
        (output / WEIGHTS).unlink()

    with staging(output, weights_name=WEIGHTS, is_edited=False) as directory:
        (directory / "config.json").write_text("{}")
        (directory / WEIGHTS).write_text("newer")

    assert (output / WEIGHTS).read_text() == "newer"


def test_what_somebody_has_put_beside_an_export_that_nobody_edits_is_not_lost(
    output: Path,
) -> None:
    (output / "index.html").write_text("of somebody")

    refused = pytest.raises(OutputError, match=f"{output}: it is not an export")
    with refused, staging(output, weights_name=WEIGHTS, is_edited=False):
        pytest.fail("it was computed")

    assert (output / "index.html").read_text() == "of somebody"


def test_a_second_process_is_refused_and_disturbs_nothing(output: Path) -> None:
    with staging(output, weights_name=WEIGHTS) as directory:
        (directory / "config.json").write_text(json.dumps({WEIGHTS_OF_ORIGIN: "0"}))
        (directory / WEIGHTS).write_text("newer")
        with pytest.raises(OutputError, match=f"{output}: another process is writing it; wait"):
            export(output, "of another process")
        assert (directory / WEIGHTS).read_text() == "newer"

    assert (output / WEIGHTS).read_text() == "newer"
    assert names(output.parent) == ["out"]


def test_what_an_interruption_has_left_is_cleared_away(output: Path) -> None:
    left = output.with_name(".out.writing")
    (left / "folder").mkdir(parents=True)
    (left / "folder" / "file").write_text("half")
    (left / "file").write_text("half")
    (output.parent / "photographs").mkdir()
    (left / "link").symlink_to(output.parent / "photographs")

    export(output, "newer")

    assert names(output) == ["config.json", WEIGHTS]
    assert names(output.parent) == ["out", "photographs"]


def test_what_a_link_leads_to_is_left_alone(output: Path, tmp_path: Path) -> None:
    (tmp_path / "photographs").mkdir()
    (tmp_path / "photographs" / "holiday.jpg").write_text("sea")
    output.with_name(".out.writing").symlink_to(tmp_path / "photographs")

    with pytest.raises(OutputError, match=f"{output}: cannot be written"):
        export(output, "newer")

    assert (tmp_path / "photographs" / "holiday.jpg").exists()
    assert (output / WEIGHTS).read_text() == "earlier"


def test_a_directory_that_was_put_in_its_place_meanwhile_is_not_taken(
    output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process finishes after this one has opened the directory that both use."""
    left = output.with_name(".out.writing")
    left.mkdir()
    lock = fcntl.flock

    def finish_first(descriptor: int, how: int) -> None:
        left.rename(output.with_name("elsewhere"))
        lock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", finish_first)
    with pytest.raises(OutputError, match="another process is writing it"):
        export(output, "newer")

    assert (output / WEIGHTS).read_text() == "earlier"


def test_the_next_ones_directory_is_not_removed(
    output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process begins as soon as this one has given its directory the output's name."""
    rename = Path.rename

    def rename_and_begin(path: Path, target: Path) -> Path:
        renamed = rename(path, target)
        if path.name == ".out.writing":
            path.mkdir()
            (path / "file").write_text("of the next one")
        return renamed

    monkeypatch.setattr(Path, "rename", rename_and_begin)
    export(output, "newer")

    assert (output.with_name(".out.writing") / "file").exists()


def test_a_full_disk_is_named(output: Path) -> None:
    full = pytest.raises(OSError, match="No space left")
    with full as error, staging(output, weights_name=WEIGHTS):
        raise OSError(errno.ENOSPC, "No space left on device")

    assert error.value.filename == str(output)


def test_an_export_that_fails_leaves_the_earlier_one(output: Path) -> None:
    def fail_half_way() -> None:
        with staging(output, weights_name=WEIGHTS) as directory:
            (directory / WEIGHTS).write_text("half")
            raise KeyError

    with pytest.raises(KeyError):
        fail_half_way()

    assert (output / WEIGHTS).read_text() == "earlier"
    assert names(output.parent) == ["out"]


def test_an_import_that_fails_leaves_no_new_directories(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()

    with pytest.raises(KeyError), staging(tmp_path / "kept" / "new" / "out"):
        raise KeyError

    assert names(tmp_path) == ["kept"]
    assert names(tmp_path / "kept") == []


def test_a_directory_that_cannot_take_its_place_leaves_the_earlier_one(
    output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def refuse(self: Path, target: Path) -> Path:
        if self.name.endswith(".writing"):
            raise OSError(16, "Device or resource busy")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refuse)

    with pytest.raises(OSError, match="busy"):
        export(output, "newer")

    assert (output / WEIGHTS).read_text() == "earlier"
    assert names(output.parent) == ["out"]


def test_an_interruption_between_two_renames_is_mended(output: Path) -> None:
    output.rename(output.with_name(".out.earlier"))

    with pytest.raises(OutputError, match="it exists already"), staging(output):
        pass

    assert (output / WEIGHTS).read_text() == "earlier"


def test_an_interruption_after_two_renames_is_mended(output: Path) -> None:
    earlier = output.with_name(".out.earlier")
    earlier.mkdir()
    (earlier / WEIGHTS).write_text("earlier still")

    export(output, "newer")

    assert (output / WEIGHTS).read_text() == "newer"
    assert names(output.parent) == ["out"]


def test_a_name_under_which_weights_cannot_be_read_is_refused_before_anything_is_computed(
    tmp_path: Path,
) -> None:
    output = tmp_path / os.fsdecode(b"caf\xe9")

    with pytest.raises(UsageError, match="as this name is not UTF-8; rename"), staging(output):
        pytest.fail("it was computed")

    assert names(tmp_path) == []


def test_a_mount_point_is_refused_before_anything_is_computed(
    output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "is_mount", lambda self: self == output)

    with pytest.raises(OutputError, match=r"out: this directory .* is a mount point; name one"):
        export(output, "newer")


def test_the_directory_that_one_is_in_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(OutputError, match=r"this directory .* you are in it; name one"):
        export(Path(), "newer")


def test_an_export_of_release_0_1_0_which_lists_no_files_is_replaced(output: Path) -> None:
    (output / "config.json").write_text(json.dumps({WEIGHTS_OF_ORIGIN: "0"}))

    export(output, "newer")

    assert (output / WEIGHTS).read_text() == "newer"
