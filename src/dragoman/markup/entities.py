"""Entities: how the text of a document is read, and how it is written."""

import re
from collections.abc import Callable
from html import escape, unescape
from html.entities import html5

from dragoman.markup.rules import Rules
from dragoman.markup.templates import keep_templates

Write = Callable[[str], str]
"""Writes text as a document has it, with entities or without."""


def choose_entities(text: str, rules: Rules) -> tuple[Write, Write]:
    """Choose how the text of a document is read, and how it is written.

    Entities unknown to HTML are the document's own, or a program's, and stay as they are.
    """
    entities = set(_ENTITY.findall(text))
    own = {entity for entity in entities if not _is_of_html(entity)}
    if rules.is_string and entities == own:
        return str, str

    kept = {"\u00a0": "&nbsp;"} | ({'"': "&quot;"} if rules.is_string else {})
    kept = {character: entity for character, entity in kept.items() if entity in entities}

    def read_strictly(text: str) -> str:
        return _ENTITY.sub(lambda m: m[0] if m[0] in own else unescape(m[0]), text)

    def write(text: str) -> str:
        escaped = _ESCAPED.sub(
            lambda m: f"&{m[1]}" if f"&{m[1]}" in own else m[0], escape(text, quote=False)
        )
        for character, entity in kept.items():
            escaped = escaped.replace(character, entity)
        return escaped

    # A browser also reads entities without their ends, as in &copy, so &notify; is another one.
    read = read_strictly if rules.is_xml or rules.is_string else unescape
    return read, keep_templates(text, read, write)


_ENTITY = re.compile(r"&(?:#\d+|#x[\da-f]+|[a-z][\w.-]*);", re.IGNORECASE)
_ESCAPED = re.compile(r"&amp;([a-z][\w.-]*;)", re.IGNORECASE)


def _is_of_html(entity: str) -> bool:
    return entity[1] == "#" or entity[1:] in html5
