"""What a file says of its language, and of the direction in which its text runs."""

from dragoman.documents.document import DocumentError
from dragoman.languages.codes import base_language, stands_in_for
from dragoman.languages.scripts import is_right_to_left
from dragoman.markup.text_reader import TextReader


def check_language(code: str, of_model: str, line: int, direction: str) -> None:
    """Refuse a file that says to be in another language than a model reads or writes.

    Args:
        code: What the file says; empty if it says nothing.
        of_model: The language of the model; empty if any will do.
        line: Where the file says it.
        direction: "from" or "into".

    Raises:
        DocumentError: the languages or their scripts differ, regions aside.
    """
    if code and of_model and not stands_in_for(code, of_model):
        raise DocumentError(
            line, f"it translates {direction} {code}, and the model {direction} {of_model}"
        )


def is_of_source(code: str | None, reader: TextReader) -> bool:
    """Tell whether a code names the language that is translated, so that it has to change, too."""
    return bool(code) and base_language(str(code)) == base_language(reader.source)


def turns(reader: TextReader) -> bool:
    """Tell whether a translation runs in the other direction, so that a file has to say so."""
    return is_right_to_left(reader.source) != is_right_to_left(reader.target)


def direction_of(language: str) -> str:
    """Say in which direction a language runs, as HTML and EPUB have it."""
    return "rtl" if is_right_to_left(language) else "ltr"
