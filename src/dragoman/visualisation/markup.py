"""Elements of HTML and SVG, written so that no text can break out of them."""

import html
from collections.abc import Mapping

VOID = frozenset({"circle", "input", "meta", "path", "polyline", "rect"})
"""What is written without an end tag, unless it has a title inside."""

_PICTURES = (
    {code: 0x2400 + code for code in range(0x20)}
    | {0x7F: 0x2421}
    | dict.fromkeys([*range(0x80, 0xA0), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF], 0xFFFD)
)
"""Of control characters, and the replacement character for what is no character at all."""


def visible(text: str) -> str:
    r"""Replace characters that cannot be written in a page by pictures of them.

    XML has no control characters, and a line break in a label would be lost.

    >>> visible("a\tb\x00")
    'a␉b␀'
    """
    return text.translate(_PICTURES)


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
