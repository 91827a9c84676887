"""Names for what stands in a sentence and is no text, such as a picture: a translation keeps them.

They look like the placeholders of programs, which a search has to produce. Words around them are
never found within them, as a number would be in `{0}`.
"""

import re
from collections.abc import Iterator
from itertools import count

PLACEHOLDER = re.compile(r"\{x\d+\}")
_NAME = re.compile(r"x\d+", re.IGNORECASE)


def unused_names(text: str) -> Iterator[str]:
    """Yield placeholders that are not in a text, nor a word of it in them.

    >>> names = unused_names("Press {x0} and X2.")
    >>> next(names), next(names)
    ('{x1}', '{x3}')
    """
    used = {name.lower() for name in _NAME.findall(text)}
    return (f"{{{name}}}" for i in count() if (name := f"x{i}") not in used)
