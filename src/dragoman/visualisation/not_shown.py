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
    finder, sentences = TermFinder(languages=languages), split_sentences(text, languages[0])
    kept = finder.find_protected(text)
    found = []
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
