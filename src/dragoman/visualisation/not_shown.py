"""What `dragoman translate` does with a sentence that a page of one search does not show."""

from collections.abc import Sequence

from dragoman.markup.document import STRING, is_marked_up, visible_text
from dragoman.terms.capitals import is_in_capitals
from dragoman.terms.finder import TermFinder
from dragoman.tokenizers.sentences import split_sentences
from dragoman.visualisation.markup import element, escape


def not_shown(text: str, languages: tuple[str, str]) -> list[str]:
    """Say what is done to a text before and while it is translated, in a sentence each.

    Args:
        text: The source.
        languages: Of source and target.
    """
    found = []
    if is_marked_up(text):
        found.append(
            "dragoman translate shows the model no tags and no escapes, and entities as the "
            "characters that they stand for; here it reads all of them as they are written"
        )
        text = visible_text(text, STRING)
    finder, sentences = TermFinder(languages=languages), split_sentences(text, languages[0])
    kept = finder.find_protected(text)
    if len(sentences) > 1:
        found.append(
            f"these are {len(sentences)} sentences, which dragoman translate takes one by one; "
            "here they are translated at once"
        )
    if any(is_in_capitals(each, finder.find_protected(each)) for each in sentences):
        found.append(
            "there is a sentence in capitals, which dragoman translate shows the model in small "
            "letters; here it reads it as it is"
        )
    if kept:
        names = ", ".join(text[term.start : term.end] for term in kept)
        found.append(
            f"dragoman translate must keep {names}, by a search that is not shown; here the model "
            "is free"
        )
    return found


def write_notes(notes: Sequence[str]) -> str:
    """Write for a page that the translation on it may be another one, and why, if there is why."""
    if not notes:
        return ""
    head = element("p", {}, "This may not be what dragoman translate gives:")
    return head + element("ul", {}, *(element("li", {}, escape(f"{note}.")) for note in notes))
