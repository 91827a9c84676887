"""The tokenizers of a model: one for each language, or one for both."""

from dataclasses import dataclass
from pathlib import Path

from dragoman.tokenizers.config import TokenizerKind
from dragoman.tokenizers.marian import MarianTokenizer
from dragoman.tokenizers.sentencepiece import SentencePieceTokenizer
from dragoman.tokenizers.tokenizer import Tokenizer, TokenizerError
from dragoman.tokenizers.words import WordTokenizer

TYPES: dict[str, type[SentencePieceTokenizer | WordTokenizer | MarianTokenizer]] = {
    ".model": SentencePieceTokenizer,
    ".words": WordTokenizer,
    ".marian": MarianTokenizer,
}
"""Tokenizers by the ending of their file."""

_SUFFIXES: dict[TokenizerKind, str] = {
    "unigram": ".model",
    "bpe": ".model",
    "words": ".words",
    "marian": ".marian",
}


@dataclass(frozen=True)
class TokenizerPair:
    """The tokenizer of the source language and that of the target language."""

    source: Tokenizer
    target: Tokenizer

    @property
    def joint(self) -> bool:
        """Whether one tokenizer serves both languages."""
        return self.source is self.target

    def save(self, directory: Path) -> None:
        """Write `tokenizer.model`, or `tokenizer.source.model` and `tokenizer.target.model`.

        Lists of words end in `.words`, imported tokenizers in `.marian`. The files of an earlier
        pair are removed.
        """
        directory.mkdir(parents=True, exist_ok=True)
        for stale in possible_files(directory):
            stale.unlink(missing_ok=True)
        suffix = next(end for end, kind in TYPES.items() if isinstance(self.source, kind))
        both, source, target = _files(directory, suffix)
        if self.joint:
            self.source.save(both)
        else:
            self.source.save(source)
            self.target.save(target)

    @classmethod
    def load(cls, directory: Path, kind: TokenizerKind) -> "TokenizerPair":
        """Read what `save` wrote.

        Raises:
            TokenizerError: a file is missing or damaged, or there are files of both kinds of pairs.
        """
        suffix = _SUFFIXES[kind]
        load = TYPES[suffix].load
        both, source, target = _files(directory, suffix)
        if not both.exists():
            if not source.exists() and not target.exists():
                raise TokenizerError(
                    f"{directory}: it has neither {both.name} nor {source.name} and {target.name}; "
                    "copy the model again"
                )
            return cls(load(source), load(target))
        if source.exists() or target.exists():
            raise TokenizerError(
                f"{directory}: {both.name} stands beside {source.name} or {target.name}; "
                "remove those that do not belong to the model"
            )
        tokenizer = load(both)
        return cls(tokenizer, tokenizer)


def possible_files(directory: Path) -> list[Path]:
    """Name the files that tokenizers of any kind have in a directory."""
    return [path for suffix in TYPES for path in _files(directory, suffix)]


def _files(directory: Path, suffix: str) -> tuple[Path, Path, Path]:
    """Name the file of a joint tokenizer, and those of separate ones."""
    return (
        directory / f"tokenizer{suffix}",
        directory / f"tokenizer.source{suffix}",
        directory / f"tokenizer.target{suffix}",
    )
