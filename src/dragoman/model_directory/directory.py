"""Read and write a model directory."""

import platform
import shutil
import stat
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w

from dragoman import __version__
from dragoman.config import from_table, to_table
from dragoman.decoding.config import SearchConfig
from dragoman.device import without_settings_of_caller
from dragoman.durable import checksum, flush, require_utf8, write_atomically
from dragoman.errors import UsageError
from dragoman.model_directory.description import (
    DESCRIPTION_NAME,
    FINISHED_FILE,
    SIGN_OF_TRAINING,
    ModelDescription,
    ModelError,
    read_description,
)
from dragoman.model_directory.weights import (
    WEIGHTS_NAME,
    assemble,
    check_weights,
    explaining_damage,
)
from dragoman.tokenizers.pair import TokenizerPair, possible_files
from dragoman.tokenizers.tokenizer import TokenizerError

if TYPE_CHECKING:
    from torch import Tensor

    from dragoman.model.ensemble import Ensemble
    from dragoman.model.transformer import Transformer

_STAGING = ".saving"


class ModelDirectory:
    """A saved model.

    Raises:
        ModelError: there is no model, or its description cannot be used.
        UsageError: the path is not UTF-8.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        require_utf8(self.path)
        self.description = read_description(self.path / DESCRIPTION_NAME)

    @property
    def is_unfinished(self) -> bool:
        """Whether it is the best model so far of a training that has not ended."""
        began, ended = (self.path / sign for sign in (SIGN_OF_TRAINING, FINISHED_FILE))
        return began.exists() and not ended.exists()

    @property
    def search(self) -> SearchConfig:
        """How to search with it, unless something else is asked for.

        Raises:
            ModelError: the description has invalid search settings.
        """
        try:
            return from_table(SearchConfig, self.description.search, at="search.")
        except UsageError as error:
            raise ModelError(f"{self.path / DESCRIPTION_NAME}: {error}") from error

    def load_tokenizers(self) -> TokenizerPair:
        """Read the tokenizers.

        Raises:
            ModelError: they are missing, damaged, or not those that the model was trained with.
        """
        expected = self.description.tokenizer
        try:
            pair = TokenizerPair.load(self.path, expected.kind)
        except TokenizerError as error:
            raise ModelError(str(error)) from error
        for language, tokenizer, fingerprint, vocab_size in (
            ("source", pair.source, expected.source_fingerprint, expected.source_vocab_size),
            ("target", pair.target, expected.target_fingerprint, expected.target_vocab_size),
        ):
            if (tokenizer.fingerprint, tokenizer.vocab_size) != (fingerprint, vocab_size):
                raise ModelError(
                    f"{self.path}: the {language} tokenizer is not the one that the model was "
                    "trained with; copy the model again"
                )
        if pair.source.special_ids != self.description.special_ids or pair.joint != expected.joint:
            raise ModelError(f"{self.path / DESCRIPTION_NAME}: it does not describe the tokenizers")
        return pair

    def refuse_ensemble(self) -> None:
        """Refuse an ensemble, for what only a single transformer can be used for.

        Raises:
            ModelError: it is one.
        """
        if self.description.ensemble_of is not None:
            raise ModelError(
                f"{self.path}: an ensemble, which can translate, be scored and be distilled; for "
                "anything else, name one of its models, or its student"
            )

    def load_transformer(self, device: str = "cpu") -> "Transformer":
        """Read the weights into a model that is ready to translate: no dropout, no gradients.

        `requires_grad_()` lets gradients reach its weights, and `train()` switches dropout on.
        Names, types and shapes are compared with the architecture before memory is allocated.

        Raises:
            ModelError: the weights are missing, damaged, not those that were saved, do not fit
                the architecture, or are not all numbers; or it is an ensemble.
        """
        from dragoman.model.transformer import Transformer

        self.refuse_ensemble()
        transformer = self.load_model(device)
        assert isinstance(transformer, Transformer)
        return transformer

    def load_model(self, device: str = "cpu") -> "Transformer | Ensemble":
        """Read the weights, as `load_transformer` does, of an ensemble, too.

        Raises:
            ModelError: the weights are missing, damaged, not those that were saved, do not fit
                the architecture, or are not all numbers.
        """
        import torch
        from safetensors import safe_open

        path = self.path / WEIGHTS_NAME
        with (
            explaining_damage(path),
            without_settings_of_caller(torch.device(device)),
            torch.inference_mode(False),  # what is made in it never gets a gradient
            safe_open(path, framework="pt") as weights,
        ):
            return assemble(self.description, weights, path).to(device)


def save_model(
    directory: str | Path,
    description: ModelDescription,
    tokenizers: TokenizerPair,
    weights: Mapping[str, "Tensor"],
) -> ModelDescription:
    """Write a model directory; an earlier model in it is replaced.

    Everything is first written to a folder inside it, and flushed to the disk. Then each file is
    renamed, the description last, and the new names are flushed. An interruption leaves the earlier
    model, or at worst, between two renames, one whose checksum is refused; never one that passes
    for another.

    Args:
        directory: Made if it is missing. Other files in it are left alone.
        description: `weights_sha256` and `software` are filled in.
        tokenizers: Those that the model was trained with.
        weights: `dict(transformer.named_parameters())`, in which a shared table occurs once. Double
            precision is written as single, which is what is read.

    Returns:
        The description as it was written.

    Raises:
        ModelError: the weights do not fit the description, or cannot be written.
    """
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    directory = Path(directory)
    check_weights(description, weights, directory / WEIGHTS_NAME)
    staging = directory / _STAGING
    shutil.rmtree(staging, ignore_errors=True)  # left by an interruption
    tokenizers.save(staging)
    tokenizer_names = sorted(path.name for path in staging.iterdir())
    tensors = {
        name: (tensor.float() if tensor.dtype == torch.float64 else tensor)
        .detach()
        .contiguous()
        .cpu()
        for name, tensor in weights.items()
    }
    try:
        save_file(tensors, staging / WEIGHTS_NAME)
    except SafetensorError as error:  # a full disk
        shutil.rmtree(staging, ignore_errors=True)
        raise ModelError(
            f"{directory / WEIGHTS_NAME}: cannot be written: {error}; the model before it is intact"
        ) from error
    description = replace(
        description,
        weights_sha256=checksum(staging / WEIGHTS_NAME),
        software={**_software(), **description.software},
    )
    (staging / DESCRIPTION_NAME).write_bytes(tomli_w.dumps(to_table(description)).encode())
    usual_mode = stat.S_IMODE((staging / DESCRIPTION_NAME).stat().st_mode)
    (staging / WEIGHTS_NAME).chmod(usual_mode)  # safetensors lets only the owner read
    names = (*tokenizer_names, WEIGHTS_NAME, DESCRIPTION_NAME)
    for name in names:
        flush(staging / name)
    for name in names:
        (staging / name).replace(directory / name)
    for path in possible_files(directory):
        if path.name not in tokenizer_names:
            path.unlink(missing_ok=True)  # of an earlier model
    staging.rmdir()
    flush(directory)
    return description


def update_description(directory: Path, **changes: Any) -> ModelDescription:
    """Change fields of a model's description, and nothing else in the model."""
    path = directory / DESCRIPTION_NAME
    description = replace(read_description(path), **changes)
    write_atomically(path, tomli_w.dumps(to_table(description)))
    return description


@cache
def _software() -> dict[str, str]:
    """List the versions of the software that decides what a model is, once: a clone may go on."""
    import torch

    return {
        "dragoman": __version__,
        **commit_of(Path(__file__)),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }


def commit_of(file: Path) -> dict[str, str]:
    """Name the commit of the clone that a file is tracked in: a version stands for many.

    Nothing is named outside of a clone, or without git.
    """
    git = ("git", "-C", str(file.parent))
    is_tracked = (*git, "ls-files", "--error-unmatch", "--", file.name)
    name = (*git, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    try:
        subprocess.run(is_tracked, check=True, capture_output=True)
        found = subprocess.run(name, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return {}
    return {"commit": found.stdout.strip()}
