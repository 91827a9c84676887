"""Whether a file is in the languages of a model."""

from dragoman.documents.document import DocumentError
from dragoman.languages.codes import stands_in_for


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
