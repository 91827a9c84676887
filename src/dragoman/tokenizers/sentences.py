"""Cut a text into units of translation: its sentences, and pieces of those that are too long."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise

from dragoman.languages.codes import base_language
from dragoman.languages.scripts import (
    CLOSING,
    RANGES,
    UNSPACED,
    UNSPACED_CHARACTER,
    VOWELS_BEFORE,
    is_mark,
)
from dragoman.tokenizers.tokenizer import Tokenizer

_SPACE = re.compile(r"[^\S\n]|[\u061c\u200e\u200f\u202a-\u202e](?=\s)")
"""White space, and a mark of direction before it, as Arabic texts have one behind full stops."""

_GERSHAYIM = re.compile(rf'(?<=[{RANGES["Hebrew"]}])"(?=[{RANGES["Hebrew"]}])')
"""In Hebrew abbreviations, as in צה"ל, where it is mostly typed as a quotation mark."""

_ENDING = "。！？｡।؟۔"
"""Marks that only end sentences."""

_BEHIND_END = _ENDING + re.escape(CLOSING)
_BOUNDARIES = tuple(
    (re.compile(f"(?s:.*)(?:{end})"), re.compile(end))
    for end in (
        rf"[{_ENDING}][{_BEHIND_END}]{{0,9}}(?=[^{_BEHIND_END}])",
        r"[,;:–—)\]،؛]\s|[，；：、]",
        r"\s",
    )
)
"""Where a sentence that is too long is cut: after the end of another, else after a clause, else
after a word. Each has a pattern that finds the last one, and one for the first. What closes an end
is limited, as a text of nothing else would take quadratic time."""

_VOWELS_BEHIND = "\u0e2f\u0e30\u0e32\u0e33\u0e45\u0e46\u0eaf\u0eb0\u0eb2\u0eb3\u0ec6"
"""Letters of Thai and Lao that stand behind another of their syllable, and are no marks; with the
signs that repeat or shorten a word."""

_VIRAMA = 9
"""The combining class of marks that put the next letter below, or join it."""

_PICTURES = (
    "\u231a\u231b\u23e9-\u23fa\u2600-\u263f\u2641\u2643-\u266c\u2670-\u275a\u2761-\u2767"
    "\u2795-\u2797\u27b0\u27bf\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\U0001f000-\U0001faff"
)
_VARIANTS = _PICTURES + "\u200d\u20e3\u2640\u2642\ufe0e\ufe0f\U000e0020-\U000e007f"
PICTURE = rf"(?:[0-9#*]\ufe0f?\u20e3|[{_PICTURES}][{_VARIANTS}]*)"
"""One or more emoji, with what joins and varies them. The first alternative is a keycap."""

_MARKS_BEHIND = r"[.,;:!?\u2026)\]\u00bb\u201d\"']*"
_INVISIBLE = r"\s\x00-\x1f\x7f-\x9f\xad\u200b\u200e\u200f\u2060-\u2064\ufeff"
"""White space, control characters and others of no width, except the pairs of marks that isolate a
value within a sentence (U+2066 to U+2069), one of which may be its first character."""

_PICTURES_AND_END = re.compile(rf"{PICTURE}(?P<end>{_MARKS_BEHIND}\s+)?")
"""The end may be missing, so that emoji in a row are read once, and not again from each of them."""

_MARKER = r"(?:[-*\u2022\u2013\u00b7\u25aa]|[0-9]{1,3}[.)])\s+"
"""Marker of a list item: a dot, a dash, an asterisk or a number."""

_BEGINNING = re.compile(
    rf"(?:{PICTURE}|[{_INVISIBLE}])*+(?:{_MARKER}(?:{PICTURE}|[{_INVISIBLE}])*)?"
)
_REVERSED_END = re.compile(
    rf"(?:[{_INVISIBLE}]|{_MARKS_BEHIND}(?:\u20e3\ufe0f?[0-9#*]|[{_VARIANTS}]*[{_PICTURES}]))*"
)

_SEGMENTED_AT_ONCE = 4000
"""Characters."""

_WORD = 50
"""Most characters of the next sentence that are looked at."""

_UNSEEN_END = re.compile(
    rf"(?P<end>[。！？][{re.escape(CLOSING)}]*(?=\d)"
    rf"|(?<!។ល)។(?!ល។)[{re.escape(CLOSING)}]*\s*(?=\w))"
)
"""Ends that the library does not see: before a number, and those of Khmer (។ល។ is *etc.*)."""

_PARTICLE = re.compile(rf"[{RANGES['Hangul']}]|と[{RANGES['Han']}ァ-ヶいの、。]|って|を")
"""After quoted speech, its sentence continues with one of these: in Korean with all that touches
it, in Japanese with と and a verb of saying, or who says so. In words that begin with と, as other
sentences may, no Chinese letter and no katakana follows."""

_ABBREVIATING = "".join(RANGES[script] for script in ["Khmer", "Lao", "Myanmar", "Thai"])
_LETTER = rf"[^\W\d_{UNSPACED}]"
_WITHIN = re.compile(
    rf"\d(?:\.\d|\uff0e\w)\Z|(?<!{_LETTER}){_LETTER}\.{_LETTER}\Z"
    rf"|[{_ABBREVIATING}]\.[{_ABBREVIATING}]\Z"
)
"""Full stops that end nothing, each with a character on both sides: in a number, before a title,
behind a single letter, and in scripts in which they only abbreviate, as in พ.ศ."""

_ABBREVIATION = re.compile(
    rf"(?:\A|[\s.(])(?:{_LETTER}|[\u0e01-\u0e2e\u0e81-\u0eae]{{1,4}})\.\s*\Z"
)
"""A single letter, or in Thai and Lao a few consonants, as in น. for *o'clock*."""

_ORDINAL = re.compile(r"(?<!\S)\d{1,3}\.\s*\Z")
"""As in *19. yüzyıl* and *5. mai*, in languages from Norwegian to Turkish."""

_OPENING = "\"'`\u2018\u201c\u201e\u00ab\u00bb\u2039\u203a(\u00a1\u00bf\u200b"
"""What may stand before the first letter of a sentence."""

_ENDS, _MARKUP = tuple(".!?;"), tuple("\\<")

_WITHOUT_SPACES = ("zh", "ja", "yue")
"""Languages that put no space between sentences."""


def split_sentences(text: str, language: str) -> list[str]:
    """Cut a text after each sentence; joined together, the pieces are the text.

    What has no letter, such as a paragraph number, is not a sentence but belongs to the next one,
    or to the last. An emoji ends a sentence, as a full stop does.

    >>> split_sentences("1. Mr. Rossi  is here. Good 🎉 See you", "en")
    ['1. Mr. Rossi  is here. ', 'Good 🎉 ', 'See you']
    """
    pieces: list[str] = []
    incomplete = ""
    sentences = (
        part
        for sentence in _segment(text, language)
        for piece in _cut_behind(_UNSEEN_END, sentence)
        for part in _cut_behind(_PICTURES_AND_END, piece)
    )
    for sentence in sentences:
        incomplete += sentence
        if any(map(str.isalpha, sentence)):
            pieces.append(incomplete)
            incomplete = ""
    if pieces:
        pieces[-1] += incomplete
    return pieces or [text]


def _segment(text: str, language: str) -> Iterator[str]:
    """Ask the library, which knows abbreviations but stumbles over uncommon white space.

    It takes quadratic time for endless words, so it is never given much at once. It also sees
    sentence ends within words, as in "a .NET library", which are ignored.
    """
    import sentencex

    plain, start, end = _GERSHAYIM.sub("\u05f4", _SPACE.sub(" ", text)), 0, 0
    while end < len(text):
        shown = plain[end : end + _SEGMENTED_AT_ONCE]
        sentences = sentencex.segment(base_language(language), shown)
        if end + len(shown) < len(text):
            sentences.pop()  # it may continue
        if not sentences:
            end += len(shown)
        for sentence in sentences:
            end += len(sentence)
            following = text[end : end + _WORD]
            if _goes_on(sentence, following):
                continue
            if sentence[-1].isspace() or following[:1].isspace() or _is_end(sentence, following):
                yield text[start:end]
                start = end
    if start < len(text):
        yield text[start:]


def _goes_on(before: str, after: str) -> bool:
    """Tell whether a sentence goes on behind quoted speech, an abbreviation or an ordinal."""
    if _WITHIN.search(before[-3:] + after[:1]):
        return True
    if before[-1] in CLOSING and _PARTICLE.match(after):
        return True
    first = after.lstrip()[:1]
    if first.islower() and _ORDINAL.search(before):
        return True
    return bool(first) and not first.isupper() and _ABBREVIATION.search(before) is not None


def _is_end(before: str, after: str) -> bool:
    """Tell whether a sentence ends between two texts that have no white space between them.

    It does in scripts without spaces, before a tag or an escape, and where a space was forgotten.
    An ASCII full stop right between letters may also be part of a name: it is an end between a word
    in small letters, or a number, that is not the sentence's only one, and a word that begins with
    a capital.
    """
    marked, following = before.rstrip(CLOSING), after.lstrip(_OPENING)
    mark, first = marked[-1:], following[:1]
    if any(map(UNSPACED_CHARACTER.match, (mark, first))):
        return True
    if not mark.isascii():
        return unicodedata.category(mark).startswith("P")
    if mark not in _ENDS or not first.isalpha() or first.islower():
        return mark in _ENDS and after[:1] in _MARKUP
    if mark != "." or (marked, following) != (before, after):
        return True
    *earlier, word = marked.rstrip(".").split(" ")
    if not word.isalnum() or not first.isupper():
        return word.isalnum()
    begun = re.split(r"[\s,;:!?]|\.(?:\s|$)", following, maxsplit=1)[0]
    is_capital = begun.isalpha() and begun.istitle()
    is_small = word.isdigit() or (word.isalpha() and word.islower())
    return is_small and bool(earlier) and is_capital


def _cut_behind(end: re.Pattern[str], text: str) -> list[str]:
    ends = (found.end() for found in end.finditer(text) if found["end"])
    return [text[start:end] for start, end in pairwise([0, *ends, len(text)])]


def cut_margins(text: str) -> tuple[str, str, str]:
    r"""Cut off what says nothing in any language: white space, emoji, list markers.

    Returns:
        What stands before, the text itself, and what stands after. A text without a letter says
        nothing, and all of it stands before.

    >>> cut_margins("\u2728 Well done! \U0001f44d"), cut_margins("12:30!")
    (('✨ ', 'Well done!', ' 👍'), ('12:30!', '', ''))
    >>> cut_margins("2) The cat"), cut_margins("- the dog -")
    (('2) ', 'The cat', ''), ('- ', 'the dog -', ''))
    """
    if not any(map(str.isalpha, text)):
        return text, "", ""
    start = _length_at_start(_BEGINNING, text)
    end = len(text) - _length_at_start(_REVERSED_END, text[::-1])
    return text[:start], text[start:end], text[end:]


def _length_at_start(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.match(text)
    return found.end() if found else 0


def cut_to_fit(
    text: str, tokenizer: Tokenizer, *, limit: int, whole: Sequence[tuple[int, int]] = ()
) -> list[str]:
    """Cut a text into as many pieces as it takes for none to have more tokens than the limit.

    A text that is too long is cut after the clause that ends nearest to its middle, and then its
    halves in turn; without clauses, it is cut after a word, and a single word after a syllable near
    its middle. An end that was not seen, of a sentence in Chinese, Hindi and the like, goes before
    clauses. Joined together, the pieces are the text.

    Args:
        text: A text with more than white space in it.
        tokenizer: Counts the tokens.
        limit: Most tokens of a piece.
        whole: The ranges, from the first character to after the last, that are not cut: such a
            range alone may have more tokens.
    """
    if len(text) == 1 or len(tokenizer.encode(text)) <= limit:
        return [text]
    cut = _nearest_to_the_middle(text)
    for start, end in whole:
        if start < cut < end:
            beside = [
                place for place in (start, end) if text[:place].strip() and text[place:].strip()
            ]
            if not beside:
                return [text]
            cut = min(beside, key=lambda place: abs(place - cut))
            break
    first = [(start, end) for start, end in whole if end <= cut]
    second = [(start - cut, end - cut) for start, end in whole if start >= cut]
    return [
        piece
        for half, places in ((text[:cut], first), (text[cut:], second))
        for piece in cut_to_fit(half, tokenizer, limit=limit, whole=places)
    ]


def _nearest_to_the_middle(text: str) -> int:
    """Find the best place to cut a text, with something to translate on both sides."""
    middle = len(text) // 2
    content = text.strip()
    first = text.find(content)
    last = first + len(content) - 1
    for up_to, onwards in _BOUNDARIES:  # a list of all would take long for a long text
        found = (
            up_to.match(text, first, min(middle, last)),
            onwards.search(text, max(first, middle - 1), last),
        )
        if ends := [match.end() for match in found if match]:
            return min(ends, key=lambda end: abs(end - middle))
    places = range(middle, last + 1)
    return next((place for place in places if not _is_within_syllable(text, place)), middle)


def _is_within_syllable(text: str, place: int) -> bool:
    """Tell whether what is written at a place belongs to the letter before it.

    It is a mark or a vowel, or below that letter, as in Khmer and Hindi.
    """
    before, after = text[place - 1], text[place]
    return (
        is_mark(after)
        or after in _VOWELS_BEHIND
        or before in VOWELS_BEFORE
        or unicodedata.combining(before) == _VIRAMA
    )


def joint(language: str) -> str:
    """Give what a language puts between sentences: Chinese puts no space there."""
    return "" if base_language(language) in _WITHOUT_SPACES else " "


def join_translations(pieces: list[str], translations: list[str], language: str) -> str:
    r"""Put translations in place of the pieces, with the white space that the pieces had.

    Between sentences it is what the target language puts there: Chinese has no space, English
    has one. What was cut within a word stays together.

    >>> join_translations(["  One.\t", "Two. \n"], ["Uno.", "Due."], "it")
    '  Uno.\tDue. \n'
    >>> join_translations(["一。", "二。"], ["One.", "Two."], "en")
    'One. Two.'
    >>> join_translations(["One. ", "Two."], ["一。", "二。"], "zh")
    '一。二。'
    """
    joined = gap = last = ""
    for place, (piece, translation) in enumerate(zip(pieces, translations, strict=True)):
        content = piece.strip()
        before, after = piece.split(content, 1) if content else (piece, "")
        gap += before
        if place > 0 and (gap in (" ", "\u3000") or (not gap and _is_end(last, content))):
            gap = joint(language)
        joined += gap + translation
        gap, last = after, content
    return joined + gap
