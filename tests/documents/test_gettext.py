"""PO files: what is not translated is filled in, and nothing else changes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.documents.translated import READER, translated

from dragoman.corpora.gettext import escape, read_entries
from dragoman.documents.document import DocumentError
from dragoman.documents.gettext import take_po_apart
from dragoman.markup.text_reader import TextReader

HEADER = 'msgid ""\nmsgstr ""\n"Language: it\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n\n'


def po(entry: str) -> str:
    return translated(HEADER + entry, take_po_apart).removeprefix(HEADER)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ('msgid "A cat"\nmsgstr ""\n', '#, fuzzy\nmsgid "A cat"\nmsgstr "A CAT"\n'),
        (
            '# by hand\n#: a.c:1\n#, c-format\nmsgctxt "menu"\nmsgid "A %s cat"\nmsgstr ""',
            '# by hand\n#: a.c:1\n#, fuzzy, c-format\nmsgctxt "menu"\nmsgid "A %s cat"\n'
            'msgstr "A %S CAT"',
        ),
        (
            '#, fuzzy\nmsgid "A \\"cat\\"\\t\\\\"\nmsgstr ""\n""\n',
            '#, fuzzy\nmsgid "A \\"cat\\"\\t\\\\"\nmsgstr "A \\"CAT\\"\\t\\\\"\n',
        ),
        (
            'msgid ""\n"A cat.\\n"\n"A dog.\\n"\nmsgstr ""\n',
            '#, fuzzy\nmsgid ""\n"A cat.\\n"\n"A dog.\\n"\nmsgstr ""\n"A CAT.\\n"\n"A DOG.\\n"\n',
        ),
        (
            'msgid "a cat"\nmsgid_plural "cats"\nmsgstr[0] ""\nmsgstr[1] ""\nmsgstr[2] ""\n',
            '#, fuzzy\nmsgid "a cat"\nmsgid_plural "cats"\nmsgstr[0] "A CAT"\nmsgstr[1] "CATS"\n'
            'msgstr[2] "CATS"\n',
        ),
        (
            'msgid "a cat"\nmsgid_plural "cats"\nmsgstr[0] ""\n',
            '#, fuzzy\nmsgid "a cat"\nmsgid_plural "cats"\nmsgstr[0] "CATS"\n',
        ),
    ],
)
def test_what_has_no_translation_gets_one(entry: str, expected: str) -> None:
    assert po(entry) == expected


def test_the_form_for_one_thing_is_that_which_the_header_says() -> None:
    header = HEADER.replace(
        '"Content', '"Plural-Forms: nplurals=3; plural=n==0 ? 0 : n==1 ? 1 : 2;\\n"\n"Content'
    )
    entry = 'msgid "a cat"\nmsgid_plural "cats"\nmsgstr[0] ""\nmsgstr[1] ""\nmsgstr[2] ""\n'
    assert translated(header + entry, take_po_apart).endswith(
        'msgstr[0] "CATS"\nmsgstr[1] "A CAT"\nmsgstr[2] "CATS"\n'
    )


def test_line_breaks_around_and_between_words_stay() -> None:
    entry = 'msgid "\\n  <b>\\n  A cat\\n  </b>\\n\\tA dog\\n"\nmsgstr ""\n'
    found = list(read_entries(translated(HEADER + entry, take_po_apart)))[1]
    assert found.translations == ("\n  <b>\n  A CAT\n  </b>\n\tA DOG\n",)
    escaped = 'msgid "C:\\\\new\\nA cat\\\\n"\nmsgstr ""\n'  # a path, and an escape of the program
    found = list(read_entries(translated(HEADER + escaped, take_po_apart, str)))[1]
    assert found.translations == (found.id,)


@pytest.mark.parametrize(
    ("message", "pieces", "translation"),
    [
        ("_File", ["File"], "_FILE"),
        ("Save &as…", ["Save as…"], "SAVE &AS…"),
        ("<b>_OK</b>", ["OK"], "<b>_OK</b>"),
        ("&Save or &close", ["&Save or &close"], None),
        ("&amp; _x_ R&D a_b %s&nbsp;", ["&amp; _x_ R&D a_b %s&nbsp;"], None),
        ("Use:\n  -h, --help X  help\n  -v\tversion", ["Use:", "help", "version"], None),
        ("Use:\n  --help  help\n  --quiet X  no text", ["Use:", "help", "no text"], None),
        ("Name\tA cat\n\tb   c", ["Name", "A cat", "b", "c"], "NAME\tA CAT\n\tB   C"),
        ("A cat.  A dog.", ["A cat.  ", "A dog."], None),
        ("A  cat", ["A  cat"], None),
        (
            "{n, plural, one {# cat} other {# cats}}",
            ["%d cat", "%d cats"],
            "{n, plural, one {# CAT} other {# CATS}}",
        ),
    ],
)
def test_what_a_program_looks_for_in_a_message_stays(
    message: str, pieces: list[str], translation: str | None
) -> None:
    text = f'{HEADER}msgid "{escape(message)}"\nmsgstr ""\n'
    assert take_po_apart(text, READER).pieces == pieces
    found = translated(text, take_po_apart, lambda piece: piece.upper().replace("%D", "%d"))
    assert translation in (None, list(read_entries(found))[1].translations[0])


def test_an_accelerator_is_before_a_letter_of_the_translation() -> None:
    text = HEADER + 'msgid "Save _as"\nmsgstr ""\n'
    assert 'msgstr "_Salva con nome"' in translated(text, take_po_apart, lambda _: "Salva con nome")
    assert 'msgstr "Poi _AS"' in translated(text, take_po_apart, lambda _: "Poi AS")
    assert 'msgstr "12"' in translated(text, take_po_apart, lambda _: "12")


@pytest.mark.parametrize(
    ("message", "translations", "expected"),
    [
        ("_Open...", {"Open...": "開く..."}, "開く(_O)..."),
        ("Save &as:", {"Save as:": "另存为："}, "另存为(&A)："),
        ("_File", {"File": "파일"}, "파일(_F)"),
        ("GNOME _Help", {"GNOME Help": "GNOME ヘルプ"}, "GNOME ヘルプ(_H)"),
        ("&Open\tCtrl+O", {"Open": "開く"}, "開く(&O)\tCtrl+O"),
        ("&Open\tCtrl+O", {"Open": "Apri"}, "&Apri\tCtrl+O"),
        ("_Stop %s", {"Stop %s": "Ferma %s"}, "_Ferma %s"),
        ("_Open {o}", {"Open {o}": "{o} wird gezeigt"}, "{o} _wird gezeigt"),
        (
            "_Go <b>on</b>",
            {"Go on": "Via di qui", "Go ": "di qui", "on": "Via"},
            "<b>_Via</b> di qui",
        ),
    ],
)
def test_an_accelerator_is_a_letter_of_a_word_that_a_key_has(
    message: str, translations: dict[str, str], expected: str
) -> None:
    text = f'{HEADER}msgid "{escape(message)}"\nmsgstr ""\n'
    found = translated(text, take_po_apart, lambda piece: translations.get(piece, piece))
    assert list(read_entries(found))[1].translations == (expected,)


@pytest.mark.parametrize("start", ["", 'msgid ""\nmsgstr ""\n\n'])
def test_a_file_without_a_header_gets_one(start: str) -> None:
    text = start + 'msgid "A cat"\nmsgstr ""\n'
    header = (
        'msgid ""\nmsgstr ""\n"Language: it\\n"\n'
        '"Content-Type: text/plain; charset=UTF-8\\n"\n"Content-Transfer-Encoding: 8bit\\n"\n\n'
    )
    assert translated(text, take_po_apart) == f'{header}#, fuzzy\nmsgid "A cat"\nmsgstr "A CAT"\n'
    assert translated("# empty\n", take_po_apart) == "# empty\n"


@pytest.mark.parametrize(
    "entry",
    [
        'msgid "A cat"\nmsgstr "Un gatto"\n',
        '#, fuzzy\nmsgid "A cat"\nmsgstr "Un cane"\n',
        'msgid "a cat"\nmsgid_plural "cats"\nmsgstr[0] "gatto"\nmsgstr[1] ""\n',
        '#~ msgid "A cat"\n#~ msgstr ""\n',
    ],
)
def test_what_has_a_translation_stays(entry: str) -> None:
    assert po(entry) == entry


def test_line_ends_of_windows_stay() -> None:
    text = HEADER + 'msgid "A cat.\\nA dog."\nmsgid_plural "Cats."\nmsgstr[0] ""\nmsgstr[1] ""\n'
    found = translated(text.replace("\n", "\r\n"), take_po_apart)
    assert "\n" not in found.replace("\r\n", "")
    assert "#, fuzzy\r\n" in found
    assert 'msgstr[0] ""\r\n"A CAT.\\n"\r\n"A DOG."\r\nmsgstr[1] "CATS."\r\n' in found


@pytest.mark.parametrize("charset", ["CHARSET", "ASCII", "US-ASCII"])
def test_a_template_gets_its_language_and_encoding(charset: str) -> None:
    template = (
        '#, fuzzy\nmsgid ""\nmsgstr ""\n"Language: \\n"\n'
        f'"Content-Type: text/plain; charset={charset}\\n"\n\nmsgid "A cat"\nmsgstr ""\n'
    )
    found = translated(template, take_po_apart)
    assert '"Language: it\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"' in found
    assert 'msgstr "A CAT"' in found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEADER.replace("it", "de"), r"line 1: it translates into de, and the model into it"),
        (HEADER.replace("UTF-8", "ISO-8859-1"), r"line 1: .*ISO-8859-1; convert it, as with msgc"),
        (HEADER + "A cat\n", "line 6: "),
        (HEADER + 'msgid "a"\nmsgid_plural "b"\nmsgstr[0] ""\n# x\nmsgstr[1] ""\n', "line 10: "),
    ],
)
def test_what_cannot_be_translated_is_refused(text: str, said: str) -> None:
    with pytest.raises(DocumentError, match=said):
        take_po_apart(text, READER)


@pytest.mark.parametrize("code", ["it_CH", "it@euro"])
def test_a_region_makes_no_other_language(code: str) -> None:
    text = HEADER.replace("it", code) + 'msgid "A cat"\nmsgstr ""\n'
    assert "A CAT" in translated(text, take_po_apart)


def test_another_script_is_another_language() -> None:
    with pytest.raises(DocumentError, match="into sr_Cyrl, and the model into sr_Latn"):
        take_po_apart(HEADER.replace("it", "sr_Cyrl"), TextReader("en", "sr_Latn"))


@given(st.lists(st.text('ab .\n\t\\"%s<b>/{}', min_size=1), min_size=1, max_size=4))
def test_every_message_is_its_own_translation_if_nothing_changes(messages: list[str]) -> None:
    text = HEADER + "\n".join(f'msgid "{escape(message)}"\nmsgstr ""\n' for message in messages)
    found = list(read_entries(translated(text, take_po_apart, str)))[1:]
    assert [re.sub(r"\s", "", entry.id) for entry in found] == [
        re.sub(r"\s", "", entry.translations[0]) for entry in found
    ]
    assert all(entry.is_fuzzy for entry in found)
