"""Train what a recipe describes, or go on with it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import tomli_w
import torch
from filelock import FileLock, Timeout

from dragoman.config import DragomanError, read_table, to_table
from dragoman.corpora.batching import Batches, Resample
from dragoman.corpora.preparation import PreparedText, TextPreparation
from dragoman.corpora.shapes import choose_shapes, length_histogram
from dragoman.corpora.token_store import TokenStore
from dragoman.model.transformer import Transformer
from dragoman.pipeline.publication import Publisher
from dragoman.pipeline.validation import Validator
from dragoman.recipe import Recipe, differences
from dragoman.training.distributed import barrier, process_group, rank, world_size
from dragoman.training.loop import Trainer
from dragoman.training.precision import choose_device
from dragoman.training.progress import Display, Silence
from dragoman.translator import forbidden_ids

RECIPE_FILE = "recipe.toml"
FINISHED_FILE = "finished"


class RunError(DragomanError):
    """A run cannot be started or gone on with in this directory."""


def train_model(recipe: Recipe, directory: Path, display: Display) -> bool:
    """Train a model into a directory; go on with what is there if it is the same recipe's.

    Returns:
        True when the run is finished, False when a signal stopped it.

    Raises:
        RunError: the directory holds the run of another recipe, or another process trains in it.
    """
    device = choose_device(recipe.training.device)
    directory.mkdir(parents=True, exist_ok=True)
    with process_group(device), _only_one(directory):
        if rank() > 0:
            display = Silence()
        _claim(recipe, directory)
        if (directory / FINISHED_FILE).exists():
            display.message(f"{directory}: this run is finished; nothing is left to do")
            return True
        text = _prepare_text(recipe, directory, display)
        validator = _validator(recipe, text)
        publisher = Publisher(recipe, text, directory)
        trainer = _trainer(recipe, text, directory, device, validator, publisher)
        _announce(recipe, trainer, text, display)
        with display:
            outcome = trainer.run(display)
        if not outcome.finished:
            display.message(
                f"stopped after update {outcome.progress.update} and saved; "
                "run the same command again to go on"
            )
            return False
        if rank() == 0:
            publisher.finish(trainer, validator, display)
            (directory / FINISHED_FILE).touch()
        barrier()
    return True


@contextmanager
def _only_one(directory: Path) -> Iterator[None]:
    """Keep a second training out of a directory; the lock dies with its process."""
    if rank() > 0:
        yield
        return
    lock = FileLock(directory / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise RunError(f"{directory}: another process is training there; wait or stop it") from None
    try:
        yield
    finally:
        lock.release()


def _claim(recipe: Recipe, directory: Path) -> None:
    """Write the recipe into a new directory, or compare it with the one that is there."""
    path = directory / RECIPE_FILE
    table = to_table(recipe)
    if path.exists():
        if changed := differences(read_table(path), table):
            raise RunError(
                f"{directory}: it holds the run of another recipe ({'; '.join(changed)}); "
                "undo the change, or name another directory with -o"
            )
    elif rank() == 0:
        path.write_text(tomli_w.dumps(table), encoding="utf-8")
    barrier()


def _prepare_text(recipe: Recipe, directory: Path, display: Display) -> PreparedText:
    """Clean, learn subwords, encode; the first process does it and the others open it."""
    preparation = TextPreparation(
        directory / "data",
        languages=recipe.languages,
        corpora=recipe.corpora,
        cleaning=recipe.cleaning,
        tokenizer=recipe.tokenizer,
        max_length=recipe.batching.max_length,
    )
    if rank() == 0:
        text = preparation.prepare(display.message)
        barrier()
        return text
    barrier()
    return preparation.prepare(display.message)


def _validator(recipe: Recipe, text: PreparedText) -> Validator:
    return Validator(
        _batches(recipe, text.validation_store, text),
        text.validation,
        text.tokenizers,
        forbidden_ids=forbidden_ids(recipe.tokenizer.kind, text.tokenizers.target.special_ids),
        search=replace(recipe.search, beam_size=recipe.training.search_beam_size, n_best=1),
        evaluation=replace(recipe.evaluation, metrics=("BLEU", "chrF"), bootstrap_samples=0),
        search_after=recipe.training.validate_every * recipe.training.search_every,
    )


def _trainer(
    recipe: Recipe,
    text: PreparedText,
    directory: Path,
    device: torch.device,
    validator: Validator,
    publisher: Publisher,
) -> Trainer:
    torch.manual_seed(recipe.seed)
    transformer = Transformer(
        recipe.model,
        source_vocab_size=text.tokenizers.source.vocab_size,
        target_vocab_size=text.tokenizers.target.vocab_size,
        padding_id=text.tokenizers.target.special_ids.pad,
    ).to(device)
    return Trainer(
        transformer,
        _batches(recipe, text.store, text),
        recipe.training,
        directory,
        resample=_resample(recipe, text),
        validate=validator,
        publish=publisher.publish,
    )


def _batches(recipe: Recipe, store: TokenStore, text: PreparedText) -> Batches:
    special = text.tokenizers.target.special_ids
    return Batches(
        store,
        choose_shapes(length_histogram(store), recipe.batching),
        recipe.batching,
        seed=recipe.seed,
        pad_id=special.pad,
        bos_id=special.bos,
        eos_id=special.eos,
    )


def _resample(recipe: Recipe, text: PreparedText) -> Resample | None:
    """Cut sentences into other subwords each time, if the recipe says so."""
    strength = recipe.tokenizer.sampling
    if not strength:
        return None
    source, target = text.tokenizers.source, text.tokenizers.target

    def resample(
        sources: list[np.ndarray], targets: list[np.ndarray], seed: int
    ) -> tuple[list[list[int]], list[list[int]]]:
        texts = (
            [source.decode(ids.tolist()) for ids in sources],
            [target.decode(ids.tolist()) for ids in targets],
        )
        return (
            source.sample(texts[0], seed=2 * seed, strength=strength),
            target.sample(texts[1], seed=2 * seed + 1, strength=strength),
        )

    return resample


def _announce(recipe: Recipe, trainer: Trainer, text: PreparedText, display: Display) -> None:
    """Say what is about to be trained, on what, and from where."""
    complaints = trainer.resume()
    for complaint in complaints:
        display.message(f"warning: {complaint}; an older checkpoint is used")
    parameters = sum(p.numel() for p in trainer.transformer.parameters())
    dtype = str(trainer.objective.dtype).removeprefix("torch.")
    plan = trainer.batches.epoch(0)
    display.message(
        f"{parameters:,} parameters, {len(text.store):,} training pairs, "
        f"{plan.num_updates:,} updates an epoch, batches {100 * plan.fill():.0f} % full; "
        f"{trainer.device}, {torch.get_num_threads()} threads, {dtype}"
        + (f", {world_size()} processes" if world_size() > 1 else "")
    )
    if trainer.progress.update:
        display.message(f"going on after update {trainer.progress.update}")
