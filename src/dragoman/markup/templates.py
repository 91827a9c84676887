"""Templates of pages: what stands between their brackets is a program's, and is no HTML."""

import re
from collections.abc import Callable

from dragoman.terms.protected import STATEMENT

_TEMPLATE = re.compile(rf"( {STATEMENT} | \{{\{{[^{{}}]*\}}\}} )", re.VERBOSE)
_TAG = re.compile(r"(?<!\{\{)<[a-z/!?]", re.IGNORECASE)
_SIGNS = re.compile("""[<>"']""")


def without_signs(program: str) -> str:
    """Write spaces instead of the signs that mean something in HTML."""
    return _SIGNS.sub(" ", program)


def hide_templates(page: str) -> str:
    """Write spaces for signs in templates, which is how a page looks when they are filled in.

    Braces around tags, as in a page about templates, are text.

    >>> hide_templates("<p {% if a > b %}title='{{ _('A') }}'{% endif %}>")
    "<p {% if a   b %}title='{{ _( A ) }}'{% endif %}>"
    """
    return _TEMPLATE.sub(
        lambda found: found[0] if _TAG.search(found[0]) else without_signs(found[0]), page
    )


def keep_templates(
    source: str, read: Callable[[str], str], write: Callable[[str], str]
) -> Callable[[str], str]:
    """Return how to write the translation of a text: its templates as they were.

    Args:
        source: The text as it was written.
        read: How it was read.
        write: Writes what is no template.
    """
    own = {read(template): template for template in _TEMPLATE.findall(source)}
    if not own:
        return write
    return lambda text: "".join(own.get(part) or write(part) for part in _TEMPLATE.split(text))
