"""Names for what stands in a sentence and is no text, such as a picture: a translation keeps them.

They look like the placeholders of programs, which a search has to produce. Words around them are
never found within them, as a number would be in `{0}`.
"""

import re
from collections.abc import Iterator
from itertools import count

PLACEHOLDER = re.compile(r"\{x\d+\}")


def unused_names(text: str) -> Iterator[str]:
    """Yield placeholders that are not in a text.

    >>> names = unused_names("Press {x0}.")
    >>> next(names), next(names)
    ('{x1}', '{x2}')
    """
    used = set(PLACEHOLDER.findall(text))
    return (name for i in count() if (name := f"{{x{i}}}") not in used)
