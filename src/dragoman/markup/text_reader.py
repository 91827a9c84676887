"""Texts as the model between two languages wants them taken apart."""

from dataclasses import dataclass

from dragoman.markup.document import Markup, is_marked_up
from dragoman.markup.passage import Passage, PlainText
from dragoman.markup.rules import STRING, Rules


@dataclass(frozen=True)
class TextReader:
    """Takes texts apart for a model."""

    source: str
    """The code of the language of the texts."""

    target: str

    splits_sentences: bool = True
    """Whether the model has learnt to translate sentences, not lines or paragraphs."""

    def read_plain(self, text: str, *, lines: bool = True, wraps: bool = False) -> PlainText:
        """Take apart a text without tags; see `PlainText`."""
        return PlainText(
            text,
            self.source,
            self.target,
            lines=lines,
            wraps=wraps,
            sentences=self.splits_sentences,
        )

    def read_markup(self, text: str, rules: Rules, *, lines: bool = False) -> Markup:
        """Take apart HTML or XML, in which a line break is a space, unless lines stay lines."""
        return Markup(text, rules, self.read_line if lines else self._read_text)

    def read_string(self, text: str) -> Passage:
        """Take apart a string of a program, or a line of text, which may have tags or escapes."""
        if is_marked_up(text):
            return Markup(text, STRING, self.read_line)
        return self.read_line(text)

    def read_line(self, text: str) -> PlainText:
        """Take apart a line without tags; a line of a file holds no line feed, a string may."""
        return self.read_plain(text, lines="\n" in text, wraps=True)

    def _read_text(self, text: str) -> PlainText:
        return self.read_plain(text, lines=False)
