"""Reading PO: what programmers wrote as strings arrives as text, with the place of each."""

import ast
import re
import shutil
import subprocess
from gettext import GNUTranslations
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dragoman.corpora.gettext import Entry, PoError, escape, header_fields, read_entries

HEADER = 'msgid ""\nmsgstr ""\n"Language: {}\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n\n'

PLURAL = """# To the translator
#. From the programmer
#: files.c:4
#, fuzzy, c-format
#| msgid "One file"
msgctxt "a menu"
msgid "A file"
msgid_plural "%d files"
msgstr[0] "Un file"
msgstr[1] ""
  "%d "
"file"
"""


def only(text: str) -> Entry:
    (entry,) = read_entries(text)
    return entry


def quoted(text: str) -> str:
    return f'"{escape(text)}"'


# Parity


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_what_is_escaped_is_read_back(text: str) -> None:
    entry = only(f"msgid {quoted(text)}\nmsgstr {quoted(text[::-1])}")

    assert "\n" not in escape(text)
    assert (entry.id, entry.translations) == (text, (text[::-1],))


@given(
    st.lists(
        st.sampled_from([r"\n", r"\t", r"\r", r"\a", r"\b", r"\f", r"\v", r"\"", "\\\\"])
        | st.sampled_from([r"\7", r"\101", r"\0419", r"\x41", r"\x7e", "è", "#", " "])
    )
)
def test_escapes_mean_what_they_mean_to_python(parts: list[str]) -> None:
    string = '"' + "".join(parts) + '"'
    assume(not re.search(r"\\x..[0-9a-fA-F]", string))  # Python reads two digits, C all of them

    assert only(f'msgid "a"\nmsgstr {string}').translations == (ast.literal_eval(string),)


@pytest.mark.skipif(shutil.which("msgfmt") is None, reason="gettext is not installed")
def test_a_file_means_what_it_means_to_gettext(tmp_path: Path) -> None:
    source = HEADER.format("it") + PLURAL.replace("fuzzy, ", "") + (
        'msgid "a" "b\\303\\250"\nmsgstr"c\\x41g" # why\n\n#, no-c-format fuzzy\nmsgid "d"\n'
        'msgstr "e"\n#,fuzzy\n#~ msgid "f"\n#~ msgstr "g"\n\nmsgid\n"h"\n\n"i"\n'
        'msgstr "\\"\\\\\\t\\v"\n\nmsgctxt "x"\nmsgid ""\nmsgstr "j"\n'
    )  # fmt: skip
    (tmp_path / "a.po").write_text(source, encoding="utf-8")
    subprocess.run(
        ["msgfmt", "-o", tmp_path / "a.mo", tmp_path / "a.po"], check=True, capture_output=True
    )
    with (tmp_path / "a.mo").open("rb") as stream:
        compiled = GNUTranslations(stream)._catalog  # type: ignore[attr-defined]

    ours: dict[str | tuple[str, int], str] = {}
    for entry in read_entries(source):
        key = entry.id if entry.context is None else f"{entry.context}\x04{entry.id}"
        if entry.plural is not None:
            ours |= {(key, form): text for form, text in enumerate(entry.translations)}
        elif not entry.is_fuzzy:
            ours[key] = entry.translations[0]

    assert ours == compiled
    assert len(ours) == 6


# What an entry is


def test_an_entry_has_all_its_parts_and_the_line_of_its_text() -> None:
    header, entry = read_entries(HEADER.format("it") + PLURAL)

    assert header.is_header
    assert not entry.is_header
    assert (entry.line, entry.context, entry.id) == (12, "a menu", "A file")
    assert (entry.plural, entry.translations) == ("%d files", ("Un file", "%d file"))
    assert entry.is_fuzzy


def test_an_entry_knows_the_places_that_an_editor_would_change() -> None:
    text = HEADER.format("it") + PLURAL
    _, entry = read_entries(text)

    assert entry.flags is not None
    assert text[entry.flags :].startswith(" fuzzy, c-format\n")
    assert text[entry.keyword :].startswith("msgctxt")
    assert [text[slice(*string)] for string in entry.strings] == [
        'msgstr[0] "Un file"',
        'msgstr[1] ""\n  "%d "\n"file"',
    ]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_lines_may_end_as_on_windows_and_the_file_begin_so(ending: str) -> None:
    text = "\ufeff" + PLURAL.replace("\n", ending)
    entry = only(text)

    assert entry[:5] == only(PLURAL)[:5]
    assert entry.flags is not None
    assert text[entry.flags :].startswith(f" fuzzy, c-format{ending}")
    assert text[slice(*entry.strings[0])] == 'msgstr[0] "Un file"'


@pytest.mark.parametrize(
    ("comments", "flags"),
    [
        ("#, c-format\n#, fuzzy\n", " c-format"),
        ("#, fuzzy\n#, c-format\n", " fuzzy"),
        ("#,range: 0..9 fuzzy\n", "range: 0..9 fuzzy"),
        ("#= fuzzy\n#, c-format\n", " c-format"),
    ],
)
def test_one_of_several_lines_says_that_nobody_confirmed_the_translation(
    comments: str, flags: str
) -> None:
    text = comments + 'msgid "a"\nmsgstr "b"\n'
    entry = only(text)

    assert entry.is_fuzzy
    assert entry.flags is not None
    assert text[entry.flags :].startswith(f"{flags}\n")


@pytest.mark.parametrize("comment", ["# fuzzy", "#. fuzzy", "#, fuzzy-c", "#: fuzzy", "#| fuzzy"])
def test_other_comments_say_nothing_of_the_translation(comment: str) -> None:
    assert not only(f'{comment}\nmsgid "a"\nmsgstr "b"').is_fuzzy


def test_obsolete_entries_and_their_comments_are_none_of_the_next_entry() -> None:
    entry = only('#, fuzzy\n#~ msgid "a"\n#~ msgstr "b"\n\nmsgid "d"\nmsgstr "e"\n#~| msgid "f"\n')

    assert (entry.id, entry.is_fuzzy, entry.flags) == ("d", False, None)


def test_a_text_that_is_empty_is_the_header_unless_it_has_a_context() -> None:
    header, other = read_entries(
        'msgid ""\nmsgstr "X: y:z\\nQ\\n"\nmsgctxt "c"\nmsgid ""\nmsgstr ""'
    )

    assert (header.is_header, other.is_header) == (True, False)
    assert header_fields(header) == {"x": "y:z"}


def test_entries_need_no_line_between_them_and_no_line_feed_after_them() -> None:
    entries = list(read_entries('msgid "a"\nmsgstr "b"\nmsgid "c"\nmsgstr ""'))

    assert [(entry.line, *entry.translations) for entry in entries] == [(1, "b"), (3, "")]


def test_a_text_without_entries_has_none() -> None:
    assert list(read_entries("")) == list(read_entries("# nothing yet\n\n")) == []


@pytest.mark.parametrize("separator", list("\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1e"))
def test_only_a_line_feed_ends_a_line(separator: str) -> None:
    entry = only(f'# {separator}\nmsgid "a{separator}b"\nmsgstr "c"')

    assert (entry.line, entry.id) == (2, f"a{separator}b")


# What is refused


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('msgid "a"\n', "line 1: msgid is not followed by msgstr"),
        ('msgstr "b"\n', "line 1: msgstr stands where msgid is due"),
        ('msgid "a"\n# c\nmsgstr "b"\n', "line 1: msgid is not followed by msgstr"),
        ('msgid "a"\nmsgstr[0] "b"\n', "line 2: msgstr[0] stands where msgstr is due"),
        (
            'msgid "a"\nmsgid_plural "b"\nmsgstr "c"\n',
            "line 3: msgstr stands where msgstr[0] is due",
        ),
        (
            'msgid "a"\nmsgid_plural "b"\nmsgstr[0] "c"\nmsgstr[2] "d"\n',
            "line 4: msgstr[2] stands where msgstr[1] is due",
        ),
        ('msgid "a"\nmsgid_plural "b"', "line 2: msgid_plural is not followed by msgstr[0]"),
        ('msgctxt "a"\nmsgctxt "b"\n', "line 1: msgctxt is not followed by msgid"),
        ('msgid "a"\nmsgstr "b"\nmsgstr "c"', "line 3: msgstr stands in an entry that is whole"),
        ('\n\nmsgid "a\nb"\n', "line 3: a quotation mark is not closed"),
        ('msgid "a"\nmsgstr "b" "c\\"\n', "line 2: a quotation mark is not closed"),
        ('"a"\n', "line 1: a text stands before any msgid that it would belong to"),
        ('msgid "a"\nmsgstr "b"\n# c\n"d"\n', "line 4: a text stands before any msgid"),
        ("cat\tgatto\n", "line 1: what is no comment (#) begins with msgctxt, msgid, msgid_plural"),
        ('msgid "a" b\n', "line 1: what is no comment (#) begins with msgctxt"),
        ('[0] "a"\n', "line 1: what is no comment (#) begins with msgctxt"),
        ('msgids "a"\n', "line 1: what is no comment (#) begins with msgctxt"),
        ('msgid[0] "a"\n', "line 1: only msgstr has a number in brackets, not msgid"),
        ('msgid\nmsgstr "b"\n', "line 1: no text in quotation marks follows msgid"),
        ('msgid ""\n"\\q"\n', "line 2: \\q stands for nothing; a backslash is written \\\\"),
        ('msgid "\\303"\n', "line 1: \\303 stands for no character of UTF-8"),
        ('msgid "\\777"\n', "line 1: \\777 stands for no character of UTF-8"),
    ],
)
def test_what_is_not_po_is_named_by_its_line(text: str, message: str) -> None:
    with pytest.raises(PoError, match=f"^{re.escape(message)}") as caught:
        list(read_entries(text))

    assert "\n" not in str(caught.value)
    assert str(caught.value) == f"line {caught.value.line}: {caught.value.reason}"


LINES = st.sampled_from(
    [
        *('msgid "a"', "msgid", 'msgid_plural "as"', 'msgctxt "c"', 'msgstr "b"', 'msgstr[0] "x"'),
        *('msgstr[1] ""', '  "more"', '"è\\n"', "# c", "#, fuzzy", "#~ msgid", "", "\t", "x", '"'),
    ]
) | st.text(st.sampled_from('msgidtr[0]_plu"\\# ,~'), max_size=9)


@given(st.lists(LINES, max_size=12), st.sampled_from(["\n", "\r\n"]))
def test_a_text_is_refused_or_its_entries_are_where_they_say(lines: list[str], end: str) -> None:
    text = end.join(lines)
    entries: list[Entry] = []
    refused_at = 1
    try:
        entries += read_entries(text)
    except PoError as error:
        refused_at = error.line

    assert 1 <= refused_at <= max(1, len(lines))
    last = 0
    for entry in entries:
        assert last <= entry.keyword < entry.strings[0][0]
        assert text[entry.keyword :].lstrip().startswith(("msgctxt", "msgid"))
        assert text.split("\n")[entry.line - 1].lstrip().startswith("msgid")
        if entry.flags is not None:
            assert text[: entry.flags].endswith("#,")
            assert last < entry.flags < entry.keyword
        for (start, last), translation in zip(entry.strings, entry.translations, strict=True):
            string = text[start:last].removeprefix("msgstr")
            assert string.endswith('"')
            assert (entry.plural is None) == string.lstrip().startswith('"')
            strings = string[string.index('"') :]
            assert only(f'msgid "a"\nmsgstr {strings}').translations == (translation,)
