"""What is installed is what stands here."""

import zipfile
from pathlib import Path

import pytest
from hatchling.build import build_wheel

ROOT = Path(__file__).parents[2]


def test_the_wheel_holds_every_file_of_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = ROOT / "src" / "dragoman"
    here = {
        path.relative_to(package.parent).as_posix()
        for path in package.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    monkeypatch.chdir(ROOT)  # where a build backend is called

    with zipfile.ZipFile(tmp_path / build_wheel(str(tmp_path))) as wheel:
        packed = {name for name in wheel.namelist() if name.startswith("dragoman/")}

    assert {Path(name).suffix for name in here} >= {".py", ".js", ".toml", ".tsv"}
    assert packed == here
