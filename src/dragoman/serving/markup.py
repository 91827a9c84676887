"""HTML and XML as a server takes them apart: text is translated, all else is kept."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from dragoman.serving.inline_markup import Cut, Sentence, build_spans, cut_sentences
from dragoman.serving.models import ServedModel
from dragoman.serving.passage import Passage, PlainText
from dragoman.serving.tags import Token, read_tokens

_INLINE = """
a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark q s samp small
span strike strong sub sup time tt u var wbr
"""
_UNTRANSLATED = "code iframe kbd math object pre samp script style svg template textarea var"


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Which elements are what, by their names in lower case."""

    untranslated: frozenset[str] = frozenset(_UNTRANSLATED.split())
    """Their content stays as it is, as does that of any element that says `translate="no"` or has
    the class `notranslate`."""

    inline: frozenset[str] = frozenset(_INLINE.split())
    """They stand within sentences; any other ends one."""

    mixed_is_inline: bool = False
    """Whether elements that have text beside them stand within sentences, too, as in XML."""

    block: frozenset[str] = frozenset()
    """They do not, whatever stands beside them."""


class Markup:
    """A document: sentences in the places where it has text, and all else as it was."""

    def __init__(self, text: str, rules: Rules, cut: Cut) -> None:
        """Take a document apart.

        Args:
            text: HTML or XML, or a part of it; mistakes in it stay.
            rules: Which elements are what.
            cut: Takes the text of a block apart.
        """
        self._parts: list[str | Sentence] = []
        for block in _blocks(list(_collapse(read_tokens(text), rules)), rules):
            spans = build_spans(block)
            if any(span.speaks for span in spans):
                self._parts += [
                    Sentence(sentence, cut, keeps_nbsp="&nbsp;" in text)
                    for sentence in cut_sentences(spans, cut)
                ]
            else:
                self._parts.append("".join(token.raw for token in block))
        self.pieces = [p for s in self._parts if isinstance(s, Sentence) for p in s.pieces]

    def put_together(self, translations: list[str]) -> str:
        """Write the document anew."""
        rest = iter(translations)
        return "".join(
            part
            if isinstance(part, str)
            else part.put_together(list(islice(rest, len(part.pieces))))
            for part in self._parts
        )


def read_html(text: str, model: ServedModel) -> Passage:
    """Take HTML apart that a model is to translate."""
    return read_markup(text, model, Rules())


def read_markup(text: str, model: ServedModel, rules: Rules, *, sentences: bool = True) -> Passage:
    """Take a document apart that a model is to translate; line breaks in it are spaces."""
    cut = partial(
        PlainText,
        source=model.source,
        target=model.target,
        lines=False,
        sentences=sentences and not model.whole_lines,
    )
    return Markup(text, rules, cut)


def _collapse(tokens: Sequence[Token], rules: Rules) -> Iterator[Token]:
    """Make one token of kind "other" of each element that is not translated."""
    rest = iter(tokens)
    for token in rest:
        if token.kind != "open" or not (token.marked or token.name in rules.untranslated):
            yield token
            continue
        raw, depth = token.raw, 1
        while depth and (inner := next(rest, None)):
            raw += inner.raw
            if inner.name == token.name:
                depth += {"open": 1, "close": -1}.get(inner.kind, 0)
        yield Token("other", raw, token.name)


def _blocks(tokens: Sequence[Token], rules: Rules) -> Iterator[list[Token]]:
    """Group tokens that stand within the same sentences; each other one is a group of its own."""
    mixed = _mixed(tokens) if rules.mixed_is_inline else set()
    block: list[Token] = []
    for i, token in enumerate(tokens):
        inline = i in mixed or token.name in rules.inline
        if token.kind == "text" or (inline and token.name not in rules.block):
            block.append(token)
            continue
        if block:
            yield block
            block = []
        yield [token]
    if block:
        yield block


def _mixed(tokens: Sequence[Token]) -> set[int]:
    """Find the tokens that have text beside them, within the same element."""
    open_elements, num_elements = [0], 1
    parents: list[int] = []
    with_text: set[int] = set()
    for token in tokens:
        if token.kind == "close" and len(open_elements) > 1:
            open_elements.pop()
        parents.append(open_elements[-1])
        if token.kind == "text" and token.raw.strip():
            with_text.add(open_elements[-1])
        elif token.kind == "open":
            open_elements.append(num_elements)
            num_elements += 1
    return {i for i, parent in enumerate(parents) if parent in with_text}
