"""TOML becomes configurations, and what they do not declare is refused."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from dragoman.config import from_table, read_table, set_key, to_table
from dragoman.corpora.config import CorporaConfig
from dragoman.errors import DragomanError, UsageError


@dataclass(frozen=True, kw_only=True)
class Inner:
    rate: float = 0.5
    kind: Literal["a", "b"] = "a"

    def __post_init__(self) -> None:
        if self.rate < 0:
            raise ValueError(f"rate = {self.rate} should not be negative")


@dataclass(frozen=True, kw_only=True)
class Other:
    depth: int = 1


@dataclass(frozen=True, kw_only=True)
class Outer:
    name: str
    size: int | None = None
    inner: Inner = Inner()
    other: Other = Other()
    several: tuple[Inner, ...] = ()


def test_tables_become_configurations_and_back() -> None:
    table = {"name": "x", "size": 3, "inner": {"rate": 1, "kind": "b"}, "several": [{"rate": 2.0}]}

    outer = from_table(Outer, table)

    assert outer == Outer(
        name="x", size=3, inner=Inner(rate=1.0, kind="b"), several=(Inner(rate=2.0),)
    )
    assert from_table(Outer, to_table(outer)) == outer


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"nmae": "x"}, "unknown key nmae; did you mean name?"),
        ({"name": "x", "inner": {"rtae": 1}}, "unknown key inner.rtae; did you mean inner.rate?"),
        ({"name": "x", "rate": 1}, "unknown key rate; did you mean inner.rate?"),
        ({"name": "x", "inner": {"naame": 1}}, "unknown key inner.naame; did you mean name?"),
        ({"name": "x", "inner": {"size": 1}}, "unknown key inner.size; did you mean size?"),
        ({"name": "x", "other": {"rate": 1}}, "unknown key other.rate; did you mean inner.rate?"),
        (
            {"name": "x", "zzz": 1},
            "unknown key zzz; the keys are name, size, inner, other, several",
        ),
        ({}, "name is missing"),
        ({"name": 3}, "name = 3 should be a text"),
        ({"name": "a\0b"}, r"name = 'a\x00b' has a NUL character, which is not allowed; remove it"),
        (
            {"name": "\udce9"},
            r"name = '\udce9' is not UTF-8 and cannot be written down; change it, or "
            "rename the file",
        ),
        ({"name": "x", "size": "5"}, "size = '5' should be a whole number"),
        ({"name": "x", "size": True}, "size = True should be a whole number"),
        ({"name": "x", "inner": {"kind": "c"}}, "inner.kind = 'c' should be one of 'a', 'b'"),
        ({"name": "x", "inner": 3}, "inner = 3 should be a section"),
        ({"name": "x", "inner": "3"}, "inner = '3' should be a section"),
        ({"name": "x", "inner": {"rate": -1}}, "inner.rate = -1.0 should not be negative"),
        ({"name": "x", "inner": {"rate": -(10**400)}}, "inner.rate = -inf should not be negative"),
        ({"name": "x", "several": {"rate": 1}}, "several = {rate = 1} should be a list"),
        ({"name": "x", "several": [{"rate": "1"}]}, r"several[0].rate = '1' should be a number"),
    ],
)
def test_the_bad_key_is_named(table: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as error:
        from_table(Outer, table)

    assert str(error.value) == message


def test_a_corpus_without_its_braces_is_shown_with_them() -> None:
    with pytest.raises(
        UsageError, match=r"^train = 'a' should be a list, as \[{ path = \"a\" }\]$"
    ):
        from_table(CorporaConfig, {"train": "a"})
    with pytest.raises(
        UsageError, match=r"^train\[0\] = 'a' should be a section, as { path = \"a\" }$"
    ):
        from_table(CorporaConfig, {"train": ["a"]})


def test_assignments_are_toml_or_text() -> None:
    table: dict[str, Any] = {"inner": {"rate": 0.1}}

    set_key(table, "inner.rate=2")
    set_key(table, "name=plain text")
    set_key(table, 'several=[{kind="b"}]')
    set_key(table, f"size={'1' * 5000}")  # more digits than Python reads

    assert table.pop("size") == "1" * 5000
    assert table == {"inner": {"rate": 2}, "name": "plain text", "several": [{"kind": "b"}]}


@pytest.mark.parametrize("assignment", ["name", "inner.rate.deeper=1"])
def test_an_assignment_that_leads_nowhere_is_refused(assignment: str) -> None:
    with pytest.raises(UsageError, match="--set"):
        set_key({"inner": {"rate": 0.1}}, assignment)


@pytest.mark.parametrize("assignment", ["inner={rate=2}", "inner=2", "new={rate=2}"])
def test_a_whole_section_is_not_assigned(assignment: str) -> None:
    """What else it says would be lost without a word."""
    table: dict[str, Any] = {"inner": {"rate": 0.1, "kind": "a"}}

    with pytest.raises(UsageError, match=r"would be a whole section; write .* as \w+\.key=value"):
        set_key(table, assignment)

    assert table == {"inner": {"rate": 0.1, "kind": "a"}}


def test_a_file_that_is_not_toml_is_named(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text("= 3")

    with pytest.raises(UsageError, match=r"recipe\.toml: not a TOML file"):
        read_table(path)
    for value in ("[" * 5000, "1" * 5000):  # more than Python reads
        path.write_text(f"a = {value}")
        with pytest.raises(UsageError, match=r"recipe\.toml: not a TOML file"):
            read_table(path)
    with pytest.raises(DragomanError, match="there is no such file"):
        read_table(tmp_path / "missing.toml")
