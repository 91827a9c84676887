"""Text to text: the class that people import."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import overload

from dragoman.config import DragomanError, RecipeError, from_table
from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import EMPTY, Hypothesis
from dragoman.engines.protocol import Engine
from dragoman.model_directory import DESCRIPTION_NAME, ModelDirectory
from dragoman.tokenizers.cutting import encode_in_parts
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.tokenizer import SpecialIds

CHUNK = 2048
"""Texts that are read ahead; among so many, there are enough of similar length for a batch."""

MAX_SOURCE_TOKENS = 1024
"""Tokens that are translated at once; the memory that a search takes grows with them."""


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """One translation of a text."""

    text: str
    score: float
    """Log-probability divided by the length penalty; it ranks the alternatives."""

    finished: bool
    """Whether it ended by itself; otherwise it was stopped at the length limit."""


@dataclass(frozen=True, kw_only=True)
class Translation:
    """What a text was translated to."""

    source: str
    alternatives: tuple[Alternative, ...]
    """The best first; as many as `n_best`, or fewer if there are not so many."""

    parts: int = 1
    """In how many parts the text was translated; more than one if it is too long for one."""

    @property
    def text(self) -> str:
        """The best translation."""
        return self.alternatives[0].text

    @property
    def score(self) -> float:
        """The score of the best translation."""
        return self.alternatives[0].score

    @property
    def finished(self) -> bool:
        """Whether the best translation ended by itself."""
        return self.alternatives[0].finished


class Translator:
    """Translates text with a saved model.

    A text is one line: line breaks inside it are spaces. An empty or blank text is translated to
    an empty one. A text's translation does not depend on the others it is given with.

    A text of more than `MAX_SOURCE_TOKENS` tokens is cut, between sentences if it can be, and its
    parts are translated each for itself. Its first translation joins the first ones of the parts,
    its second the second ones, up to the part that has the fewest; their scores are added.

    Args:
        path: A model directory.
        device: A name that PyTorch knows, as cuda:1; "auto" takes a GPU if there is one.
        search: How to search, if not as the model's description says.

    Raises:
        DragomanError: the model cannot be used, there is no such device, or PyTorch is missing.
    """

    def __init__(
        self, path: str | Path, *, device: str = "auto", search: SearchConfig | None = None
    ) -> None:
        directory = ModelDirectory(path)
        self.search = search or _default_search(directory)
        self._tokenizers = directory.load_tokenizers()
        self._engine: Engine = _build_engine(directory, device)

    @classmethod
    def from_engine(
        cls, engine: Engine, tokenizers: TokenizerPair, *, search: SearchConfig | None = None
    ) -> "Translator":
        """Put a translator together from parts that are in memory already."""
        translator = cls.__new__(cls)
        translator.search = search or SearchConfig()
        translator._tokenizers = tokenizers
        translator._engine = engine
        return translator

    @overload
    def __call__(self, text: str) -> str: ...
    @overload
    def __call__(self, text: list[str]) -> list[str]: ...
    def __call__(self, text: str | list[str]) -> str | list[str]:
        """Translate a text, or each text of a list."""
        texts = [text] if isinstance(text, str) else text
        translations = [translation.text for translation in self.translate(texts)]
        return translations[0] if isinstance(text, str) else translations

    def translate(
        self, texts: Iterable[str], search: SearchConfig | None = None
    ) -> Iterator[Translation]:
        """Translate any number of texts in constant memory; one comes out for each, in order."""
        remaining = iter(texts)
        while chunk := list(islice(remaining, CHUNK)):
            encoded = self._encode(chunk)
            sources = [part for parts in encoded for part in parts]
            found = iter(self._engine.search(sources, search or self.search))
            for text, parts in zip(chunk, encoded, strict=True):
                yield self._read(text, [next(found) or [EMPTY] for _ in parts])

    def _encode(self, texts: list[str]) -> list[list[list[int]]]:
        """Turn each text into tokens: those of the whole, or of its parts if it is too long."""
        tokenizer = self._tokenizers.source
        return [
            [ids]
            if len(ids) <= MAX_SOURCE_TOKENS
            else encode_in_parts(text, tokenizer, limit=MAX_SOURCE_TOKENS)
            for text, ids in zip(texts, tokenizer.encode_batch(texts), strict=True)
        ]

    def _read(self, source: str, parts: list[list[Hypothesis]]) -> Translation:
        """Put the hypotheses of each part back into text, and the parts together."""
        decode = self._tokenizers.target.decode
        return Translation(
            source=source,
            alternatives=tuple(
                Alternative(
                    text=" ".join(filter(None, (decode(part.ids) for part in joined))),
                    score=sum(part.score for part in joined),
                    finished=all(part.finished for part in joined),
                )
                for joined in zip(*parts, strict=False)
            ),
            parts=len(parts),
        )


def _default_search(directory: ModelDirectory) -> SearchConfig:
    """Read the search settings of a model."""
    try:
        return from_table(SearchConfig, directory.description.search, at="search.")
    except RecipeError as error:
        raise DragomanError(f"{directory.path / DESCRIPTION_NAME}: {error}") from error


def _build_engine(directory: ModelDirectory, device: str) -> Engine:
    """Load the model into PyTorch."""
    try:
        from dragoman.engines.pytorch import PyTorchEngine, choose_device
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "jaxtyping"):
            raise
        raise DragomanError(
            'translating needs PyTorch: pip install "dragoman[train]" installs it'
        ) from None
    special = directory.description.special_ids
    chosen = choose_device(device)
    return PyTorchEngine(
        directory.load_transformer(str(chosen)),
        special,
        forbidden_ids=forbidden_ids(directory.description.tokenizer.kind, special),
    )


def forbidden_ids(kind: str, special: SpecialIds) -> tuple[int, ...]:
    """List the tokens that a translation never has; whole words need the unknown one."""
    markers = (special.pad, special.bos)
    return markers if kind == "words" else (*markers, special.unk)
