"""Signs that a file comes from a spreadsheet: quoted cells and column headings."""

import re
from dataclasses import dataclass

from dragoman.corpora.config import CorpusConfig
from dragoman.corpora.file_names import CSV, ending
from dragoman.corpora.parallel_text import Pair, has_named_sides
from dragoman.corpora.text_file import expand
from dragoman.languages.codes import base_language, language_name, names_language

ROLES = (
    *(("source", "target"), ("source", "translation"), ("src", "trg"), ("src", "tgt")),
    *(("term", "translation"), ("terme", "traduction"), ("termine", "traduzione")),
    *(("quelle", "ziel"), ("ausgangstext", "zieltext"), ("begriff", "übersetzung")),
    ("source", "cible"),
)

_BESIDE_A_NAME = re.compile(
    r"(?<!\s)(?:\s+(?:term|text|sentence|word)s?)?\s*(?:\([^()]*\))?\Z", re.IGNORECASE
)
"""What the column has, a region or a language, as in `English terms (UK)` and `Source (en)`."""

NEARLY_ALL, FEWEST_CELLS = 0.9, 3
"""What share of the texts with quotation marks, and how many, must look like quoted cells."""


@dataclass(kw_only=True)
class _Quotes:
    """Counts the texts of one side that may be quoted cells.

    A spreadsheet quotes a cell if there is a quotation mark or a separator in it, or always, and
    doubles the marks within. People quote whole sentences, too, but not whenever there is a comma
    in them.
    """

    texts: int = 0
    marked: int = 0
    quoted: int = 0
    doubled: int = 0
    with_comma: int = 0
    quoted_with_comma: int = 0

    def add(self, text: str) -> None:
        """Count one more text."""
        comma = "," in text
        self.texts += 1
        self.with_comma += comma
        if '"' not in text:
            return
        self.marked += 1
        text = text.strip()
        within = text[1:-1]
        if text == f'"{within}"' and '"' not in within.replace('""', ""):
            self.quoted += 1
            self.doubled += '""' in within
            self.quoted_with_comma += comma

    def are_of_cells(self) -> bool:
        """Tell whether they seem to be a spreadsheet's."""
        if self.quoted < max(FEWEST_CELLS, NEARLY_ALL * self.marked):
            return False
        comma_is_why = self.quoted_with_comma >= max(FEWEST_CELLS, NEARLY_ALL * self.with_comma)
        return self.doubled > 0 or comma_is_why or 2 * self.quoted > self.texts


class SpreadsheetSigns:
    """Examines the pairs of one corpus as they pass.

    Args:
        corpus: Where they are from; in some formats, quotation marks have been read already.
        languages: The codes of the source and of the target, which a heading may have.
    """

    def __init__(self, corpus: CorpusConfig, languages: tuple[str, str]) -> None:
        self._has_plain_cells = not has_named_sides(corpus) and (
            corpus.path is None or ending(expand(corpus.path)) != CSV
        )
        self._languages = languages
        self._quotes = _Quotes(), _Quotes()
        self._heading: Pair | None = None
        self._is_below_titles = True

    def add(self, pair: Pair) -> None:
        """Count the signs in one more pair."""
        if is_heading(pair, self._languages, is_below_titles=self._is_below_titles):
            self._heading = pair
        self._is_below_titles &= not all(text.strip() for text in pair[:2])
        for quotes, text in zip(self._quotes, pair[:2], strict=True):
            quotes.add(text)

    def warnings(self) -> list[str]:
        """Say what signs there were, in one sentence each."""
        found = []
        if self._heading is not None:
            source, target, line = self._heading
            found.append(f"line {line} ({source}, {target}) looks like a heading; remove it")
        for language, quotes in zip(self._languages, self._quotes, strict=True):
            if self._has_plain_cells and quotes.are_of_cells():
                found.append(
                    f"{quotes.quoted:,} of {quotes.texts:,} texts in {language_name(language)} "
                    f"({language}) are in quotation marks, as spreadsheets write cells; here "
                    "quotation marks are text, so name the file .csv, or save it without them"
                )
        return found


def is_heading(pair: Pair, languages: tuple[str, str], *, is_below_titles: bool = False) -> bool:
    """Tell whether a pair is at the top of its file and names the columns.

    The first line of a CSV may be `sep=;`, which is no pair. Above a heading there may also be a
    title and empty rows: pairs with an empty side.
    """
    if pair.line > 2 and not is_below_titles:  # noqa: PLR2004
        return False
    names = [_BESIDE_A_NAME.sub("", text.strip()) for text in pair[:2]]
    return tuple(map(base_language, names)) in ROLES or any(
        all(map(names_language, names, order)) for order in (languages, languages[::-1])
    )
