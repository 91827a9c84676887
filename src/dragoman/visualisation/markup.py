"""Elements of HTML and SVG, written so that no text can break out of them."""

import html
import re
from collections.abc import Mapping

VOID = frozenset({"circle", "input", "meta", "path", "polyline", "rect"})
"""What is written without an end tag, unless it has a title inside."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_FIRST_PICTURE = 0x2400
_PICTURE_OF_DELETE, _REPLACEMENT = "\u2421", "\ufffd"


def visible(text: str) -> str:
    r"""Replace characters that cannot be written in a page by pictures of them.

    XML has no control characters, and a line break in a label would be lost.

    >>> visible("a\tb\x00")
    'a␉b␀'
    """
    return _CONTROL.sub(_picture, text)


def _picture(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < ord(" "):
        return chr(_FIRST_PICTURE + code)
    return _PICTURE_OF_DELETE if code == 0x7F else _REPLACEMENT  # noqa: PLR2004


def escape(text: str) -> str:
    """Write a text as content or as the value of an attribute.

    >>> escape('<"&$')
    '&lt;&quot;&amp;$'
    """
    return html.escape(visible(text))


def isolated(text: str) -> str:
    """Keep a text in any direction from turning around what stands beside it."""
    return f"\u2068{text}\u2069"


def element(name: str, attributes: Mapping[str, object], *children: str) -> str:
    """Write an element; its children are markup, its attributes are escaped here.

    Numbers are written with at most two decimals; the rest is too small to see.

    >>> element("text", {"x": 1.5, "class": "a"}, escape("<s>"))
    '<text x="1.5" class="a">&lt;s&gt;</text>'
    """
    written = "".join(f' {key}="{_value(value)}"' for key, value in attributes.items())
    if name in VOID and not children:
        return f"<{name}{written}/>"
    return f"<{name}{written}>{''.join(children)}</{name}>"


def _value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return escape(str(value))
