"""Objects come back with a translation, and otherwise untouched."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.bulk.file_format import Line
from dragoman.bulk.files import in_this_process, rejections_path, translate_files
from dragoman.bulk.form import Rejected
from dragoman.bulk.job import Job
from dragoman.bulk.json_lines import JsonLines, add_field
from dragoman.corpora.text_file import CorpusError

from .test_files import poison


def test_everything_but_the_new_field_stays_as_it_is_written(job: Job, tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    records = [
        '{"id": 1.50, "t": "w1 w2"}',
        '  {"t":"w3\\nw4","big":123456789012345678901234567890 }  \r',
        "",
        '{"t": null, "odd": "\\ud800"}',
        '{"t": "w\\u0031", "\\u0069d": [1e400]}',
    ]
    source.write_bytes("\n".join(records).encode())
    job = replace(job, files=JsonLines((source,), "t", "it"), output=tmp_path / "out.jsonl")

    assert translate_files(job, in_this_process, lambda progress: None) == 0

    lines = job.output.read_bytes().decode().split("\n")
    first, second, third = job.translator.load()(["w1 w2", "w3\nw4", "w1"])
    assert lines == [
        f'{{"id": 1.50, "t": "w1 w2", "it": {json.dumps(first)}}}',
        f'  {{"t":"w3\\nw4","big":123456789012345678901234567890, "it": {json.dumps(second)}}}\r',
        "",
        '{"t": null, "odd": "\\ud800", "it": null}',
        f'{{"t": "w\\u0031", "\\u0069d": [1e400], "it": {json.dumps(third)}}}',
    ]


TEXT = st.text(st.sampled_from('ab"\\{}, \u2028\ud800'), max_size=5)
VALUE = st.none() | st.integers() | TEXT | st.lists(TEXT, max_size=2)


@given(record=st.dictionaries(TEXT, VALUE, max_size=3), value=st.none() | TEXT)
def test_a_field_is_added_to_any_object(record: dict[str, object], value: str | None) -> None:
    record["t"] = "x"
    for written in (json.dumps(record), json.dumps(record, indent=1, ensure_ascii=False)):
        assert json.loads(add_field(written, "new", value)) == {**record, "new": value}


def test_a_record_that_was_set_aside_has_a_null(tmp_path: Path) -> None:
    line = Line("in:1", "a", "\n", '{"t": "a"}')

    written = JsonLines((tmp_path,), "t", "it").write(0, line, Rejected("it fails"))

    assert written == '{"t": "a", "it": null}\n'


def test_a_record_that_utf_8_cannot_hold_is_set_aside_and_the_rest_delivered(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"t": "w1"}\n{"t": "città \\ud800"}\n')
    job = replace(job, files=JsonLines((source,), "t", "it"), output=tmp_path / "out.jsonl")
    poison(monkeypatch, texts=frozenset({"città \ud800"}))

    assert translate_files(job, in_this_process, lambda progress: None) == 1

    first, second = map(json.loads, job.output.read_text().splitlines())
    assert first["it"]
    assert second == {"t": "città \ud800", "it": None}
    aside = rejections_path(job.output).read_text()
    assert json.loads(aside)["text"] == "città \ud800"
    assert "città" in aside  # for people


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (
            "{",
            "2: not JSON: Expecting property name enclosed in double quotes: column 2 (char 1); "
            "write each record on a line of its own, as jq -c '.[]' does with a list",
        ),
        ('{"x":' + "[" * 20_000, "2: not JSON: "),
        ("[1]", "2: not a JSON object, which has fields; write each record on a line of its own"),
        ('{"text": "a", "id": 1}', "2: no field 't'; it has text, id"),
        ('{"t": 3}', "2: the field 't' is neither text nor null"),
        ('{"t": "a", "it": "b"}', "2: there is a field 'it' already; --into names another"),
    ],
)
def test_records_that_cannot_be_translated_are_refused_with_their_place(
    tmp_path: Path, record: str, reason: str
) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"t": "a"}\n' + record)

    with pytest.raises(CorpusError) as error:
        JsonLines((path,), "t", "it").cut(1024)

    assert str(error.value).startswith(f"{path}:{reason}")
