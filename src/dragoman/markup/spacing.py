"""White space between texts that are translated one by one, and where a line is wrapped."""

import re
import unicodedata

from dragoman.languages.scripts import UNSPACED_CHARACTER, WITHOUT_SPACES
from dragoman.terms.term import is_of_word
from dragoman.tokenizers.sentences import joint

_FULL_WIDTH = re.compile("[\u3001-\u303f\uff00-\uffef]")
_BESIDE_NO_SPACE = f"(?:{WITHOUT_SPACES.pattern}|{_FULL_WIDTH.pattern})"
_GAP = re.compile(rf"(?<={_BESIDE_NO_SPACE})\s++(?={_BESIDE_NO_SPACE})")


def unwrap(text: str) -> str:
    r"""Write each line break as a space, or as nothing where a script without spaces goes on.

    >>> unwrap("猫は\n川を見る。"), unwrap("the\ncat"), unwrap("猫 犬")
    ('猫は川を見る。', 'the cat', '猫 犬')
    """
    return _GAP.sub(lambda gap: "" if "\n" in gap[0] else gap[0], text).replace("\n", " ")


def respace(
    sources: tuple[str, str], translations: tuple[str, str], language: str
) -> tuple[str, str, str]:
    """Choose the white space between two texts that are translated one by one.

    A space becomes what the language puts between sentences, but stays between two words that need
    one. Where the source has none, as its script has no spaces, one comes if the language has them.

    Returns:
        The first translation, what stands behind it, and the second translation.
    """
    left, right = translations
    first, second = left.rstrip(), right.lstrip()
    gap = left[len(first) :] + right[: len(right) - len(second)]
    if not (first and second):
        return left, "", right
    if gap == " ":
        is_chosen = not (is_of_word(first[-1]) and is_of_word(second[0]))
    else:
        is_chosen = not gap and _needs_no_space(sources[0][-1:], sources[1][:1])
    if not is_chosen or gap == joint(language):
        return left, "", right
    return first, joint(language), second


def _needs_no_space(before: str, after: str) -> bool:
    """Tell whether only a script without spaces has none between two characters, if there are."""
    if not (before and after and UNSPACED_CHARACTER.search(before + after)):
        return False
    opens, closes = unicodedata.category(before), unicodedata.category(after)
    return opens not in ("Ps", "Pi") and closes not in ("Pe", "Pf", "Po")
