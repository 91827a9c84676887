"""Signs of a spreadsheet in a file: it quotes cells, and people give columns headings."""

from collections.abc import Iterable, Iterator

from dragoman.corpora.parallel_text import Pair
from dragoman.languages import language_name

ROLES = (("source", "target"), ("source", "translation"), ("src", "trg"), ("src", "tgt"))


class SpreadsheetSigns:
    """Looks at the pairs of one corpus as they pass.

    Args:
        languages: The codes of the source and of the target, which a heading may have.
    """

    def __init__(self, languages: tuple[str, str]) -> None:
        self._languages = languages
        self._pairs = 0
        self._quoted = [0, 0]
        self._heading: Pair | None = None

    def watch(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """Count the signs in the pairs that pass."""
        for pair in pairs:
            if pair.line == 1 and self._is_heading(pair):
                self._heading = pair
            self._pairs += 1
            for side, text in enumerate(pair[:2]):
                self._quoted[side] += _is_quoted(text)
            yield pair

    def warnings(self) -> list[str]:
        """Say what signs there were, in a sentence each."""
        found = []
        if self._heading is not None:
            source, target, line = self._heading
            found.append(f"line {line} ({source}, {target}) looks like a heading; remove it")
        for language, quoted in zip(self._languages, self._quoted, strict=True):
            if 2 * quoted > self._pairs:
                found.append(
                    f"{quoted:,} of {self._pairs:,} texts of {language} stand in quotation marks "
                    'and have "" within, as spreadsheets write cells; here quotation marks are '
                    "text, so save the file without them"
                )
        return found

    def _is_heading(self, pair: Pair) -> bool:
        names = pair.source.strip().lower(), pair.target.strip().lower()
        spelled = [{code.lower(), language_name(code).lower()} for code in self._languages]
        return names in ROLES or any(
            names[0] in first and names[1] in second
            for first, second in (spelled, reversed(spelled))
        )


def _is_quoted(text: str) -> bool:
    """Tell whether a cell was quoted because it has quotation marks, which are doubled then.

    >>> _is_quoted('"It ""is"" so"'), _is_quoted('"Yes," he said, "it is."')
    (True, False)
    """
    within = text.strip()[1:-1]
    return text.strip() == f'"{within}"' and '""' in within
