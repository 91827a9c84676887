"""Train what a recipe describes, or continue doing so."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from shlex import quote

import numpy as np
import torch

from dragoman.config import to_table
from dragoman.corpora.batching import Batches, Resample
from dragoman.corpora.preparation import TextPreparation
from dragoman.corpora.prepared_text import PreparedText
from dragoman.corpora.token_store import TokenStore
from dragoman.counting import counted
from dragoman.decoding.config import SearchConfig
from dragoman.device import has_fast_bf16, set_up_to_train
from dragoman.errors import DragomanError
from dragoman.evaluation.config import EvaluationConfig
from dragoman.evaluation.statistics import require_packages
from dragoman.memory import keep_freed_memory
from dragoman.model.transformer import Transformer
from dragoman.model_directory import ModelDirectory
from dragoman.model_directory.description import FINISHED_FILE
from dragoman.pipeline.initial_weights import check_kind, check_sizes, take_weights
from dragoman.pipeline.publication import Publisher, relicense
from dragoman.pipeline.report import REPORT, write_report
from dragoman.pipeline.run_directory import (
    RunError,
    check_alike,
    check_learnt,
    claim,
    has_trained,
    make_directory,
    named_when_unwritable,
    only_one,
    reopen_without_model,
)
from dragoman.pipeline.validation import Validator, validation_metrics
from dragoman.recipe import Recipe, differences
from dragoman.training.compilation import require_compiler
from dragoman.training.display import Display
from dragoman.training.distributed import (
    barrier,
    device_of_process,
    process_group,
    rank,
    text_of_first,
    world_size,
)
from dragoman.training.journal import JournalError, read_journal
from dragoman.training.loop import Trainer
from dragoman.training.schedule import learning_rate

SMALLEST_FACTOR = 0.01
"""On the paper's formula. The default learning rate, the peak of the other schedules, is less: a
model would hardly learn, and nothing else would tell why."""


def train_model(recipe: Recipe, directory: Path, display: Display) -> int | None:
    """Train a model into a directory; continue what is there if it is of the same recipe.

    Returns:
        The signal that stopped it; None when the run is finished.

    Raises:
        RunError: the directory holds the run of another recipe or a finished one of other text, or
            another process trains in it, or the disk is full or fails; or processes were started
            with different recipes, or do not see the same directory.
        EvaluationError: a package that a metric needs is not installed.
        DragomanError: blocks are to be compiled, and there is no compiler.
        ModelError: the model to begin with does not exist.
        BeginningError: it has other sizes, or another or another kind of vocabulary.
    """
    device = device_of_process(recipe.training.device)
    require_packages(recipe.evaluation)
    require_packages(validation_metrics(recipe))
    require_compiler(recipe.training, device)
    make_directory(directory)
    with (
        set_up_to_train(device),
        process_group(device),
        named_when_unwritable(directory),
        only_one(directory),
    ):
        if rank() > 0:
            display = Display()
        else:
            _claim(recipe, directory, display)
        check_alike(recipe)
        if (directory / FINISHED_FILE).exists():
            display.message(f"{directory}: this run is finished; nothing is left to do")
            if doubt := _doubt_about_the_scores(recipe, directory):
                display.message(f"warning: {doubt}")
            return None
        text = _prepare_text(recipe, directory, display)
        publisher = Publisher(recipe, text, directory)
        trainer = _trainer(recipe, text, directory, device, publisher, display)
        for complaint in trainer.resume():
            display.message(f"warning: {complaint}")
        _announce(recipe, trainer, text, display)
        with display:
            stopped_by = trainer.run()
        if stopped_by is not None:
            display.message(
                f"stopped after update {trainer.progress.update} and saved; "
                "run the same command again to go on"
            )
            return stopped_by
        if rank() == 0:
            publisher.finish(trainer, display)
            (directory / FINISHED_FILE).touch()
            _report(directory, display)
        barrier()
    return None


def _claim(recipe: Recipe, directory: Path, display: Display) -> None:
    """Make sure that the directory is for this run, which goes on if its model has been lost.

    Of a finished run only the licence may be another one.
    """
    claim(recipe, directory)
    if remark := reopen_without_model(directory):
        display.message(remark)
    if (directory / FINISHED_FILE).exists():
        check_learnt(recipe, directory)
        relicense(directory, recipe.licence)


def _doubt_about_the_scores(recipe: Recipe, directory: Path) -> str | None:
    """Say with which settings of the evaluation a finished run was not scored."""
    training = ModelDirectory(directory).description.training
    now = to_table(recipe.evaluation)
    before = now | training["recipe"].get("evaluation", {})  # which may lack newer settings
    if training.get("scores") and (changed := differences(before, now, "evaluation.")):
        changes = "; ".join(f"{key}: {change}" for key, change in changed.items())
        return f"its scores are those of before ({changes}); dragoman evaluate measures others"
    return None


def _report(directory: Path, display: Display) -> None:
    """Write the report of a finished run; a failure here does not make it any less finished."""
    try:
        write_report(directory)
    except Exception as error:
        display.message(
            f"warning: {directory / REPORT} is not written: {type(error).__name__}: {error}; "
            f"dragoman plot report {quote(str(directory))} tries again"
        )
    else:
        display.message(f"the course of the training is shown in {directory / REPORT}")


def _prepare_text(recipe: Recipe, directory: Path, display: Display) -> PreparedText:
    """Clean, learn subwords, encode; the first process does it and the others open it.

    Problems with the model to begin with are found before this long work.
    """
    if not has_trained(directory):
        check_sizes(recipe)
        check_kind(recipe)
    preparation = TextPreparation(
        directory / "data",
        languages=recipe.languages,
        corpora=recipe.corpora,
        cleaning=recipe.cleaning,
        tokenizer=recipe.tokenizer,
        max_length=recipe.batching.max_length,
    )
    if rank() == 0:
        text = preparation.prepare(display.message, replace_other=not has_trained(directory))
        text.store.verify()
        text.validation_store.verify()
        text_of_first(text.summary.fingerprint)  # for which the others wait
        return text
    return _open_text(preparation, text_of_first(""))


def _open_text(preparation: TextPreparation, fingerprint: str) -> PreparedText:
    """Open the text that the first process has prepared."""
    remedy = "all machines must see the directory of the run, under the same path"
    try:
        text = preparation.open()
    except DragomanError as error:
        raise RunError(
            f"process {rank()} cannot read the text of process 0 ({error}); {remedy}"
        ) from error
    if text.summary.fingerprint != fingerprint:
        raise RunError(
            f"{preparation.directory}: process {rank()} finds other text than process 0; {remedy}"
        )
    return text


def _validator(recipe: Recipe, text: PreparedText) -> Validator:
    return Validator(_batches(recipe, text.validation_store, text), text, recipe)


def _trainer(
    recipe: Recipe,
    text: PreparedText,
    directory: Path,
    device: torch.device,
    publisher: Publisher,
    display: Display,
) -> Trainer:
    keep_freed_memory()
    torch.manual_seed(recipe.seed)
    transformer = Transformer(
        recipe.model,
        source_vocab_size=text.tokenizers.source.vocab_size,
        target_vocab_size=text.tokenizers.target.vocab_size,
        padding_id=text.tokenizers.target.special_ids.pad,
    ).to(device)
    if recipe.training.begins_with is not None and not has_trained(directory):
        take_weights(recipe.training.begins_with, transformer, text.tokenizers, directory)
    return Trainer(
        transformer,
        _batches(recipe, text.store, text, _resample(recipe, text)),
        recipe.training,
        directory,
        validate=_validator(recipe, text),
        publish=publisher.publish,
        display=display,
    )


def _batches(
    recipe: Recipe, store: TokenStore, text: PreparedText, resample: Resample | None = None
) -> Batches:
    return Batches(
        store,
        recipe.batching,
        seed=recipe.seed,
        special=text.tokenizers.target.special_ids,
        resample=resample,
    )


def _resample(recipe: Recipe, text: PreparedText) -> Resample | None:
    """Segment sentences into other subwords each time, if the recipe says so."""
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
    parameters = sum(p.numel() for p in trainer.transformer.parameters())
    dtype = str(trainer.objective.dtype).removeprefix("torch.")
    plan = trainer.batches.epoch(0)
    if not plan.num_updates:
        raise RunError("the weights of corpora.train leave no pair in an epoch; raise them")
    display.message(
        f"{parameters:,} parameters, {counted(len(text.store), 'training pair')}, "
        f"{counted(plan.num_updates, 'update')} an epoch, batches {100 * plan.fill():.0f} % full; "
        f"at most {counted(recipe.training.updates / plan.num_updates, 'epoch', '.3g')}; "
        f"{trainer.device}, {counted(torch.get_num_threads(), 'thread')}, {dtype}"
        + (f", {world_size()} processes" if world_size() > 1 else "")
    )
    if trainer.objective.dtype == torch.bfloat16 and not has_fast_bf16(trainer.device):
        display.message(
            f"warning: {trainer.device} only emulates bf16, which takes several times as long as "
            "float32; leave training.precision out, in another directory"
        )
    for doubt in _doubts(recipe):
        display.message(f"warning: {doubt}")
    used, search = recipe.training.search_beam_size, recipe.search
    if used != search.beam_size and not search.samples:
        display.message(
            f"validations translate with a beam of {used} (training.search_beam_size) and the "
            f"finished model with {search.beam_size}, keeping numbers and the like, which "
            "validations may lose: their scores differ"
        )
    if (tokenize := recipe.evaluation.tokenize) != EvaluationConfig.tokenize:
        display.message(f"BLEU splits {recipe.target_language} as evaluation.tokenize = {tokenize}")
    if trainer.progress.update:
        display.message(f"going on after update {trainer.progress.update}")
        for earlier in _other_precisions(trainer.journal_path, dtype):
            display.message(
                f"warning: this run has computed in {earlier} until now, and goes on in {dtype}; "
                "its weights will be those of neither. Where that matters, set training.precision "
                "before a run begins"
            )


def _other_precisions(journal: Path, precision: str) -> set[str]:
    """Find the other number formats that a run has computed in, as on another machine."""
    with contextlib.suppress(JournalError):  # it is for people; no training ends over it
        return {event.get("precision", precision) for event in read_journal(journal)} - {precision}
    return set()


def _doubts(recipe: Recipe) -> Iterator[str]:
    """Say which settings hardly anybody means."""
    yield from _doubts_about_the_rate(recipe)
    yield from _doubts_about_the_search(recipe.search)
    if recipe.tokenizer.lowercase and not recipe.evaluation.lowercase:
        yield (
            "tokenizer.lowercase = true makes translations in lower case, and without "
            "evaluation.lowercase = true, BLEU and chrF count each capital of a reference as a "
            "mistake"
        )


def _doubts_about_the_rate(recipe: Recipe) -> Iterator[str]:
    """Say where the settings make a learning rate that hardly anybody means."""
    training = recipe.training
    if training.warmup_updates >= training.updates > 1:
        share = training.updates / training.warmup_updates  # of the peak, when it ends
        yield (
            f"training.warmup_updates = {training.warmup_updates} of training.updates = "
            f"{training.updates}: the learning rate ends at {100 * share:.0f} % of its peak and "
            "never falls; set fewer for the warm-up"
        )
    if training.schedule == "paper" and training.learning_rate <= SMALLEST_FACTOR:
        peak = learning_rate(training.warmup_updates, training, recipe.model.d_model)
        yield (
            f"training.learning_rate = {training.learning_rate:g} is a factor on the formula of "
            f"training.schedule = 'paper', whose rate then peaks at {peak:.2g}; set 1 for the "
            "paper's own rate"
        )


def _doubts_about_the_search(search: SearchConfig) -> Iterator[str]:
    """Say which settings of a beam have no effect, as the finished model samples."""
    usual = SearchConfig()
    idle = [
        f"search.{name}"
        for name in ("beam_size", "patience")
        if getattr(search, name) != getattr(usual, name)
    ]
    if search.samples and idle:
        yield (
            f"search.sampling_temperature = {search.sampling_temperature:g} draws translations, "
            f"which {' and '.join(idle)} cannot change; leave out one or the other"
        )
