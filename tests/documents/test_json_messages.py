"""Catalogues of messages in JSON: what people read is translated, and nothing else changes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.documents.translated import READER, translated

from dragoman.documents.document import DocumentError
from dragoman.documents.json_messages import take_json_apart


def in_capitals(text: str) -> str:
    return translated(text, take_json_apart)


@pytest.mark.parametrize(
    ("catalogue", "expected"),
    [
        ('{"a cat" : "A cat."}', '{"a cat" : "A CAT."}'),
        (
            '{\n\t"a": {"b": ["a cat", 1.50, null, "a dog"], "c": ""}\r\n}\n',
            '{\n\t"a": {"b": ["A CAT", 1.50, null, "A DOG"], "c": ""}\r\n}\n',
        ),
        (
            '{"a": "the \\"big\\"\\n\\ncat \\\\ à l\'eau"}',
            '{"a": "THE \\"BIG\\"\\n\\nCAT \\\\ À L\'EAU"}',
        ),
        ('{"a": "caf\\u00e9", "b": "t\\u00e9"}', '{"a": "CAF\\u00c9", "b": "T\\u00c9"}'),
        ('{"a": "caf\\u00e9", "b": "té"}', '{"a": "CAFÉ", "b": "TÉ"}'),
        ('{"a": "a\\\\u00e9", "b": "a cat"}', '{"a": "A\\\\U00E9", "b": "A CAT"}'),
        ('{"a": "b", "a": "c"}', '{"a": "B", "a": "C"}'),
    ],
)
def test_strings_are_translated_and_all_else_stays(catalogue: str, expected: str) -> None:
    assert in_capitals(catalogue) == expected


@pytest.mark.parametrize(
    ("message", "pieces"),
    [
        ("a cat | {count} cats", ["a cat", "{count} cats"]),
        ("{0} none|[1,19] some|[20,*] many", ["none", "some", "many"]),
        ("{0} of it", ["{0} of it"]),
        ("it costs {{ price | euro }} now", ["it costs {{ price | euro }} now"]),
        ("{n, plural, one {# cat} other {# cats}}", ["%d cat", "%d cats"]),
    ],
)
def test_forms_for_several_numbers_are_texts_of_their_own(message: str, pieces: list[str]) -> None:
    catalogue = json.dumps({"a": message})

    assert [piece.strip() for piece in take_json_apart(catalogue, READER).pieces] == pieces
    assert translated(catalogue, take_json_apart, str) == catalogue


def test_of_an_extension_of_a_browser_only_the_messages_are_translated() -> None:
    cat = {"message": "a cat", "description": "for a cat", "placeholders": {"a": {"b": "c"}}}
    assert json.loads(
        in_capitals(json.dumps({"cat": cat, "error": {"message": "no cat", "title": "oh"}}))
    ) == {"cat": {**cat, "message": "A CAT"}, "error": {"message": "NO CAT", "title": "OH"}}


def test_an_arb_file_says_its_new_language_and_keeps_what_is_about_messages() -> None:
    text = '{"@@locale": "en", "cat": "a cat", "@cat": {"description": "a", "x": ["b"]}}'
    assert in_capitals(text) == text.replace('"en"', '"it"').replace("a cat", "A CAT")
    with pytest.raises(DocumentError, match="line 2: it translates from fr, and the model from en"):
        take_json_apart('{\n"@@locale": "fr"}', READER)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"a": "b",\n"c" "d"}', "line 2: this is not JSON: Expecting ':' delimiter"),
        ('[{"title": "a cat"}]', "an object .*, as jq -c '.*' does, and name the field"),
        ('"a cat"', "a catalogue of messages is an object"),
        ("[" * 200_000, "its lists never end"),
        ('{"a":\n"\\ud83d"}', "line 2: half of a character is missing"),
        ("", "line 1: this is not JSON: Expecting value"),
    ],
)
def test_what_is_no_catalogue_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(DocumentError, match=complaint):
        take_json_apart(text, READER)


TEXTS = st.text(st.characters(codec="utf-8"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
)


@given(st.dictionaries(TEXTS, VALUES), st.booleans())
def test_names_and_shape_stay_whatever_the_catalogue(
    catalogue: dict[str, object], ascii_only: bool
) -> None:
    text = json.dumps(catalogue, ensure_ascii=ascii_only, indent=1)

    found = json.loads(translated(text, take_json_apart, lambda _: "cat"))

    assert blank(found) == blank(catalogue)


def blank(value: object) -> object:
    """Leave out what the strings say."""
    if isinstance(value, dict):
        return {name: blank(each) for name, each in value.items()}
    if isinstance(value, list):
        return [blank(each) for each in value]
    return "" if isinstance(value, str) else value
