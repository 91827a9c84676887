"""Placeholders, numbers and addresses, which a translation keeps as they are."""

import re
from collections.abc import Sequence

from dragoman.terms.term import Kind, Term

PATH = r"""
    (?: (?<![\w%])[A-Za-z]:\\(?:[^\snr]|[^\s\\]*[\\.]\w) | (?<![\w\\])\\\\\w )
    (?: [^\s<>"']*[^\s<>"'.,;:!?)\]] )?
"""
r"""A path of Windows, verbose, in which `\n` is no line break: C:\nine.txt, but not C:\nine."""

_ADDRESS = r"""
    (?:https?|ftps?|file)://[^\s<>"']*[^\s<>"'.,;:!?)\]]
  | www\.[^\s<>"']*[^\s<>"'.,;:!?)\]]
  | {PATH}
  | (?<![\w.+-])[\w.+-]+@\w[\w-]*(?:\.\w[\w-]*)+
"""

_CONVERSION = r"\d{0,9}(?:\.\d{1,9})?(?:hh?|ll?|z)?[diouxXeEfFgGcrsan@](?![^\W_])"
"""The end of a placeholder of printf."""

_PLACEHOLDER = r"""
    \$?\{\{[^{}]*\}\}                                # {{ name }}
  | [$\#%]?\{[^{}\s]+\}                              # {0}, {name:.2f}, ${x}, {$a}, #{x}, %{x}
  | %\([^()\s]+\)[-#0+]{0,5}[\d.]{0,9}[a-zA-Z]      # %(name)s, %(share).1f
  | %(?:\d+\$)?[#0+]{0,4}{CONVERSION}               # %s, %1$d, %.2f
  | (?<!\d)(?<!\d[ \u00a0])%-(?=\d){CONVERSION}     # %-5.2f, but not the share of 50%-a
  | %L?\d+(?!\w)                                     # %1
  | \$[A-Za-z_]\w*                                   # $name
  | (?<!\w)__\w+__(?!\w)                             # __name__
"""

_NUMBER = r"""
    (?<![\w.,])\d+(?:[.,:/-]\d+)*(?!\w)
"""

_PROTECTED = re.compile(
    f"(?P<address>{_ADDRESS})|(?P<placeholder>{_PLACEHOLDER})|(?P<number>{_NUMBER})".replace(
        "{CONVERSION}", _CONVERSION
    ).replace("{PATH}", PATH),
    re.VERBOSE,
)

_PRINTABLE = "".join(map(chr, range(ord("!"), ord("~") + 1)))
"""Of ASCII: what may be part of a code, where other scripts write words without spaces."""

_EXCHANGED = str.maketrans(".,", ",.")


def find_protected(text: str) -> list[Term]:
    """Find what a translation of the text must keep, in order.

    A number may exchange its points and commas, as languages write them differently. One that is
    part of a word, as in 1st, is not protected.

    >>> [term.writings for term in find_protected("%s of 1,200 files at http://a.it/b, {user}")]
    [('%s',), ('1,200', '1.200'), ('http://a.it/b',), ('{user}',)]
    """
    return [_read(found, text) for found in _PROTECTED.finditer(text)]


def cut_around(text: str, terms: Sequence[Term]) -> list[str]:
    """Cut a text at its placeholders, numbers and addresses.

    What touches one of them belongs to it: brackets, hyphens, the rest of a code. Put together, the
    pieces are the text.

    Returns:
        At even places what can be translated, at odd places what is kept.

    >>> cut_around("file CHE-12 of (%s).", find_protected("file CHE-12 of (%s)."))
    ['file ', 'CHE-12', ' of ', '(%s).', '']
    """
    pieces, end = [""], 0
    for term in terms:
        if term.kind == "glossary" or term.end <= end:
            continue
        before, after = text[end : max(end, term.start)], text[term.end :]
        start = end + len(before.rstrip(_PRINTABLE))
        pieces[-1] += text[end:start]
        end = len(text) - len(after.lstrip(_PRINTABLE))
        if len(pieces) > 1 and not pieces[-1]:  # it touches the one before it
            pieces[-2] += text[start:end]
        else:
            pieces += [text[start:end], ""]
    pieces[-1] += text[end:]
    return pieces


def _read(found: re.Match[str], text: str) -> Term:
    kind: Kind
    if found["address"]:
        kind = "address"
    elif found["placeholder"]:
        kind = "placeholder"
    else:
        kind = "number"
    start, end = found.span()
    written = found.group()
    exchanged = written.translate(_EXCHANGED) if kind == "number" else written
    return Term(
        kind=kind,
        start=start,
        end=end,
        writings=tuple(dict.fromkeys((written, exchanged))),
        continues_word=text[start - 1 : start].isalnum() if start else False,
        is_continued=text[end : end + 1].isalnum(),
    )
