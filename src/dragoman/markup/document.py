"""HTML, XML, and strings with tags in them: text is translated, all else is kept."""

import re
from collections.abc import Sequence
from functools import partial

from dragoman.markup.blocks import find_blocks, is_inline
from dragoman.markup.elements import read_document
from dragoman.markup.entities import choose_entities
from dragoman.markup.escapes import BREAK, cut_at_escapes
from dragoman.markup.passage import put_together_each
from dragoman.markup.pictures import join_pictures
from dragoman.markup.rules import STRING, Rules
from dragoman.markup.sentence import Sentence
from dragoman.markup.spacing import respace
from dragoman.markup.spans import Cut, build_spans, cut_sentences
from dragoman.markup.tags import CDATA, CDATA_END, written
from dragoman.translation import Alternative, join


class Markup:
    """A document: sentences where it has text, and everything else as it was."""

    def __init__(self, text: str, rules: Rules, cut: Cut) -> None:
        """Take a document apart.

        Args:
            text: HTML or XML, or a part of it; errors in it stay.
            rules: Which elements are what.
            cut: Takes apart the text of a block.
        """
        read, write = choose_entities(text, rules)
        tokens = read_document(text, rules)
        if rules.is_string:
            tokens = cut_at_escapes(tokens)
        if not rules.is_xml:
            tokens = join_pictures(tokens, partial(is_inline, rules))
        self._parts: list[str | Sentence | Markup] = []
        for block in find_blocks(tokens, rules):
            if rules.is_xml and block[0].is_cdata:
                self._parts += _take_section_apart(block[0].raw, cut)
                continue
            spans = build_spans(block, read)
            if any(span.speaks for span in spans):
                self._parts += [
                    Sentence(sentence, cut, write) for sentence in cut_sentences(spans, cut)
                ]
            else:
                self._parts.append(written(block))
        self._translated = [part for part in self._parts if not isinstance(part, str)]
        self.pieces: list[str] = [piece for part in self._translated for piece in part.pieces]
        self.are_again: list[bool] = [
            again for part in self._translated for again in part.are_again
        ]
        """For each piece, whether it is between tags in a sentence that is a piece, too."""

    def put_together(self, translations: Sequence[Alternative]) -> Alternative:
        """Write the translated document."""
        sentences = put_together_each(self._translated, translations)
        rest = (each.text for each in sentences)
        written: list[str] = []
        previous: str | Sentence | Markup = ""
        for part in self._parts:
            written.append(part if isinstance(part, str) else next(rest))
            if isinstance(part, Sentence) and isinstance(previous, Sentence):
                sources, texts = (previous.source, part.source), (written[-2], written[-1])
                written[-2:] = respace(sources, texts, part.target or previous.target)
            previous = part
        text = "".join(written)
        return join(sentences, text, parts=(text.strip(),))


def _take_section_apart(section: str, cut: Cut) -> "list[str | Sentence | Markup]":
    """Take apart CDATA: text, or more often HTML, that is written literally."""
    inside = section[len(CDATA) : -len(CDATA_END)]
    return [CDATA, Markup(inside, STRING, cut), CDATA_END]


def visible_text(document: str, rules: Rules) -> str:
    """Return the text of a document without its tags and without what is not translated."""
    read, _ = choose_entities(document, rules)
    return " ".join(
        read(token.raw) for token in read_document(document, rules) if token.kind == "text"
    )


_MARKED_UP = re.compile(
    rf"</?[a-z][^<>]*> | </\d+> | <\d+\s*/> | <!-- | {BREAK}", re.IGNORECASE | re.VERBOSE
)


def is_marked_up(text: str) -> bool:
    """Tell whether a text may have tags or escapes."""
    return _MARKED_UP.search(text) is not None
