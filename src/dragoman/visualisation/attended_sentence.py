"""What a saved model attends to while it translates a sentence."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from dragoman.engines.pytorch import PyTorchEngine
from dragoman.errors import DragomanError, UsageError
from dragoman.model.transformer import Transformer
from dragoman.model_directory import ModelDirectory
from dragoman.tokenizers.normalisation import encodable
from dragoman.visualisation.attention_maps import AttentionMaps, read_attention

AttentionKind = Literal["encoder", "decoder", "cross"]
KINDS: tuple[AttentionKind, ...] = get_args(AttentionKind)


@dataclass(frozen=True, kw_only=True)
class AttendedSentence:
    """A sentence, its translation, and what attended to what on the way."""

    source: tuple[str, ...]
    """The tokens of the source as the vocabulary writes them, the end included."""

    read: tuple[str, ...]
    """The tokens that the decoder reads, beginning with BOS."""

    chosen: tuple[str, ...]
    """The token that follows each of these: the translation, which ends with EOS if it ended."""

    maps: AttentionMaps


@dataclass(frozen=True, kw_only=True)
class HeadMap:
    """The weights of one attention head, ready to be drawn."""

    kind: AttentionKind
    layer: int
    """Counted from 1, from the bottom of the stack."""

    head: int
    """Counted from 1."""

    rows: tuple[str, ...]
    """What looks: the source token, or the target token that is being chosen."""

    columns: tuple[str, ...]
    """What is looked at."""

    weights: np.ndarray
    """Of shape (rows, columns); each row sums to one."""


def attend(
    directory: ModelDirectory, sentence: str, translation: str | None = None
) -> AttendedSentence:
    """Translate a sentence, or take the translation that is given, and read all attention.

    Raises:
        DragomanError: the model cannot be used, or a text is blank or too long for it.
    """
    tokenizers, special = directory.load_tokenizers(), directory.description.special_ids
    source = _encode(tokenizers.source.encode(encodable(sentence)), "sentence", directory)
    transformer = directory.load_transformer()
    if translation is None:
        chosen = _translate(directory, transformer, source)
    else:
        ids = tokenizers.target.encode(encodable(translation))
        chosen = [*_encode(ids, "translation", directory), special.eos]
    source, read = [*source, special.eos], [special.bos, *chosen[:-1]]
    return AttendedSentence(
        source=tuple(tokenizers.source.pieces(source)),
        read=tuple(tokenizers.target.pieces(read)),
        chosen=tuple(tokenizers.target.pieces(chosen)),
        maps=read_attention(transformer, source, read),
    )


def _encode(ids: list[int], name: str, directory: ModelDirectory) -> list[int]:
    """Refuse what the model cannot read at once."""
    limit = directory.description.max_length
    if not ids:
        raise DragomanError(f"the {name} is blank; give some words")
    if len(ids) > limit:
        raise DragomanError(
            f"the {name} has {len(ids)} tokens, and {directory.path} has seen at most {limit}; "
            "give a shorter one"
        )
    return ids


def _translate(directory: ModelDirectory, transformer: Transformer, source: list[int]) -> list[int]:
    """Return the tokens of the best translation, and EOS if it ended by itself."""
    special = directory.description.special_ids
    forbidden = directory.description.forbidden_ids
    engine = PyTorchEngine(transformer, special, forbidden_ids=forbidden)
    search = directory.search.without_sampling()
    ((best,),) = engine.search([source], search)
    return [*best.ids, special.eos] if best.finished else list(best.ids)


def head_maps(
    sentence: AttendedSentence,
    *,
    kinds: Collection[AttentionKind] = KINDS,
    layer: int | None = None,
    head: int | None = None,
) -> list[HeadMap]:
    """List the maps of all heads or of a selection, those of a layer next to each other.

    Raises:
        UsageError: there is no such layer or head.
    """
    labels = {
        "encoder": (sentence.source, sentence.source),
        "decoder": (sentence.chosen, sentence.read),
        "cross": (sentence.chosen, sentence.source),
    }
    found = []
    for kind in (kind for kind in KINDS if kind in kinds):
        layers = vars(sentence.maps)[kind]
        rows, columns = labels[kind]
        _check("layer", layer, len(layers), kind)
        _check("head", head, len(layers[0]), kind)
        found += [
            HeadMap(kind=kind, layer=i, head=j, rows=rows, columns=columns, weights=weights.numpy())
            for i, heads in enumerate(layers, start=1)
            for j, weights in enumerate(heads, start=1)
            if layer in (None, i) and head in (None, j)
        ]
    return found


def _check(name: str, number: int | None, count: int, kind: AttentionKind) -> None:
    if number is not None and not 1 <= number <= count:
        what = "cross-attention" if kind == "cross" else f"the {kind}'s self-attention"
        raise UsageError(f"--{name} {number}: {what} has {name}s 1 to {count}")
