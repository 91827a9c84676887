"""What a saved model contains.

    model.safetensors      the weights, and nothing else
    model.toml             a `ModelDescription`: everything needed to use them
    tokenizer.model        or tokenizer.source.model and tokenizer.target.model, or .words
    shortlist.safetensors  if `dragoman shortlist` has learnt one

The names are fixed, so a description cannot point anywhere else. Nothing that is read can run code.
Everything is checked before it is used, because models come from other people.
"""

from dragoman.model_directory.description import (
    CHECKSUMS,
    DESCRIPTION_NAME,
    FORMAT_VERSION,
    LARGEST_CONFIG,
    MOST_MEMBERS,
    WEIGHTS_OF_ORIGIN,
    AlignmentDescription,
    ModelDescription,
    ModelError,
    ShortlistDescription,
    TokenizerDescription,
)
from dragoman.model_directory.directory import (
    ModelDirectory,
    save_model,
    update_description,
)
from dragoman.model_directory.weights import WEIGHTS_NAME, count_parameters

__all__ = [
    "CHECKSUMS",
    "DESCRIPTION_NAME",
    "FORMAT_VERSION",
    "LARGEST_CONFIG",
    "MOST_MEMBERS",
    "WEIGHTS_NAME",
    "WEIGHTS_OF_ORIGIN",
    "AlignmentDescription",
    "ModelDescription",
    "ModelDirectory",
    "ModelError",
    "ShortlistDescription",
    "TokenizerDescription",
    "count_parameters",
    "save_model",
    "update_description",
]
