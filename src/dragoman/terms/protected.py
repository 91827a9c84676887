"""What stays as it is: placeholders, addresses, codes, numbers, signs, words of other scripts."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import cast

from dragoman.languages.codes import base_language
from dragoman.languages.scripts import RANGES, UNSPACED, is_combining
from dragoman.terms.term import WORD_CHARACTER, Kind, Term, in_ascii, is_of_word
from dragoman.tokenizers.sentences import PICTURE

PATH = r"""
    (?: (?<![\w%])[A-Za-z]:\\(?:[^\snr]|[^\s\\]*[\\.]\w) | (?<![\w\\])\\\\\w )
    (?: (?: [^\s<>"'&] | &(?!\#|NewLine;|Tab;) )* [^\s<>"'.,;:!?)\]&] )?
"""
r"""A Windows path (verbose pattern), in which `\n` is no line break: C:\nine.txt, but not C:\nine.
One that is written as an entity is not part of it."""

_UNIX_PATH = r"""
    (?<![^\s(\[{"'\u2018\u201c\u00ab=:>{UNSPACED}])
    (?: (?:~|\.{1,2}|[A-Za-z]:)/ | /(?=(?:{WORD}|[.@+-])++/) )
    (?:{WORD}|[/.@+-])* (?:{WORD}|[/+])
"""
"""/etc/hosts, ~/x, ../x and C:/x, but neither /etc nor and/or: of 1,696 without a drive in texts of
programs, their translations have 1,641."""

_IN_BRACKETS = r"""\([^\s<>"'(){UNSPACED}]*\)"""
"""A part of an address, as in /wiki/Rust_(language); other closing brackets are behind it."""

_ADDRESS = r"""
    (?: (?i:https?|ftps?|file):// | (?i:www)\. )
    (?> {IN_BRACKETS} | [^\s<>"'{UNSPACED}] )* (?> {IN_BRACKETS} | [^\s<>"'.,;:!?)\]{UNSPACED}] )
  | {PATH}
  | {UNIX_PATH}
  | (?<!{WORD})(?<![.+-])(?:{WORD}|[.+-])++@{WORD}(?:{WORD}|-)*+(?:\.{WORD}(?:{WORD}|-)*+)+
"""

_LETTERS = RANGES["Latin"] + RANGES["Greek"] + RANGES["Cyrillic"]
_WORDS = rf"(?:[{_LETTERS}]++[.,:;!?)]?(?:\s++|\Z))++"
_PLAIN = rf"(?<!{{WORD}}){_WORDS}"
"""Words before white space, in which nothing that stays can begin. Most text consists of them; read
in one go, it takes an eighth of the time that all the other patterns take at each letter."""

_NOTHING_ELSE = re.compile(_WORDS)
"""Matches text without anything to find. To compile all the other patterns takes 0.1 seconds."""

_CONVERSION = r"\d{0,9}(?:\.\d{1,9})?(?:hh?|ll?|z)?[diouxXeEfFgGcrsan@]"
"""The end of a printf placeholder."""

_UNIT = "x|[dhms]|ms|min|px|pt|[kKMGT]i?[bB]?|[kKMG]?Hz|[ckm]m|th|st|nd|rd"
"""What directly follows numbers in English, as in %dpx and %dx%d."""

_NO_WORD = "(?=(?:{UNIT})?(?![^\\W_{UNSPACED}]))"
"""What must follow a printf placeholder: with other letters after it, it would be the beginning of
a word."""

STATEMENT = r"""
    (?<!\{)(?:
        \{% (?: [^{}%]++ | %(?!\}) | \{[^{}%]*\} )*+ %\}   # {% if new %}, {% set a = {'b': 1} %}
      | \{\# (?: [^{}\#]++ | \#(?!\}) | \{[{%][^{}]*\}++ )*+ \#\} # {# a comment, #2, {{ old }} #}
      | \{\{!-- (?: [^{}-]++ | -(?!-\}) | \{\{[^{}]*\}\} )*+ --\}\}
      | \{\{ (?: ~?[\#/^<>%!] | [~-]?\s*else\b | [~-]?\s*(?:if|range|with)\s
              | -\s*end\b | \s*end\s*(?=-) ) [^{}]*+ \}\}  # {{#if new}}, {{< note >}}, {{- end }}
    )(?!\})
"""
"""A statement of a template, rather than a value (verbose pattern)."""

_PLACEHOLDER = r"""
    {STATEMENT}
  | \$?\{\{(?:\{[^{}]*\}|[^{}]*)\}\}                 # {{ name }}, {{{name}}}
  | \$\{[^{}]+\}                                     # ${x}, ${name or 'you'}
  | \{[\w^]{1,4}>(?=.{0,999}?<[\w^]{1,4}\}) | <[\w^]{1,4}\}  # {b>bold<b} of Phrase
  | \{(?:[biu_^]{1,4}|\d{1,4})>(?![^{}\s<]*\})       # {b> alone: its end is in another segment
  | [\#%]?\{[^{}\s]*\}                               # {}, {0}, {name:.2f}, {$a}, #{x}, %{x}
  | \{\s*[$-][\w.-]+\s*\}                            # { $name }, { -brand } of Fluent
  | \{\s*\w+\s*,\s*(?:number|date|time)\b[^{}]*\}    # {0, number}, {day, date, short}
  | \{\d+:(?!\s*['\"])[^{}|]*\}                      # {0:d 'de' MMMM}, but not {1: 'one', 2: 'two'}
  | (?<!%)%%[A-Za-z_]{WORD}+%%(?!%) | \*\|[A-Z][^|*\n]{0,80}\|\*  # %%name%%, *|NAME|* of mails
  | (?<!%)%%(?!%)                                    # the sign of per cent, for printf
  | %\([^()\s]+\)[-#0+]{0,5}[\d.]{0,9}[a-zA-Z]      # %(name)s, %(share).1f
  | (?<!{WORD})%[A-Za-z_][\w.-]{2,40}%(?![\w%])     # %name%, but not %s%%
  | (?<!{WORD})%\d{1,2}%(?![\w%])                   # %1%, but not %1%%
  | %(?:\d+\$)?\#@\w+@ | %arg(?!{WORD})              # %#@count@ of Xcode, and what is counted
  | %\d+\$[-#0+',]{0,5}(?:{CONVERSION}|t?[A-Za-z])  # %1$s, %1$S, also in %1$shere%2$s
  | %[#0+]{0,4}{CONVERSION}{NO_WORD}                # %s, %d, %.2f
  | (?<!\d)%t?[A-Za-z]{NO_WORD}                     # %q of Go, %B, %Y of dates, but not 2%p
  | (?<!\d)(?<!\d[ \u00a0])%(?!'s)(?:(?:-(?=\d)|[',]){CONVERSION}|-[A-Z]){NO_WORD}
                                                    # %-5.2f, %'d, %-H, but not in 50%-a and %'s
  | %L?{NUMBERED}{NO_WORD}                           # %1
  | (?<!\d)(?<!\d[ \u00a0])%(?![sd])[a-z][a-z_]{3,}(?!{WORD}|%)  # %title of Drupal, not %sTitle%s
  | (?<!{WORD})(?<![@./+-])@[A-Za-z]{WORD}+(?:[./-]{WORD}+)*+       # @count, @name-of.somebody
  | (?<![^\s({"'\u2018\u201c\u00ab<>{UNSPACED}])
    (?: :[a-z][a-z0-9_+-]+: | :[a-z][a-z0-9_]+(?![\w:]) )           # :smile:, :attribute of Laravel
  | \$t\([^()\n]*\) | @(?:\.[a-z]+)?:(?:\{[^{}]*\}|[\w.-]*\w)  # $t(cat) of i18next, @:cat of Vue
  | \$[A-Za-z_]{WORD}*+(?:\$(?!{WORD}))?             # $name, $NAME$ of extensions of browsers
  | (?<!{WORD})__{WORD}+__(?!{WORD})                 # __name__
  | &[A-Za-z][\w.-]*;                                # &name; of XML, but for those that HTML knows
"""

_NUMBER = r"""
    (?<!{WORD})(?:(?<![.,\u066b\u066c])|(?<=[^\W\d_][.,]))
    \d++(?:(?:[.,:/\u066b\u066c\uff0e\uff1a-]|(?<=[\uff10-\uff19])\uff0c(?=[\uff10-\uff19]))\d++)*+
    (?!{WORD}|[\s-]?(?:{COUNTED}))
"""
"""Besides those of ASCII there are the separators of Arabic and of full width. A comma of full
width is one between digits of full width only: beside others it is that of the sentence."""

_COUNTED_OTHERWISE = "[月万萬億亿兆千百]|[월만억천]|लाख|करोड़|হাজার|লাখ|লক্ষ|কোটি|لاکھ|کروڑ"
"""Before these a number is another one in most languages, or a word: 5月 is *May*, and 3万 and
5 लाख are 30,000 and 500,000."""

_MILLIONS = "(?i:(?:m|b|tr)il(?:li(?:on|ard)|l[oó]n|[ijy][aou]|h[õã])|mrd|mld|млн|млрд|м[иі]л[льј])"
"""How words for great numbers begin in Europe. In languages that count in ten or a hundred
thousands, another number stands before theirs: 2 million are 200万 and 20 लाख."""

_WITH_OTHER_MILLIONS = "bn gu hi ja kn ko ml mr my ne pa ta te ur yue zh"

_WITH_PERCENT_FIRST = ("tr", "eu")
"""Turkish and Basque write the percent sign before the number."""

_NO_NUMBER = r"(?<!{WORD})\d++(?:[.,:/\u066b\u066c\uff0c\uff0e\uff1a-]\d++){50,}+"
"""A long one that ends in a word: to try each of its parts would take quadratic time."""

_PART = r"[A-Z0-9]++(?:(?=_)|(?!{WORD}))"
_JOINT = r"(?:[/_-]|(?<=\d)\.(?=\d))"
_CURRENCY = "AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HUF|INR|JPY|NOK|PLN|RUB|SEK|TRY|USD"

_CODE = rf"""
    (?<!{{WORD}})\d{{4}}-\d\d-\d\dT\d\d:?\d\d(?::?\d\d(?:[.,]\d+)?)?   # 2024-05-01T12:00:00Z
        (?:Z|[+-]\d\d:?(?:\d\d)?)?(?!{{WORD}})
  | (?<!{{WORD}})(?<![A-Z0-9][/_-])(?<!\d\.)(?!(?:{_CURRENCY})-?\d)
    (?= (?:{_PART}{_JOINT})*? (?=[A-Z]*\d) {_PART} )
    (?= (?:{_PART}{_JOINT})*? (?=[A-Z0-9]{{5}}) (?!\d+X\d|\d+H\d)
            (?=[A-Z0-9]*(?:[A-Z]\d+[A-Z]|\d[A-Z]+\d)) {_PART}       # 875A7B, but not 128X128
      | (?=[0-9/-]*[A-Z]) (?:{_PART}[/-])*? {_PART} _               # FURN_8220
      | (?=[A-Z]) (?:{_PART}{_JOINT})*? (?: (?<=[/_-]) | [A-Z0-9]*?[A-Z] ) 0\d\d  # AB-0009
      | (?=[A-Z]) (?:{_PART}{_JOINT})*? [A-Z0-9]*? [A-Z]-?\d (?:\.?\d){{5}}  # CHE-123.456.788
    )
    {_PART} (?:{_JOINT}{_PART})*+ (?!{{WORD}}|[.,]\d)
  | (?<!{{WORD}})[Vv]\d++(?:\.\d++)++(?!{{WORD}})                   # v2.10
"""
"""Whole words of capitals and digits, joined or not, in which these mix as no language does it, or
with long numbers. Not a word and a number, as in ISO 9001 and COVID-19: other languages put them
together in other ways. There the digits are a number."""

_SIGN = (
    "[\u00ae\u2122\u00b1\u00f7\u00b2\u00b3"
    "\u2200-\u2211\u2213-\u2216\u221a-\u2235\u2237-\u23ff\u2500-\u25ff]"
)
"""Those that most translations have (`docs/experiments.md`, 2026-11-26), which is not so of arrows,
\u00a9, \u00d7 and \u00b0."""


@cache
def _pattern(*, percent_first: bool, other_millions: bool) -> re.Pattern[str]:
    """Write the pattern of what stays in translations, for languages of a kind."""
    numbered = r"\d" if percent_first else r"\d+"
    counted = f"{_COUNTED_OTHERWISE}|{_MILLIONS}" if other_millions else _COUNTED_OTHERWISE
    pattern = (
        f"{_PLAIN}|(?P<address>{_ADDRESS})|(?P<placeholder>{_PLACEHOLDER})|(?P<picture>{PICTURE})"
        f"|(?P<code>{_CODE})|(?P<number>{_NUMBER})|{_NO_NUMBER}|(?P<sign>{_SIGN})"
    )
    for name, value in {
        "{STATEMENT}": STATEMENT,
        "{CONVERSION}": _CONVERSION,
        "{NO_WORD}": _NO_WORD,
        "{UNIT}": _UNIT,
        "{IN_BRACKETS}": _IN_BRACKETS,
        "{PATH}": PATH,
        "{UNIX_PATH}": _UNIX_PATH,
        "{NUMBERED}": numbered,
        "{COUNTED}": counted,
        "{WORD}": WORD_CHARACTER,
        "{UNSPACED}": UNSPACED + "\u3000-\u303f\uff00-\uffef",  # and their punctuation
    }.items():
        pattern = pattern.replace(name, value)
    return re.compile(pattern, re.VERBOSE)


_PRINTABLE = "".join(map(chr, range(ord("!"), ord("~") + 1)))
"""ASCII characters that may be part of a code, as some scripts write words without spaces."""

_EXCHANGED = str.maketrans(".,\u066b\u066c\uff0e\uff0c", ",.,.,.")


def find_protected(
    text: str,
    foreign_letter: re.Pattern[str] | None = None,
    *,
    languages: tuple[str, ...] = (),
) -> list[Term]:
    """Find what a translation of the text must keep, in order.

    A number may swap its points and commas, as languages write them differently. A number within a
    word, as in 1st, is not protected unless the word is a code.

    Args:
        text: Some text.
        foreign_letter: Finds letters of scripts in which neither language is written.
        languages: The codes of both; they decide whether %50 is a percentage, unlike a placeholder
            %5, and whether 2 million are written with another number.

    >>> [term.writings for term in find_protected("%s of 1,200 files at http://a.it/b, {user}")]
    [('%s',), ('1,200', '1.200'), ('http://a.it/b',), ('{user}',)]
    """
    terms = []
    if not _NOTHING_ELSE.fullmatch(text):
        codes = set(map(base_language, languages))
        pattern = _pattern(
            percent_first=not codes.isdisjoint(_WITH_PERCENT_FIRST),
            other_millions=not codes.isdisjoint(_WITH_OTHER_MILLIONS.split()),
        )
        terms = [
            _protect(cast("Kind", found.lastgroup), text, *found.span())
            for found in pattern.finditer(text)
            if found.lastgroup
        ]
    if foreign_letter is None or text.isascii():
        return terms
    places = [0, *(place for term in terms for place in (term.start, term.end)), len(text)]
    foreign = [
        _protect("foreign", text, start, end)
        for gap in zip(places[::2], places[1::2], strict=True)
        for start, end in _find_foreign(text, foreign_letter, *gap)
    ]
    return sorted(terms + foreign, key=lambda term: term.start)


def _find_foreign(
    text: str, foreign_letter: re.Pattern[str], first: int, last: int
) -> Iterator[tuple[int, int]]:
    """Find stretches of words in other scripts, with the marks on their letters."""
    start = end = 0
    for found in foreign_letter.finditer(text, first, last):
        if not found.group().isalpha():  # such as \u00bd, which re takes for part of a word
            continue
        between = text[end : found.start()]
        if end and not all(c.isspace() or is_combining(c) or c == "-" for c in between):
            yield start, end
            end = 0
        if not end:
            start = found.start()
        end = found.end()
        while is_combining(text[end : end + 1]):
            end += 1
    if end:
        yield start, end


def cut_around(text: str, terms: Sequence[Term]) -> list[str]:
    """Cut a text at what stays as it is.

    What touches one of them belongs to it: brackets, hyphens, the rest of a code. Joined, the
    pieces are the text.

    Returns:
        At even indices what can be translated, at odd indices what is kept.

    >>> cut_around("file CHE-12 of (%s).", find_protected("file CHE-12 of (%s)."))
    ['file ', 'CHE-12', ' of ', '(%s).', '']
    """
    pieces, end = [""], 0
    for term in terms:
        # One that touches an earlier one is in its piece; with many, looking again is quadratic.
        if term.kind == "glossary" or term.end <= end:
            continue
        before, after = text[end : term.start], text[term.end :]
        start = end + len(before.rstrip(_PRINTABLE))
        pieces[-1] += text[end:start]
        end = len(text) - len(after.lstrip(_PRINTABLE))
        if len(pieces) > 1 and not pieces[-1]:  # it touches the one before it
            pieces[-2] += text[start:end]
        else:
            pieces += [text[start:end], ""]
    pieces[-1] += text[end:]
    return pieces


def _protect(kind: Kind, text: str, start: int, end: int) -> Term:
    """Turn a stretch of text into a term."""
    written = text[start:end]
    writings = [written]
    if kind == "number":
        writings.append(written.translate(_EXCHANGED))
        writings += map(in_ascii, tuple(writings))
    return Term(
        kind=kind,
        start=start,
        end=end,
        writings=tuple(dict.fromkeys(writings)),
        continues_word=start > 0 and is_of_word(text[start - 1]),
        is_continued=is_of_word(text[end : end + 1]),
    )
