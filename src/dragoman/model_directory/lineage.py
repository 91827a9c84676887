"""The models that a model began with: it has learnt from their text, too."""

from collections.abc import Iterator, Mapping
from typing import Any

from dragoman.corpora.text_file import expand
from dragoman.errors import DragomanError
from dragoman.model_directory.description import ModelDescription
from dragoman.model_directory.directory import ModelDirectory
from dragoman.model_directory.weights import WEIGHTS_NAME


def trainings_behind(training: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield how a model was trained, then that of the model it began with, and so on.

    Those that are gone, or have other weights by now, are left out.

    Args:
        training: How the model was trained, as its description says; if it was made of several,
            that has the trainings of all.
    """
    yield training
    left, seen = [training], set[str]()
    while left:
        later = left.pop()
        left += [part["training"] for part in later.get("models", ())]
        first = _beginning(later)
        if first is not None and first.weights_sha256 not in seen:
            seen.add(first.weights_sha256)
            left.append(first.training)
            yield first.training


def _beginning(training: Mapping[str, Any]) -> ModelDescription | None:
    """Find the model whose weights a training began with, if it is still there."""
    try:
        settings = training["recipe"]["training"]
        model = settings.get("from_model") or settings.get("layers_from")
        recorded = training["sha256"][f"{model}/{WEIGHTS_NAME}"]
        found = ModelDirectory(expand(model)).description
    except (KeyError, TypeError, AttributeError, DragomanError):  # with new weights, for example
        return None
    return found if found.weights_sha256 == recorded else None
