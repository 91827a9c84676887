"""Messages that depend on a number or a word, as ICU writes them: {n, plural, one {# cat} …}."""

import re
from collections.abc import Callable
from functools import partial
from itertools import pairwise

from dragoman.documents.document import Document, Rewritten
from dragoman.markup.passage import Passage

_BRACE = re.compile(
    r"(\{\s*+[\w.-]+\s*+,\s*+(?:plural|select|selectordinal)\s*+,) | [{}]", re.VERBOSE
)
_NUMBER = re.compile("(?<!&)#")
"""What the number is shown for; `&#233;` is a character."""


def read_choices(text: str, read: Callable[[str], Passage]) -> Passage:
    """Take a text apart that may choose between others; a program needs the names of the choices.

    What is chosen, and what is around it, are texts of their own.

    Args:
        text: Any text; one without choices is read as it is.
        read: Takes apart a text without choices.
    """
    cuts, unclosed, are_chosen = [0], list[str](), [False]
    for found in _BRACE.finditer(text):
        cut = None
        if found[0] != "}":
            is_text = unclosed[-1:] == ["choice"]
            unclosed.append("text" if is_text else "choice" if found[1] else "name")
            cut = {"text": found.end(), "choice": found.start()}.get(unclosed[-1])
        elif unclosed:
            cut = {"text": found.start(), "choice": found.end()}.get(unclosed.pop())
        if cut is not None:
            cuts.append(cut)
            are_chosen.append(bool(unclosed))
    if len(cuts) == 1:
        return read(text)
    parts = [text[start:end] for start, end in pairwise([*cuts, len(text)])]
    reads = (partial(_read_with_number, read=read) if chosen else read for chosen in are_chosen)
    return Document(
        [
            part if i % 2 or not part.strip() else read_part(part)
            for i, (part, read_part) in enumerate(zip(parts, reads, strict=True))
        ]
    )


def _read_with_number(text: str, read: Callable[[str], Passage]) -> Passage:
    """Show a number as a placeholder: `#` alone is no sign that a translation keeps."""
    if "%d" in text:
        return read(text)
    return Rewritten(read(_NUMBER.sub("%d", text)), lambda found: found.replace("%d", "#"))
