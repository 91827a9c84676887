"""Reading pairs from PO: what was translated and confirmed arrives; the rest is counted."""

import gzip
import re
from pathlib import Path

import pytest
from tests.corpora.texts import LANGUAGES, read, written

from dragoman.corpora.cleaning import CleaningReport, clean
from dragoman.corpora.config import CleaningConfig, CorpusConfig
from dragoman.corpora.gettext import escape
from dragoman.corpora.parallel_text import has_named_sides
from dragoman.corpora.text_file import CorpusError


def header(*, language: str = "it", charset: str = "UTF-8", plural: str = "n != 1") -> str:
    return (
        'msgid ""\nmsgstr ""\n'
        f'"Language: {language}\\n"\n"Content-Type: text/plain; charset={charset}\\n"\n'
        f'"Plural-Forms: nplurals=2; plural={plural};\\n"\n\n'
    )


def entry(text: str, translation: str) -> str:
    return f'msgid "{escape(text)}"\nmsgstr "{escape(translation)}"\n\n'


def counted(text: str, several: str, *forms: str) -> str:
    strings = "".join(f'msgstr[{number}] "{form}"\n' for number, form in enumerate(forms))
    return f'msgid "{text}"\nmsgid_plural "{several}"\n{strings}\n'


# What is read


def test_each_translation_is_a_pair_with_the_line_of_its_text(tmp_path: Path) -> None:
    content = header() + entry("Open", "Apri") + '# c\nmsgctxt "verb"\n' + entry("Close", "Chiudi")

    assert read(written(tmp_path / "a.po", content)) == [
        ("Open", "Apri", 7),
        ("Close", "Chiudi", 12),
    ]


def test_what_nobody_translated_or_confirmed_is_counted_as_empty(tmp_path: Path) -> None:
    content = (
        header()
        + entry("Open", "Apri")
        + entry("Close", "")
        + "#, fuzzy\n" + entry("Save", "Apri")
        + "#, fuzzy\n" + counted("A file", "%d files", "Un file", "%d file")
        + counted("A page", "%d pages", "Una pagina", "")
        + "#~ " + entry("Old", "Vecchio").replace("\n", "\n#~ ")
    )  # fmt: skip
    pairs = read(written(tmp_path / "a.po", content))
    report = CleaningReport()

    kept = list(clean(pairs, CleaningConfig(), report, languages=LANGUAGES))

    assert [pair[:2] for pair in kept] == [("Open", "Apri"), ("A page", "Una pagina")]
    assert (report.read, report.dropped["empty"]) == (7, 5)


def test_line_breaks_at_the_end_go_and_others_become_spaces(tmp_path: Path) -> None:
    content = header() + entry("\nUsage:\n a\tb\r\n\n", "Uso:\n a\tb\n")

    assert read(written(tmp_path / "a.po", content)) == [("Usage:  a\tb", "Uso:  a\tb", 7)]


def test_one_text_and_several_go_with_the_forms_of_one_and_of_five(tmp_path: Path) -> None:
    russian = (
        "n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2",
        ("файл", "файла", "файлов"),
    )
    arabic = (
        "n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5",
        ("لا ملفات", "ملف واحد", "ملفان", "ملفات", "ملفا", "ملف"),
    )
    forms = {
        "ru": (*russian, (0, 2)),
        "ar": (*arabic, (1, 3)),
        "ja": ("0", ("ファイル",), (0, 0)),
        "fr": ("(n > 1)", ("fichier", "fichiers"), (0, 1)),
        "lv": ("EXPRESSION", ("fails", "faili", "failu"), (0, 2)),  # the last, as nothing is said
        "cs": ("7", ("soubor", "soubory"), (0, 1)),
    }
    for language, (plural, texts, (one, several)) in forms.items():
        content = header(language=language, plural=plural) + counted("file", "files", *texts)

        pairs = read(written(tmp_path / "a.po", content), ("en", language))

        assert pairs == [("file", texts[one], 7), ("files", texts[several], 7)], language


@pytest.mark.parametrize(
    "formula", ["", "n)", "n ? 1", "m", "n/0", "1.5", "(" * 990, "0+" * 500 + "n", "-1"]
)
def test_what_is_no_formula_gives_the_first_and_the_last_form(tmp_path: Path, formula: str) -> None:
    content = header(plural=formula) + counted("file", "files", "a", "b", "c")
    assert read(written(tmp_path / "a.po", content), ("en", "it")) == [
        ("file", "a", 7),
        ("files", "c", 7),
    ]


def test_texts_in_the_target_language_are_read_the_other_way_round(tmp_path: Path) -> None:
    path = written(tmp_path / "a.po", header() + entry("Open", "Apri") + entry("Close", ""))

    assert has_named_sides(CorpusConfig(path=str(path)))
    assert read(path, ("it", "en")) == [("Apri", "Open", 7), ("", "Close", 10)]


@pytest.mark.parametrize(
    ("language", "languages", "source"),
    [
        ("", ("en", "it"), "text"),
        ("pt_BR", ("en", "pt"), "text"),
        ("pt", ("en", "pt_BR"), "text"),
        ("sr@latin", ("sr", "en"), "translation"),
        ("zh_CN", ("en", "zh-Hans"), "text"),
        ("en_GB", ("en_GB", "en"), "translation"),
        ("en_GB", ("en", "en_GB"), "text"),
        ("en", ("en_GB", "en_US"), "text"),
    ],
)
def test_the_header_tells_which_side_is_which(
    tmp_path: Path, language: str, languages: tuple[str, str], source: str
) -> None:
    path = written(tmp_path / "a.po", header(language=language) + entry("text", "translation"))

    ((found, _, _),) = read(path, languages)

    assert found == source


def test_a_file_without_a_header_is_read(tmp_path: Path) -> None:
    assert read(written(tmp_path / "a.po", entry("perché", "why"))) == [("perché", "why", 1)]


def test_compressed_files_and_those_of_windows_are_read(tmp_path: Path) -> None:
    content = header() + entry("why", "perché")
    windows = b"\xef\xbb\xbf" + content.replace("\n", "\r\n").encode()

    for name, written_as in {"A.PO.GZ": gzip.compress(content.encode()), "b.po": windows}.items():
        assert read(written(tmp_path / name, written_as)) == [("why", "perché", 7)]


# What is refused


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            header(language="de_CH") + entry("a", "b"),
            "a.po: its header says Language: de_CH, and what is asked for is en to it; name the",
        ),
        (
            header(charset="ISO-8859-15").encode() + b'msgid "a"\nmsgstr "\xe8"\n',
            "a.po: its header says that it is in ISO-8859-15; convert it to UTF-8, as with msgconv",
        ),
        (header() + entry("a", "b") + 'msgid "c"\n', "a.po:10: not PO: msgid is not followed by"),
        (header().encode() + b'msgid "\xe8"\n', "a.po:7: not UTF-8 (byte 0xe8 at position 7)"),
        (header().encode("utf-16"), "a.po: UTF-16 text; convert it"),
        (header() + entry("a\0", "b"), "a.po:7: a NUL character, which text does not have"),
        ("", "a.po: it has no entry with a text; is it PO?"),
        (header(), "a.po: it has no entry with a text; is it PO?"),
        (
            "cat\tgatto\n",
            "a.po:1: not PO: what is no comment (#) begins with msgctxt, msgid, msgid",
        ),
    ],
)
def test_what_is_no_translation_of_the_two_languages_is_refused_in_a_sentence(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    path = written(tmp_path / "a.po", content)

    with pytest.raises(CorpusError, match=f"^{re.escape(f'{tmp_path}/{message}')}") as caught:
        read(path)

    assert "\n" not in str(caught.value)
