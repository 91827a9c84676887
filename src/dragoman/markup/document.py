"""HTML, XML, and strings with tags in them: text is translated, all else is kept."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape, unescape
from html.entities import html5
from itertools import islice, takewhile

from dragoman.languages.scripts import CLOSING
from dragoman.markup.escapes import BREAK, ESCAPE, cut_at_escapes
from dragoman.markup.inline import Cut, Sentence, Write, build_spans, cut_sentences, respace
from dragoman.markup.pictures import join_pictures
from dragoman.markup.tags import (
    ANCHOR,
    CDATA,
    CDATA_END,
    ICON,
    NOTE,
    Kind,
    Token,
    read_tokens,
    written,
)
from dragoman.markup.templates import keep_templates
from dragoman.terms.term import is_of_word
from dragoman.translation import Alternative, join

_INLINE = """
a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark math picture q
rb ruby s samp small source span strike strong sub sup svg time tt u var wbr
"""
_UNTRANSLATED = """
code iframe kbd math object pre rp rt rtc samp script style svg template textarea var
"""
_BLOCK = """
address article aside blockquote body br caption center dd details dialog div dl dt fieldset
figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html li main menu nav ol option p
section select summary table tbody td tfoot th thead title tr ul
"""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Which elements are what, by their names in lower case."""

    untranslated: frozenset[str] = frozenset(_UNTRANSLATED.split())
    """Their content stays as it is, as does that of any element that says `translate="no"` or has
    the class `notranslate`."""

    inline: frozenset[str] = frozenset(_INLINE.split())
    """Elements within sentences; any other ends a sentence."""

    codes: Mapping[str, Kind] = field(default_factory=dict)
    """Elements that hold a tag of another format, and the kind of that tag: "open", "close" or
    "void"."""

    mixed_is_inline: bool = False
    """Whether elements with text beside them are also within sentences, as in XML."""

    block: frozenset[str] = frozenset()
    """Elements that are never within sentences, whatever is beside them."""

    is_xml: bool = False
    """Whether the names of elements mean nothing except what is said here."""

    is_string: bool = False
    r"""Whether it is a program's string: `\n` is a line break, and `&` may stand for itself."""


class Markup:
    """A document: sentences where it has text, and everything else as it was."""

    def __init__(self, text: str, rules: Rules, cut: Cut) -> None:
        """Take a document apart.

        Args:
            text: HTML or XML, or a part of it; errors in it stay.
            rules: Which elements are what.
            cut: Takes apart the text of a block.
        """
        read, write = _entities(text, rules)
        tokens = read_document(text, rules)
        if rules.is_string:
            tokens = cut_at_escapes(tokens)
        if not rules.is_xml:
            tokens = join_pictures(tokens, partial(_is_inline, rules))
        self._parts: list[str | Sentence | Markup] = []
        for block in _blocks(tokens, rules):
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
        translated = [part for part in self._parts if not isinstance(part, str)]
        self.pieces: list[str] = [piece for part in translated for piece in part.pieces]
        self.are_again: list[bool] = [again for part in translated for again in part.are_again]
        """For each piece, whether it is between tags in a sentence that is a piece, too."""

    def put_together(self, translations: Sequence[Alternative]) -> Alternative:
        """Write the translated document."""
        rest = iter(translations)
        written: list[str] = []
        sentences: list[Alternative] = []
        previous: str | Sentence | Markup = ""
        for part in self._parts:
            if isinstance(part, str):
                written.append(part)
            else:
                sentences.append(part.put_together(list(islice(rest, len(part.pieces)))))
                written.append(sentences[-1].text)
            if isinstance(part, Sentence) and isinstance(previous, Sentence):
                sources, texts = (previous.source, part.source), (written[-2], written[-1])
                written[-2:] = respace(sources, texts, part.target or previous.target)
            previous = part
        text = "".join(written)
        return replace(join(sentences, text), parts=(text.strip(),))


def _take_section_apart(section: str, cut: Cut) -> "list[str | Sentence | Markup]":
    """Take apart CDATA: text, or more often HTML, that is written literally."""
    inside = section[len(CDATA) : -len(CDATA_END)]
    return [CDATA, Markup(inside, STRING, cut), CDATA_END]


def visible_text(document: str, rules: Rules) -> str:
    """Return the text of a document without its tags and without what is not translated."""
    read, _ = _entities(document, rules)
    return " ".join(
        read(token.raw) for token in read_document(document, rules) if token.kind == "text"
    )


def read_document(document: str, rules: Rules) -> list[Token]:
    """Read a document as tokens, each element that is not translated as one."""
    tokens = read_tokens(document, is_xml=rules.is_xml, is_string=rules.is_string)
    return list(_collapse(tokens, rules))


def _entities(text: str, rules: Rules) -> tuple[Write, Write]:
    """Choose how the text of a document is read, and how it is written.

    Entities unknown to HTML are the document's own, or a program's, and stay as they are.
    """
    entities = set(_ENTITY.findall(text))
    own = {entity for entity in entities if not _is_of_html(entity)}
    if rules.is_string and entities == own:
        return str, str

    kept = {"\u00a0": "&nbsp;"} | ({'"': "&quot;"} if rules.is_string else {})
    kept = {character: entity for character, entity in kept.items() if entity in entities}

    def read_strictly(text: str) -> str:
        return _ENTITY.sub(lambda m: m[0] if m[0] in own else unescape(m[0]), text)

    def write(text: str) -> str:
        escaped = _ESCAPED.sub(
            lambda m: f"&{m[1]}" if f"&{m[1]}" in own else m[0], escape(text, quote=False)
        )
        for character, entity in kept.items():
            escaped = escaped.replace(character, entity)
        return escaped

    # A browser also reads entities without their ends, as in &copy, so &notify; is another one.
    read = read_strictly if rules.is_xml or rules.is_string else unescape
    return read, keep_templates(text, read, write)


_ENTITY = re.compile(r"&(?:#\d+|#x[\da-f]+|[a-z][\w.-]*);", re.IGNORECASE)
_ESCAPED = re.compile(r"&amp;([a-z][\w.-]*;)", re.IGNORECASE)


def _is_of_html(entity: str) -> bool:
    return entity[1] == "#" or entity[1:] in html5


STRING = Rules(mixed_is_inline=True, block=frozenset((*_BLOCK.split(), ESCAPE)), is_string=True)
"""A string of a program, as in gettext and XLIFF files."""

_MARKED_UP = re.compile(rf"</?[a-z][^<>]*> | <!-- | {BREAK}", re.IGNORECASE | re.VERBOSE)


def is_marked_up(text: str) -> bool:
    """Tell whether a text may have tags or escapes."""
    return _MARKED_UP.search(text) is not None


_CODE = "code of another format"
"""The name of all tags that are written as elements."""


def _collapse(tokens: Sequence[Token], rules: Rules) -> Iterator[Token]:
    """Turn each element that is not translated into one token of kind "other".

    One that has `translate="yes"` within it is divided: its tags stay tags, as they belong
    together, and each text between them is such a token.
    """
    ends = _ends(tokens)
    starts = {end: start for start, end in ends.items()}
    asked = [i for i, token in enumerate(tokens) if token.asked and i in ends]
    # The last tokens of divided elements, and of what is asked for in them.
    around = [(len(tokens) - 1, "")]
    place = 0
    while place < len(tokens):
        while around[-1][0] < place:
            around.pop()
        token, (last, divided) = tokens[place], around[-1]
        found: tuple[int, Kind, str] | None = None
        if token.asked and ends.get(place, len(tokens)) <= last:
            around.append((ends[place], ""))
        elif not divided:
            found = _find_kept(tokens, place, rules, ends, starts)
        elif token.kind != "close" and token.raw.strip():
            end = ends.get(place, place)
            found = (end if end <= last else place), "other", divided
        if found is None or (found[1] == "other" and _has_asked(place, found[0], asked, ends)):
            if found is not None:
                around.append((found[0], found[2]))
            yield token
            place += 1
        else:
            end, kind, name = found
            yield Token(kind, written(tokens[place : end + 1]), name)
            place = end + 1


def _find_kept(
    tokens: Sequence[Token],
    place: int,
    rules: Rules,
    ends: Mapping[int, int],
    starts: Mapping[int, int],
) -> tuple[int, Kind, str] | None:
    """Find the last token, the kind and the name of an element that is not translated, if it is.

    One that is never closed in a string is a name, as in "Cannot open <object> now."
    """
    token = tokens[place]
    name = "" if rules.is_xml or rules.is_string else _name_of_whole(tokens, place, ends)
    if name:
        return ends.get(place, place), "other", name
    kind = rules.codes.get(token.name, "other")
    if not _is_kept(token, kind, rules) or (rules.is_string and place not in ends):
        return None
    end = ends[place] if place in ends else _end_of_unclosed(place, tokens, starts)
    return end, kind, token.name if kind == "other" else _CODE


def _has_asked(place: int, end: int, asked: Sequence[int], ends: Mapping[int, int]) -> bool:
    """Tell whether an element has another in it that asks to be translated.

    Args:
        place: Its first token.
        end: Its last token.
        asked: The tokens that open such elements.
        ends: Maps the index of each opening tag to that of its closing tag.
    """
    nearest = bisect_left(asked, place)
    return nearest < len(asked) and ends[asked[nearest]] < end


def _is_kept(token: Token, kind: Kind, rules: Rules) -> bool:
    """Tell whether an element is not translated, or holds a tag of another format."""
    is_named = kind != "other" or token.name in rules.untranslated
    return token.kind == "open" and not token.asked and (token.marked or is_named)


_MOST_TOKENS = 16
"""In the mark of a note; encyclopaedias put its brackets into tags of their own."""

_NOTE = re.compile(r"\W*+(?:\d{1,3}|[ivxl]{1,6}|[^\W\d_])?\W*+", re.IGNORECASE)
_REFERENCE = re.compile(r"""\s(?:epub:type|role)\s*=\s*["'](?:doc-)?noteref["']""")
_PLACE = re.compile(r"\s(?:id|name)\s*=")
_PAGE_BREAK = re.compile(r"""\s(?:epub:type|role)\s*=\s*["'](?:doc-)?pagebreak["']""")
_SHOWN = re.compile(r"\s(?:class|style|href|title|aria-label)\s*=")


def _name_of_whole(tokens: Sequence[Token], place: int, ends: Mapping[int, int]) -> str:
    """Tell whether an element is the mark of a note or a mere place; it is no part of its sentence.

    A place has no words, and no class, by which a page shows a picture there.
    """
    token = tokens[place]
    if token.name not in ("a", "span", "sup") or token.kind not in ("open", "void"):
        return ""
    end = place if token.kind == "void" else ends.get(place, len(tokens))
    if end - place > _MOST_TOKENS:
        return ""
    inside = tokens[place + 1 : end]
    names = {token.name, *(each.name for each in inside)}
    said = unescape("".join(each.raw for each in inside if each.kind == "text"))
    if said.strip() and (names >= {"a", "sup"} or _REFERENCE.search(token.raw)):
        return NOTE if _NOTE.fullmatch(said) else ""
    is_place = not inside and _PLACE.search(token.raw) and not _SHOWN.search(token.raw)
    return ANCHOR if is_place or _PAGE_BREAK.search(token.raw) else ""


def _end_of_unclosed(place: int, tokens: Sequence[Token], starts: Mapping[int, int]) -> int:
    """Find the last token of an element that is never closed.

    As in a browser, it ends with the element around it, or before the next of its name, so items of
    lists, cells and paragraphs need no end tag.

    Args:
        place: Index of the tag that opens it.
        tokens: The tokens of the document.
        starts: Maps the index of each closing tag to that of its opening tag.
    """
    for later in range(place + 1, len(tokens)):
        is_end_of_parent = starts.get(later, place) < place
        if is_end_of_parent or (tokens[later].kind, tokens[later].name) == (
            "open",
            tokens[place].name,
        ):
            return later - 1
    return len(tokens) - 1


def _ends(tokens: Sequence[Token]) -> dict[int, int]:
    """Map the index of each opening tag to that of its closing tag."""
    ends: dict[int, int] = {}
    unclosed: dict[str, list[int]] = {}
    for place, token in enumerate(tokens):
        if token.kind == "open":
            unclosed.setdefault(token.name, []).append(place)
        elif token.kind == "close" and unclosed.get(token.name):
            ends[unclosed[token.name].pop()] = place
    return ends


def _blocks(tokens: Sequence[Token], rules: Rules) -> Iterator[list[Token]]:
    """Group tokens that are within the same sentences; any other is a group of its own."""
    mixed = _mixed(tokens) if rules.mixed_is_inline else set()
    block: list[Token] = []
    for i, token in enumerate(tokens):
        if not rules.is_xml and _is_between_sentences(token, block):
            yield from _without_edges(block)
            block = []
            yield [token]
            continue
        is_apart = token.name in rules.block or (rules.is_xml and token.is_cdata)
        inline = i in mixed or _is_inline(rules, token)
        if token.kind == "wrap" or (inline and not is_apart):
            if not rules.is_xml and (place := _end_of_words(block, token)):
                yield from _without_edges(block[:place])
                block = block[place:]
            block.append(token)
            continue
        yield from _without_edges(block)
        block = []
        yield [token]
    yield from _without_edges(block)


def _is_inline(rules: Rules, token: Token) -> bool:
    """Tell whether a token stands within sentences by what it is."""
    is_known = token.name in (*rules.inline, _CODE) or token.is_sign or token.is_comment
    return is_known or token.kind in ("text", "wrap")


_SEPARATOR = re.compile(
    r"""\s+/\s+ | (?: \s | &nbsp; )*+
    (?: [|·•»›→>] | &(?: gt | raquo | rsaquo | bull | middot | rarr ); ) (?: \s | &nbsp; )*+""",
    re.VERBOSE,
)
"""What pages put between links that stand side by side."""

_ENDS_SENTENCE = re.compile(rf"[.!?…。！？]\s*[{re.escape(CLOSING)}]*\Z")


def _is_between_sentences(token: Token, block: Sequence[Token]) -> bool:
    """Tell whether nothing goes on behind a token: a sign between links, a note behind a full stop.

    Args:
        token: With tags on both sides, if it is text.
        block: What comes before it.
    """
    if token.kind == "text":
        is_separator = _SEPARATOR.fullmatch(token.raw) is not None
        return is_separator and any(tag.name == "a" for tag in block[-_MOST_TOKENS:])
    return token.is_sign and (not block or bool(_ENDS_SENTENCE.search(block[-1].raw)))


_TAGS = ("open", "close")


def _end_of_words(block: Sequence[Token], token: Token) -> int:
    """Find where words end, if those of a text touch them, but are shown apart from them.

    Returns:
        The number of tokens before that place, closing tags included; 0 if there is none.
    """
    if token.name == ICON:
        return _end_of_previous(block)
    if token.kind != "text":
        return 0
    tags = list(takewhile(lambda each: each.kind in _TAGS or each.is_comment, reversed(block)))
    before = block[-len(tags) - 1] if len(tags) < len(block) else None
    if not tags or before is None or before.kind != "text":
        return 0
    tags.reverse()
    if not _are_apart(before.raw, tags, token.raw):
        return 0
    closing = [i for i, tag in enumerate(tags, start=1) if tag.kind == "close"]
    return len(block) - len(tags) + (closing[-1] if closing else 0)


def _end_of_previous(block: Sequence[Token]) -> int:
    """Find where an element begins that starts with an icon, if another ends just before it."""
    num_opening = len(list(takewhile(lambda each: each.kind == "open", reversed(block))))
    place = len(block) - num_opening
    before = [each for each in block[max(0, place - 2) : place] if each.raw.strip()]
    return place if num_opening and before and before[-1].kind == "close" else 0


def _are_apart(before: str, tags: Sequence[Token], after: str) -> bool:
    """Tell whether two texts with only tags between them are not parts of one word.

    Tags may stand within a word, as in `<b>un</b>able`, `H<sub>2</sub>O` and `<a>cat</a>s`, so that
    only what is never one is apart: two links, a capital behind a word, a number that ends one.
    Emphasis may begin within any word, as in `You<b>Tube</b>`; a label beside one is a `<span>`.
    """
    last, first = before[-1], after[0]
    if not (is_of_word(last) and is_of_word(first)):
        return False
    if all(tag.kind == "open" and tag.name in _EMPHASES for tag in tags if not tag.is_comment):
        return False
    if [tag.kind for tag in tags if tag.name == "a"] == ["close", "open"]:
        return last.isalpha() or first.isalpha()
    if first.isdigit():
        is_badge = after.isdigit() and not any(tag.name in ("sub", "sup") for tag in tags)
        return is_badge and last.islower() and before[-2:].isalpha()
    is_capital = first.isupper() and after[1:2].islower()
    is_unit = bool(_UNIT.match(after))
    return is_capital or (last.isdigit() and not is_unit and first.islower())


_EMPHASES = ("b", "em", "i", "mark", "strong", "u")
_UNIT = re.compile(r"\w{1,3}(?!\w)")
"""What may end a word that begins with digits: `90s`, `3rd`, `5km`."""


def _without_edges(block: list[Token]) -> Iterator[list[Token]]:
    """Split off what is no part of a sentence before or after all the text of a block.

    Tags around all of it are around no words in particular, and the sentences in them are like any
    others.
    """
    ends = _ends(block)
    starts = {end: start for start, end in ends.items()}
    start, end = 0, len(block)
    while start < end:
        first, last = block[start], block[end - 1]
        if _is_at_edge(first) or (first.kind == "open" and ends.get(start, end) >= end - 1):
            start += 1
        elif _is_at_edge(last) or (last.kind == "close" and starts.get(end - 1, -1) < start):
            end -= 1
        else:
            break
    yield from ([token] for token in block[:start])
    if start < end:
        yield block[start:end]
    yield from ([token] for token in block[end:])


def _is_at_edge(token: Token) -> bool:
    is_blank = token.kind == "text" and not token.raw.strip()
    return token.is_comment or token.kind == "wrap" or token.is_sign or is_blank


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
