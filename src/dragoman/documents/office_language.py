"""What an office document says of the language of its text, and says anew for each kind of script.

Spelling checkers and readers are told the language. Bold, italics and size hold for one kind only.
"""

from dragoman.documents.languages import is_of_source
from dragoman.documents.open_document import FO, STYLE
from dragoman.documents.paragraph import Element, in_namespace_of, name_of
from dragoman.languages.codes import LETTERS_OF_SCRIPT, language_tag
from dragoman.languages.scripts import EAST_ASIAN, scripts_of
from dragoman.markup.text_reader import TextReader

_WESTERN = frozenset({"Armenian", "Cyrillic", "Ethiopic", "Georgian", "Greek", "Latin"})
_IN_WORD = ("val", "eastAsia", "bidi")
_IN_OPEN_DOCUMENT = ("", "-asian", "-complex")
"""Names for the language of text in western, East Asian and complex scripts; each may be said."""

_FORMS_IN_WORD = {"b": "bCs", "i": "iCs", "sz": "szCs"}
"""Bold, italics and size, for western and East Asian text, and for text in complex scripts: those
that run from the right, and those of India and Southeast Asia."""

_FORMS_IN_OPEN_DOCUMENT = ("font-weight", "font-style", "font-size")
_COMPLEX = 2

_NO_COUNTRY = "none"  # as LibreOffice writes it


def name_language(root: Element, reader: TextReader) -> None:
    """Name the new language where the old one was named; other languages stay."""
    for element in root.iter("{*}lang", "{*}themeFontLang"):
        _name_in_word(element, reader)
    for element in root.iter("{*}rPr", "{*}endParaRPr", "{*}defRPr"):
        if is_of_source(element.get("lang"), reader):
            element.set("lang", language_tag(reader.target))
    for element in root.iter(f"{STYLE}text-properties"):
        _name_in_open_document(element, reader)
    for element in root.iter("{http://purl.org/dc/elements/1.1/}language"):
        if is_of_source(element.text, reader):
            element.text = language_tag(reader.target)


def say_for_script(root: Element, reader: TextReader) -> None:
    """Say bold, italics and size for the new kind of script where only the old one has them."""
    old, new = map(_kind_of_script, (reader.source, reader.target))
    if (old == _COMPLEX) != (new == _COMPLEX):
        for properties in root.iter("{*}rPr"):
            if "wordprocessingml" in properties.tag:
                _say_in_word(properties, is_complex=new == _COMPLEX)
    if old != new:
        for properties in root.iter(f"{STYLE}text-properties"):
            for name in _FORMS_IN_OPEN_DOCUMENT:
                before, after = (_attribute(name, _IN_OPEN_DOCUMENT[kind]) for kind in (old, new))
                if before in properties.attrib and after not in properties.attrib:
                    properties.set(after, properties.get(before))


def _say_in_word(properties: Element, *, is_complex: bool) -> None:
    said = {name_of(child): child for child in properties}
    for pair in _FORMS_IN_WORD.items():
        old, new = pair if is_complex else reversed(pair)
        if old in said and new not in said:
            made = in_namespace_of(properties, new)
            made.attrib.update(said[old].attrib)
            (said[old].addnext if is_complex else said[old].addprevious)(made)


def _kind_of_script(language: str) -> int:
    """Tell for which of the three kinds of scripts a language is named."""
    scripts = scripts_of(language)
    if not scripts or scripts & _WESTERN:
        return 0
    return 1 if scripts & EAST_ASIAN else _COMPLEX


def _name_in_word(element: Element, reader: TextReader) -> None:
    namespace = element.tag[: element.tag.rfind("}") + 1]
    old, new = (_IN_WORD[_kind_of_script(code)] for code in (reader.source, reader.target))
    if is_of_source(element.get(namespace + old), reader):
        element.set(namespace + new, language_tag(reader.target))


def _name_in_open_document(properties: Element, reader: TextReader) -> None:
    old, new = (_IN_OPEN_DOCUMENT[_kind_of_script(code)] for code in (reader.source, reader.target))
    if not is_of_source(properties.get(_attribute("language", old)), reader):
        return
    language, *others = language_tag(reader.target).split("-")
    script = next((other for other in others if len(other) == LETTERS_OF_SCRIPT), None)
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
    return f"{FO if is_of_fo else STYLE}{name}{kind}"
