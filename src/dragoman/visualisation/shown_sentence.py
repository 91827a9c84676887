"""A sentence as `dragoman translate` shows it to a model, and where it does more than that."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dragoman.errors import DragomanError
from dragoman.markup.text_reader import TextReader
from dragoman.model_directory import ModelDirectory
from dragoman.terms.finder import TermFinder
from dragoman.text_cutter import TextCutter
from dragoman.tokenizers.normalisation import encodable
from dragoman.tokenizers.tokenizer import Tokenizer

WITHIN_TAGS = (
    "dragoman translate shows the model what is between tags once more, to find where the tags go; "
    "where it cannot tell, it joins the translations of these pieces"
)

DRAWN = (
    "dragoman translate draws the tokens of a translation, as the model's search settings say; "
    "here a beam searches for the best ones"
)


class ExplainError(DragomanError):
    """A translation cannot be shown."""


class ShownSentence(NamedTuple):
    """The part of a text that can be explained."""

    text: str
    """What the model is shown of the text, or all of it if that is not one sentence."""

    notes: list[str]
    """Why its translation may differ from that of the text, in a sentence each."""


def shown_sentence(directory: ModelDirectory, text: str) -> ShownSentence:
    """Find what `dragoman translate` would show a model of a text.

    Raises:
        DragomanError: the model cannot be used.
    """
    text = encodable(text)
    description = directory.description
    terms = TermFinder(languages=description.languages)
    cutter = TextCutter(
        directory.load_tokenizers(),
        TextReader(*description.languages),
        max_length=description.max_length,
        terms=terms,
    )
    (cut,) = cutter.cut([text])
    sentences = [sentence.text.strip() for sentence in cut.sentences_of_text]
    notes = list(_compare(text, sentences, terms))
    if len(sentences) < len(list(cut.sentences)):
        notes.append(WITHIN_TAGS)
    if directory.search.samples:
        notes.append(DRAWN)
    return ShownSentence(sentences[0] if len(sentences) == 1 else text, notes)


def encode_whole(
    text: str, tokenizer: Tokenizer, max_length: int, *, name: str = "sentence"
) -> list[int]:
    """Turn a text into tokens that the model reads at once.

    Raises:
        ExplainError: it is blank, or longer than what the model has seen.
    """
    ids = tokenizer.encode(encodable(text))
    if not ids:
        raise ExplainError(f"the {name} is blank; give some words")
    if len(ids) > max_length:
        raise ExplainError(
            f"the {name} has {len(ids)} tokens and the model has seen at most {max_length}; "
            "give a shorter one"
        )
    return ids


def _compare(text: str, sentences: Sequence[str], terms: TermFinder) -> Iterator[str]:
    """Say what else `dragoman translate` does with a text of these sentences."""
    if not sentences:
        yield (
            "dragoman translate shows the model nothing of this and leaves it as it is; here the "
            "model reads it"
        )
    elif len(sentences) > 1:
        yield (
            f"dragoman translate shows the model {', '.join(map(_quote, sentences))} one by one; "
            "here it reads all at once, as it is written"
        )
    elif sentences[0].split() != text.split():
        yield (
            f"the model reads {_quote(sentences[0])}, as it does in dragoman translate, which then "
            "writes the translation with the capitals, tags and marks of the whole"
        )
    kept = [
        sentence[term.start : term.end]
        for sentence in sentences
        for term in terms.find_protected(sentence)
    ]
    if kept:
        yield (
            f"dragoman translate must keep {', '.join(kept)}, if need be by another search; here "
            "the model need not"
        )


def _quote(text: str) -> str:
    return f"“{text}”"
