"""What `dragoman translate` does with a sentence that a page of one search does not show."""

from dragoman.terms.capitals import is_in_capitals
from dragoman.terms.finder import TermFinder
from dragoman.tokenizers.sentences import split_sentences


def not_shown(text: str, languages: tuple[str, str]) -> list[str]:
    """Say what is done to a text before and while it is translated, in a sentence each.

    Args:
        text: The source.
        languages: Of source and target.
    """
    kept = TermFinder(languages=languages).find_protected(text)
    found = []
    if (count := len(split_sentences(text, languages[0]))) > 1:
        found.append(
            f"these are {count} sentences, which dragoman translate takes one by one; here they "
            "are translated at once"
        )
    if is_in_capitals(text, kept):
        found.append(
            "this is in capitals, which dragoman translate shows the model in small letters; here "
            "it reads them as they are"
        )
    if kept:
        names = ", ".join(text[term.start : term.end] for term in kept)
        found.append(
            f"dragoman translate must keep {names}, by a search that is not shown; here the model "
            "is free"
        )
    return found
