"""What a saved model attends to while it translates a sentence."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from dragoman.engines.pytorch import PyTorchEngine
from dragoman.errors import UsageError
from dragoman.model.transformer import Transformer
from dragoman.model_directory import ModelDirectory
from dragoman.visualisation.attention_maps import Map, read_attention
from dragoman.visualisation.shown_sentence import encode_whole

AttentionKind = Literal["encoder", "decoder", "cross"]
KINDS: tuple[AttentionKind, ...] = get_args(AttentionKind)
Labels = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class HeadMap:
    """The weights of one attention head, ready to be drawn."""

    kind: AttentionKind
    layer: int
    """Counted from 1, from the bottom of the stack."""

    head: int
    """Counted from 1."""

    rows: Labels
    """What looks: the source token, or the target token that is being chosen."""

    columns: Labels
    """What is looked at."""

    weights: np.ndarray
    """Of shape (rows, columns); each row sums to one."""


def attend(
    directory: ModelDirectory, sentence: str, translation: str | None = None
) -> list[HeadMap]:
    """Translate a sentence, or take the translation that is given, and read all attention.

    Returns:
        The maps by kind, layer and head.

    Raises:
        DragomanError: the model cannot be used, or a text is blank or too long for it.
    """
    tokenizers, special = directory.load_tokenizers(), directory.description.special_ids
    limit = directory.description.max_length
    content = encode_whole(sentence, tokenizers.source, limit)
    transformer = directory.load_transformer()
    if translation is None:
        chosen = _translate(directory, transformer, content)
    else:
        ids = encode_whole(translation, tokenizers.target, limit, name="translation")
        chosen = [*ids, special.eos]
    read = [special.bos, *chosen[:-1]]
    maps = read_attention(transformer, [*content, special.eos], read)
    source = tuple(tokenizers.source.pieces([*content, special.eos]))
    before, after = (tuple(tokenizers.target.pieces(ids)) for ids in (read, chosen))
    kinds: tuple[tuple[AttentionKind, tuple[Map, ...], Labels, Labels], ...] = (
        ("encoder", maps.encoder, source, source),
        ("decoder", maps.decoder, after, before),
        ("cross", maps.cross, after, source),
    )
    return [
        HeadMap(
            kind=kind, layer=layer, head=head, rows=rows, columns=columns, weights=weights.numpy()
        )
        for kind, layers, rows, columns in kinds
        for layer, heads in enumerate(layers, start=1)
        for head, weights in enumerate(heads, start=1)
    ]


def _translate(directory: ModelDirectory, transformer: Transformer, source: list[int]) -> list[int]:
    """Return the tokens of the best translation, and EOS if it ended by itself."""
    special = directory.description.special_ids
    forbidden = directory.description.forbidden_ids
    engine = PyTorchEngine(transformer, special, forbidden_ids=forbidden)
    search = directory.search.without_sampling()
    ((best,),) = engine.search([source], search)
    return [*best.ids, special.eos] if best.finished else list(best.ids)


def choose(
    maps: Sequence[HeadMap],
    *,
    kinds: Collection[AttentionKind] = KINDS,
    layer: int | None = None,
    head: int | None = None,
) -> list[HeadMap]:
    """Choose some of the maps of a sentence.

    Raises:
        UsageError: there is no such layer or head.
    """
    last = {each.kind: each for each in maps}
    for kind in kinds:
        _check("layer", layer, last[kind].layer, kind)
        _check("head", head, last[kind].head, kind)
    return [
        each
        for each in maps
        if each.kind in kinds and layer in (None, each.layer) and head in (None, each.head)
    ]


def _check(name: str, number: int | None, count: int, kind: AttentionKind) -> None:
    if number is not None and not 1 <= number <= count:
        what = "cross-attention" if kind == "cross" else f"the {kind}'s self-attention"
        raise UsageError(f"--{name} {number}: {what} has {name}s 1 to {count}")
