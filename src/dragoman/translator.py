"""Text to text: the class that people import."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple, overload

from dragoman.config import DragomanError, RecipeError, from_table
from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import EMPTY, Hypothesis
from dragoman.engines.protocol import Engine, EngineError
from dragoman.faults import Fault, find_faults
from dragoman.model_directory import DESCRIPTION_NAME, ModelDirectory
from dragoman.tokenizers.normalisation import encodable
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.sentences import cut_to_fit, join_translations, split_sentences
from dragoman.tokenizers.tokenizer import forbidden_ids

EngineKind = Literal["auto", "pytorch", "ctranslate2"]

WIDTH_OF_SECOND_SEARCH = 8
"""Of the beam, where the first search has found something with a fault."""

CHUNK = 2048
"""Texts that are read ahead; among so many, there are enough of similar length for a batch."""


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """One translation of a text."""

    text: str
    score: float
    """Log-probability divided by the length penalty; it ranks the alternatives."""

    finished: bool
    """Whether it ended by itself; otherwise it was stopped at the length limit."""

    faults: tuple[Fault, ...]
    """What is wrong with it at first sight; see `dragoman.faults`."""


@dataclass(frozen=True, kw_only=True)
class Translation:
    """What a text was translated to."""

    source: str
    alternatives: tuple[Alternative, ...]
    """As many as `n_best`, or fewer if there are not so many. Those without a fault come first, and
    of these the best scored."""

    parts: tuple[str, ...]
    """What was translated at once: the sentences of the source, or pieces of a long one."""

    cut: bool
    """Whether a sentence was too long for the model, so that it was translated in pieces."""

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

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What is wrong with the best translation at first sight."""
        return self.alternatives[0].faults


class Translator:
    """Translates text with a saved model.

    A text is cut into its sentences, as that is what most models have learnt to translate, and
    the white space between them is kept. An empty or blank text stays as it is. A text's
    translation does not depend on the others it is given with.

    A translation that is empty, repeats itself, copies the source or is far too long or short gives
    way to the best one without such a fault, if a wider search finds any; or it says its fault.

    A sentence of more tokens than the model has seen is cut again, between clauses if it can be,
    and its pieces are translated each for itself. The first translation of a text joins the first
    ones of its parts, the second the second ones, up to the part that has the fewest; their
    scores are added.

    Args:
        path: A model directory.
        engine: "pytorch", or "ctranslate2" if `dragoman export` has made a copy for it. "auto"
            takes the copy if there is one, unless there is a GPU or the search samples.
        device: A name that PyTorch knows, as cuda:1; "auto" takes a GPU if there is one.
        search: How to search, if not as the model's description says.
        split_sentences: Whether to cut a text into sentences; a model that has learnt from
            paragraphs may do better with the whole.

    Raises:
        DragomanError: the model cannot be used, there is no such device, or PyTorch is missing.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        engine: EngineKind = "auto",
        device: str = "auto",
        search: SearchConfig | None = None,
        split_sentences: bool = True,
    ) -> None:
        directory = ModelDirectory(path)
        description = directory.description
        self.search = search or default_search(directory)
        self._splits = split_sentences
        self._languages = (description.source_language, description.target_language)
        self._max_length = description.max_length
        self._tokenizers = directory.load_tokenizers()
        self._engine: Engine = _build_engine(
            directory, self._tokenizers, engine, device, self.search
        )

    @classmethod
    def from_engine(
        cls,
        engine: Engine,
        tokenizers: TokenizerPair,
        *,
        languages: tuple[str, str],
        max_length: int,
        search: SearchConfig | None = None,
        split_sentences: bool = True,
    ) -> "Translator":
        """Put a translator together from parts that are in memory already."""
        translator = cls.__new__(cls)
        translator.search = search or SearchConfig()
        translator._splits = split_sentences
        translator._languages = languages
        translator._max_length = max_length
        translator._tokenizers = tokenizers
        translator._engine = engine
        return translator

    @property
    def engine(self) -> str:
        """What computes: an engine, its version, and where."""
        return self._engine.name

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
            cut = self._cut(chunk)
            parts = [
                _Part(*part) for text in cut for part in zip(text.parts, text.encoded, strict=True)
            ]
            found = iter(self._search(parts, search or self.search))
            for source, text in zip(chunk, cut, strict=True):
                yield self._join(source, text, [next(found) for _ in text.parts])

    def _search(self, parts: list["_Part"], search: SearchConfig) -> list[list[Alternative]]:
        """Translate each part; where the best translation has a fault, look for others."""
        found = self._read(parts, self._engine.search([part.ids for part in parts], search))
        faulty = [i for i, alternatives in enumerate(found) if alternatives[0].faults]
        if faulty and not search.samples:
            width = max(search.beam_size, WIDTH_OF_SECOND_SEARCH)
            wider = replace(search, beam_size=width, n_best=width)
            again = [parts[i] for i in faulty]
            others = self._read(again, self._engine.search([part.ids for part in again], wider))
            for i, alternatives in zip(faulty, others, strict=True):
                # Stable: of those without a fault the best scored is the first.
                alternatives.sort(key=lambda alternative: bool(alternative.faults))
                found[i] = alternatives[: search.n_best]
        return found

    def _read(self, parts: list["_Part"], found: list[list[Hypothesis]]) -> list[list[Alternative]]:
        """Put the hypotheses of each part back into text, and look at it."""
        return [
            [self._look_at(part, hypothesis) for hypothesis in hypotheses or [EMPTY]]
            for part, hypotheses in zip(parts, found, strict=True)
        ]

    def _look_at(self, part: "_Part", hypothesis: Hypothesis) -> Alternative:
        text = self._tokenizers.target.decode(hypothesis.ids)
        faults = find_faults(part.text, text, source_ids=part.ids, translation_ids=hypothesis.ids)
        return Alternative(
            text=text, score=hypothesis.score, finished=hypothesis.finished, faults=faults
        )

    def _cut(self, texts: list[str]) -> list["_CutText"]:
        """Cut texts into sentences, and sentences that are too long into pieces."""
        sentences = [self._sentences(encodable(text)) for text in texts]
        encoded = iter(
            self._tokenizers.source.encode_batch([s for text in sentences for s in text])
        )
        return [self._fit(text, [next(encoded) for _ in text]) for text in sentences]

    def _sentences(self, text: str) -> list[str]:
        return split_sentences(text, self._languages[0]) if self._splits else [text]

    def _fit(self, sentences: list[str], encoded: list[list[int]]) -> "_CutText":
        """Cut the sentences that have more tokens than the model has seen."""
        tokenizer, limit = self._tokenizers.source, self._max_length
        if all(len(ids) <= limit for ids in encoded):
            return _CutText(sentences, encoded, within_sentences=False)
        parts = [part for s in sentences for part in cut_to_fit(s, tokenizer, limit=limit)]
        return _CutText(parts, tokenizer.encode_batch(parts), within_sentences=True)

    def _join(self, source: str, cut: "_CutText", found: list[list[Alternative]]) -> Translation:
        """Put the translations of the parts of a text together."""
        return Translation(
            source=source,
            alternatives=join_alternatives(
                found, lambda texts: join_translations(cut.parts, texts, self._languages[1])
            ),
            parts=tuple(part.strip() for part in cut.parts),
            cut=cut.within_sentences,
        )


def join_alternatives(
    found: Sequence[Sequence[Alternative]], put_together: Callable[[list[str]], str]
) -> tuple[Alternative, ...]:
    """Join the translations of the parts of a text, as `Translator` says.

    Args:
        found: The alternatives of each part, at least one.
        put_together: Makes a text of a translation of each part.
    """
    choices = zip(*found, strict=False) if found else [()]
    return tuple(
        Alternative(
            text=put_together([part.text for part in joined]),
            score=sum(part.score for part in joined),
            finished=all(part.finished for part in joined),
            faults=tuple(dict.fromkeys(fault for part in joined for fault in part.faults)),
        )
        for joined in choices
    )


class _Part(NamedTuple):
    """What is translated at once."""

    text: str
    ids: list[int]


class _CutText(NamedTuple):
    """A text in the parts that are translated at once; put together, they are the text."""

    parts: list[str]
    encoded: list[list[int]]
    within_sentences: bool
    """Whether a part is less than a sentence."""


def default_search(directory: ModelDirectory) -> SearchConfig:
    """Read the search settings of a model."""
    try:
        return from_table(SearchConfig, directory.description.search, at="search.")
    except RecipeError as error:
        raise DragomanError(f"{directory.path / DESCRIPTION_NAME}: {error}") from error


def _build_engine(
    directory: ModelDirectory,
    tokenizers: TokenizerPair,
    kind: EngineKind,
    device: str,
    search: SearchConfig,
) -> Engine:
    """Load the model into the engine that was asked for, or that suits it."""
    if kind == "auto":
        kind = "ctranslate2" if _suits_ctranslate2(directory, device, search) else "pytorch"
    if kind == "pytorch":
        return _build_pytorch_engine(directory, device)
    if device not in ("auto", "cpu"):
        raise EngineError(f"CTranslate2 is used on the CPU here, not on {device}")
    from dragoman.engines.ctranslate2 import CTranslate2Engine

    return CTranslate2Engine(directory, tokenizers)


def _suits_ctranslate2(directory: ModelDirectory, device: str, search: SearchConfig) -> bool:
    """Tell whether there is a copy for CTranslate2 and nothing that needs PyTorch.

    PyTorch is not asked for a GPU, as it takes longer to import than a sentence to translate.
    """
    if search.samples or device not in ("auto", "cpu"):
        return False
    try:
        import ctranslate2

        from dragoman.engines.ctranslate2 import is_copied
    except ModuleNotFoundError:
        return False
    on_gpu = device == "auto" and ctranslate2.get_cuda_device_count() > 0
    return not on_gpu and is_copied(directory)


def _build_pytorch_engine(directory: ModelDirectory, device: str) -> Engine:
    """Load the model into PyTorch."""
    try:
        from dragoman.device import choose_device
        from dragoman.engines.pytorch import PyTorchEngine

        chosen = choose_device(device)
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "jaxtyping"):
            raise
        raise EngineError(
            'translating needs PyTorch, which pip install "dragoman[train]" installs, or a copy '
            f'for CTranslate2, which "dragoman export {directory.path} --to ctranslate2" makes '
            "where PyTorch is"
        ) from None
    special = directory.description.special_ids
    return PyTorchEngine(
        directory.load_transformer(str(chosen)),
        special,
        forbidden_ids=forbidden_ids(directory.description.tokenizer.kind, special),
    )
