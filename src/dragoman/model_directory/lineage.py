"""The models that a model began with: it has learnt from their text, too."""

from collections.abc import Iterator, Mapping
from typing import Any

from dragoman.corpora.text_file import expand
from dragoman.errors import DragomanError
from dragoman.model_directory.directory import ModelDirectory
from dragoman.model_directory.weights import WEIGHTS_NAME


def trainings_behind(model: ModelDirectory) -> Iterator[Mapping[str, Any]]:
    """Yield a model, the one it began with, and so on.

    Those that are gone, or have other weights by now, are left out.

    Returns:
        Where each is (`model`) and how it was trained (`training`), as the description of a mean or
        an ensemble has them of its parts.
    """
    yield {"model": str(model.path), "training": model.description.training}
    left, seen = [model.description.training], set[str]()
    while left:
        later = left.pop()
        left += [part["training"] for part in later.get("models", ())]
        began_with = _beginning(later)
        if began_with is not None and began_with.description.weights_sha256 not in seen:
            seen.add(began_with.description.weights_sha256)
            left.append(began_with.description.training)
            yield {"model": str(began_with.path), "training": began_with.description.training}


def _beginning(training: Mapping[str, Any]) -> ModelDirectory | None:
    """Find the model whose weights a training began with, if it is still there."""
    try:
        settings = training["recipe"]["training"]
        model = settings.get("from_model") or settings.get("layers_from")
        recorded = training["sha256"][f"{model}/{WEIGHTS_NAME}"]
        found = ModelDirectory(expand(model))
    except (KeyError, TypeError, AttributeError, DragomanError):  # with new weights, for example
        return None
    return found if found.description.weights_sha256 == recorded else None
