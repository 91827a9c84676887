"""Which elements of a document are translated, and which stand within sentences."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from dragoman.markup.escapes import ESCAPE
from dragoman.markup.tags import Kind

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
    """Elements that hold a tag of another format, and the kind of that tag: "open" or "close"."""

    mixed_is_inline: bool = False
    """Whether elements with text beside them are also within sentences, as in XML."""

    block: frozenset[str] = frozenset()
    """Elements that are never within sentences, whatever is beside them."""

    is_xml: bool = False
    """Whether the names of elements mean nothing except what is said here."""

    is_string: bool = False
    r"""Whether it is a program's string: `\n` is a line break, and `&` may stand for itself."""


STRING = Rules(mixed_is_inline=True, block=frozenset((*_BLOCK.split(), ESCAPE)), is_string=True)
"""A string of a program, as in gettext and XLIFF files."""

CODE = "code of another format"
"""The name of all tags that are written as elements."""
