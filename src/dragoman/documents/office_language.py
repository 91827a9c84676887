"""What an office document says of the language of its text: for spelling checkers and readers."""

from dragoman.documents.paragraph import Element
from dragoman.languages.codes import base_language, language_tag
from dragoman.languages.scripts import scripts_of
from dragoman.markup.text_reader import TextReader

_EAST_ASIAN = frozenset({"Han", "Hangul", "Kana"})
_WESTERN = frozenset({"Armenian", "Cyrillic", "Ethiopic", "Georgian", "Greek", "Latin"})
_IN_WORD = ("val", "eastAsia", "bidi")
_IN_OPEN_DOCUMENT = ("", "-asian", "-complex")
"""Names for the language of text in western, East Asian and complex scripts; each may be said."""

_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_FO = "{urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0}"
_NO_COUNTRY = "none"  # as LibreOffice writes it
_LETTERS_OF_SCRIPT = 4


def name_language(root: Element, reader: TextReader) -> None:
    """Name the new language where the old one was named; other languages stay."""
    for element in root.iter("{*}lang", "{*}themeFontLang"):
        _name_in_word(element, reader)
    for element in root.iter("{*}rPr", "{*}endParaRPr", "{*}defRPr"):
        if _is_source(element.get("lang"), reader):
            element.set("lang", language_tag(reader.target))
    for element in root.iter(f"{_STYLE}text-properties"):
        _name_in_open_document(element, reader)
    for element in root.iter("{http://purl.org/dc/elements/1.1/}language"):
        if _is_source(element.text, reader):
            element.text = language_tag(reader.target)


def _is_source(code: str | None, reader: TextReader) -> bool:
    return bool(code) and base_language(str(code)) == base_language(reader.source)


def _kind_of_script(language: str) -> int:
    """Tell for which of the three kinds of scripts a language is named."""
    scripts = scripts_of(language)
    if not scripts or scripts & _WESTERN:
        return 0
    return 1 if scripts & _EAST_ASIAN else 2


def _name_in_word(element: Element, reader: TextReader) -> None:
    namespace = element.tag[: element.tag.rfind("}") + 1]
    old, new = (_IN_WORD[_kind_of_script(code)] for code in (reader.source, reader.target))
    if _is_source(element.get(namespace + old), reader):
        element.set(namespace + new, language_tag(reader.target))


def _name_in_open_document(properties: Element, reader: TextReader) -> None:
    old, new = (_IN_OPEN_DOCUMENT[_kind_of_script(code)] for code in (reader.source, reader.target))
    if not _is_source(properties.get(_attribute("language", old)), reader):
        return
    language, *others = language_tag(reader.target).split("-")
    script = next((other for other in others if len(other) == _LETTERS_OF_SCRIPT), None)
    country = next((other for other in others if other != script), _NO_COUNTRY)
    properties.set(_attribute("language", new), language)
    properties.set(_attribute("country", new), country)
    for name in ("script", "rfc-language-tag"):
        properties.attrib.pop(_attribute(name, new), None)
    if script is not None:
        properties.set(_attribute("script", new), script)


def _attribute(name: str, kind: str) -> str:
    """Write the name of an attribute of OpenDocument, where western text has its own."""
    is_of_fo = not kind and name != "rfc-language-tag"
    return f"{_FO if is_of_fo else _STYLE}{name}{kind}"
