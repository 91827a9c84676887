"""A message of a program, whose line breaks stay where they are."""

from collections.abc import Mapping

from dragoman.documents.document import Rewritten
from dragoman.markup.passage import Passage
from dragoman.markup.text_reader import TextReader

_BREAKS: Mapping[int, str] = str.maketrans({"\n": r"\n", "\r": r"\r", "\t": r"\t"})


def read_message(text: str, reader: TextReader) -> Passage:
    """Take a message apart with its line breaks as escapes, as source code has them."""
    if "\\" in text:  # it has escapes of its own
        return reader.read_string(text)
    return Rewritten(reader.read_string(text.translate(_BREAKS)), _with_breaks)


def _with_breaks(text: str) -> str:
    for character, escaped in _BREAKS.items():
        text = text.replace(escaped, chr(character))
    return text
