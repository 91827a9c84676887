"""`shortlist.safetensors`: the shortlist of a model, beside its weights."""

from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np

from dragoman.durable import checksum, open_whole
from dragoman.model_directory import (
    DESCRIPTION_NAME,
    ModelDirectory,
    ModelError,
    ShortlistDescription,
    update_description,
)
from dragoman.model_directory.weights import explaining_damage
from dragoman.shortlist.shortlist import Shortlist

if TYPE_CHECKING:
    from pathlib import Path

    from dragoman.shortlist.coverage import Coverage

SHORTLIST_NAME = "shortlist.safetensors"


def save_shortlist(
    directory: ModelDirectory,
    shortlist: Shortlist,
    *,
    text: str,
    pairs: int,
    coverage: "Coverage",
) -> None:
    """Write the shortlist of a model, and describe it in the model's description.

    An interruption between the two leaves a shortlist that is refused.

    Args:
        directory: The model.
        shortlist: What was learnt for it.
        text: Where the sentence pairs that it was learnt from are from.
        pairs: How many they are.
        coverage: How well it covers others.
    """
    from safetensors.numpy import save

    path = directory.path / SHORTLIST_NAME
    with open_whole(path) as stream:
        stream.write(save(dict(vars(shortlist))))
    description = ShortlistDescription(
        sha256=checksum(path),
        text=text,
        pairs=pairs,
        coverage=round(coverage.tokens, 4),
        mean_length=round(coverage.mean_length, 1),
    )
    update_description(directory.path, shortlist=description)


def load_shortlist(directory: ModelDirectory) -> Shortlist:
    """Read the shortlist of a model.

    Raises:
        ModelError: there is none, it is damaged, it was not made for this model, or this is an
            ensemble.
    """
    from safetensors import safe_open

    path, description = directory.path / SHORTLIST_NAME, directory.description.shortlist
    directory.refuse_ensemble()  # whose mean would depend on the lists of its batch
    if description is None:
        raise ModelError(f"{directory.path}: it has no shortlist; {_how_to_learn(directory.path)}")
    with explaining_damage(path):
        if checksum(path) != description.sha256:
            raise ModelError(
                f"{path}: not the shortlist that {DESCRIPTION_NAME} describes; "
                f"{_how_to_learn(directory.path)}"
            )
        with safe_open(path, framework="numpy") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    if not _fits(tensors, directory):
        raise ModelError(
            f"{path}: not a shortlist for the vocabularies of this model; "
            f"{_how_to_learn(directory.path)}"
        )
    return Shortlist(**tensors)


def _fits(tensors: dict[str, Any], directory: ModelDirectory) -> bool:
    """Tell whether a file holds what `save_shortlist` writes for such a model."""
    vocabularies = directory.description.tokenizer
    if tensors.keys() != {"frequent", "translations"}:
        return False
    frequent, translations = tensors["frequent"], tensors["translations"]
    return (
        (frequent.ndim, translations.ndim) == (1, 2)
        and len(translations) == vocabularies.source_vocab_size
        and all(
            tokens.dtype == np.int32
            and ((tokens >= 0) & (tokens < vocabularies.target_vocab_size)).all()
            for tokens in tensors.values()
        )
    )


def _how_to_learn(model: "Path") -> str:
    return f'"dragoman shortlist {quote(str(model))} PAIRS" learns one'
