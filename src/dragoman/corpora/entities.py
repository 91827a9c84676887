"""Signs that a text is escaped as in HTML: `&amp;` where a person reads &."""

import html
import re

FEWEST = 20
"""Texts; fewer may be about HTML."""

_ENTITY = re.compile("&#?[A-Za-z0-9]+;")
_TAG = re.compile("</?[A-Za-z][^<>]*>")
"""A text with tags is HTML, in which entities belong."""


class EntitySigns:
    """Examines texts as they pass; those of tokenizers such as Moses are escaped in this way."""

    def __init__(self) -> None:
        self._texts = self._escaped = self._plain = 0
        self._example = ""

    def add(self, text: str) -> None:
        """Look at one more text."""
        self._texts += 1
        if "&" not in text or _TAG.search(text):
            return
        entities = [entity for entity in _ENTITY.findall(text) if html.unescape(entity) != entity]
        if len(entities) < text.count("&"):
            self._plain += 1
        else:
            self._escaped += 1
            self._example = self._example or entities[0]

    def warnings(self) -> list[str]:
        """Say what signs there were, in a sentence."""
        if self._escaped < max(FEWEST, self._plain):
            return []
        return [
            f"{self._escaped:,} of {self._texts:,} texts are escaped as in HTML ({self._example} "
            f"for {html.unescape(self._example)!r}), and are learnt so; if they are not parts of "
            "pages, undo that first, as html.unescape in Python does"
        ]
