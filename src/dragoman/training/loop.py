"""Update after update, with validations, checkpoints and a clean stop."""

import math
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch

from dragoman.corpora.batch import Part
from dragoman.corpora.batching import Batches, Update
from dragoman.counting import counted
from dragoman.device import choose_precision
from dragoman.memory import peak_mib
from dragoman.model.transformer import Transformer
from dragoman.training.averaging import (
    ExponentialMovingAverage,
    Weights,
    copy_weights,
    mean_weights,
    weights_of,
)
from dragoman.training.checkpoint import Checkpoint, CheckpointError, Checkpoints, misfit
from dragoman.training.compilation import compile_blocks
from dragoman.training.config import TrainingConfig
from dragoman.training.display import Display
from dragoman.training.distributed import (
    agree,
    barrier,
    rank,
    share_from_first,
    world_size,
)
from dragoman.training.journal import JOURNAL, Journal, NoJournal
from dragoman.training.objective import Objective, build_objective, for_validation
from dragoman.training.optimizer import build_optimizers
from dragoman.training.parallelism import gathered, spread
from dragoman.training.pending_updates import Begun, PendingUpdates, updates_ahead
from dragoman.training.progress import Progress
from dragoman.training.recording import Recorder
from dragoman.training.schedule import learning_rate
from dragoman.training.step import AddGradients, MicroBatch, add_gradients, rehearse, update
from dragoman.training.stopping import StoppedError, raise_when_stopped, stop_on_signals
from dragoman.training.validation import Validation

NONE_YET = -1
"""Stands for the update of a checkpoint where there is none."""

State = Mapping[str, Weights]
"""Tensors by group and name, as a checkpoint holds them."""

Validate = Callable[[Objective, bool], Validation]
"""Judges the model, by its translations too if the flag says so. It is passed in, so that training
knows nothing of search."""

Publish = Callable[[Weights, Progress], None]
"""Receives the weights that are the best so far."""


class Trainer:
    """Fits a transformer to batches, from where the run in this directory stands."""

    def __init__(
        self,
        transformer: Transformer,
        batches: Batches,
        config: TrainingConfig,
        directory: Path,
        *,
        validate: Validate,
        publish: Publish,
        display: Display,
    ) -> None:
        self.config = config
        self.batches = batches
        self.validate = validate
        self.publish = publish
        self.display = display
        self.transformer = transformer
        self.device = next(transformer.parameters()).device
        self.objective = build_objective(
            transformer, config, choose_precision(config.precision, self.device)
        )
        if config.compile:
            compile_blocks(transformer)
        # What is called for the loss; from here on, a process may hold only part of the parameters.
        self.model = spread(
            self.objective, transformer, config.parallelism, dtype=self.objective.dtype
        )
        recorder = Recorder.where_it_pays(self.device, compiled=config.compile)
        self.add_gradients: AddGradients = recorder or add_gradients
        self.optimizers = build_optimizers(transformer, config, keep_gradients=recorder is not None)
        self.average = (
            ExponentialMovingAverage(transformer, config.ema_decay) if config.ema_decay else None
        )
        self.pending = PendingUpdates()
        self.checkpoints = Checkpoints(directory / "checkpoints")
        self.journal_path = directory / JOURNAL
        self.journal: Journal | NoJournal = NoJournal()
        self.progress = Progress()
        self.has_updated = False

    def resume(self) -> list[str]:
        """Go back to the newest checkpoint that verifies; return complaints about newer ones.

        The first process chooses it: on a disk shared between machines, another process may not yet
        see what was written last.

        Raises:
            CheckpointError: there are checkpoints, but none that is intact and of this run; or
                there is no space to write one; or not all processes can read the same one.
        """
        update = NONE_YET
        complaints: list[str] = []
        if rank() == 0:
            if found := self.checkpoints.newest(self._objection):
                update, checkpoint, complaints = found
                self.checkpoints.go_back_to(update)
            else:
                self.checkpoints.require_space(_num_bytes(self._shapes()))
        update = int(share_from_first([update])[0])
        if update == NONE_YET:
            return []
        if rank() > 0:
            checkpoint = self.checkpoints.load(update)
        copy_weights(checkpoint.tensors["weights"], self.transformer)
        self.optimizers.load(checkpoint.tensors["optimizer"])
        if self.average:
            self.average.load(checkpoint.tensors["average"])
        self.progress = Progress.from_values(checkpoint.values["progress"])
        if rank() == 0 and self.progress.best_update == update:
            # The run may have been ended between the checkpoint and its publication.
            self.publish(_weights_to_validate(checkpoint.tensors), self.progress)
        return [f"{complaint}; an older checkpoint is used" for complaint in complaints]

    def _objection(self, checkpoint: Checkpoint) -> str | None:
        """Say why an intact checkpoint does not belong to this run; None if it does."""
        try:
            batches = checkpoint.values["batches"]
            update = Progress.from_values(checkpoint.values["progress"]).update
        except (KeyError, TypeError):
            return "it has no training state"
        if batches != self.batches.fingerprint:
            return (
                "it was trained on other batches; the text or its cleaning has changed since, "
                "so train in another directory"
            )
        expected = self._shapes()
        if update == 0:  # optimizers remember nothing yet
            expected["optimizer"] = {}
        return misfit(expected, checkpoint.tensors)

    def _shapes(self) -> dict[str, dict[str, tuple[int, ...]]]:
        """Return the shapes of the tensors that a checkpoint of this run holds."""
        weights = {name: tuple(t.shape) for name, t in weights_of(self.transformer).items()}
        groups = {"weights": weights, "optimizer": self.optimizers.shapes()}
        return {**groups, "average": weights} if self.average else groups

    def run(self) -> int | None:
        """Train until the configuration says stop or a signal does; save in both cases.

        Returns:
            The signal that stopped it; None when it came to its end.

        Raises:
            TrainingError: a loss or gradient is not finite; the message names the batch.
        """
        part = Part(rank=rank(), world_size=world_size())
        updates = self.batches.updates(self.progress.position, part=part)
        if rank() == 0:
            self.journal = Journal(self.journal_path, size=self.progress.journal_size)
        with self.journal, stop_on_signals() as stop:
            event = "resume" if self.progress.update else "start"
            self.journal.write(
                event,
                update=self.progress.update,
                processes=world_size(),
                precision=str(self.objective.dtype).removeprefix("torch."),
            )
            while True:
                if agree(bool(stop)):
                    self._tell()
                    self._save(self._state(), "stop")
                    # A process that has no signal of its own follows one that has.
                    return stop[0] if stop else signal.SIGTERM
                if self._is_time_to_validate():
                    self._validate(stop)
                elif self._is_finished():
                    self._tell_of_patience()
                    break
                else:
                    self._one_update(next(updates))
            self.journal.write("finish", update=self.progress.update)
        return None

    def candidates(self) -> Iterator[tuple[str, Weights]]:
        """Yield what could become the model: the best checkpoint, and the mean of the last ones.

        Damaged checkpoints are left out with a warning; if the best one is damaged, the newest
        takes its place. A message says where there are fewer than should be averaged.

        Raises:
            CheckpointError: all of them are damaged.
        """
        group = "average" if self.average else "weights"
        intact = list(filter(self._is_intact, self.checkpoints.updates()))
        if not intact:
            raise CheckpointError(f"{self.checkpoints.directory}: no checkpoint can be read")
        best = self.progress.best_update
        update = best if best in intact else intact[-1]
        yield f"update {update}", self.checkpoints.load(update, groups=[group]).tensors[group]
        last = list(filter(self._validates, intact))[-self.config.average_checkpoints :]
        if len(last) < self.config.average_checkpoints:
            self.display.message(
                f"training.average_checkpoints = {self.config.average_checkpoints}: validations "
                f"have left only {counted(len(last), 'checkpoint')}"
            )
        if len(last) > 1:
            loaded = (self.checkpoints.load(update, groups=["weights"]) for update in last)
            mean = mean_weights([checkpoint.tensors["weights"] for checkpoint in loaded])
            yield f"mean of updates {', '.join(map(str, last))}", mean

    def _is_intact(self, update: int) -> bool:
        """Read a checkpoint, and warn if that fails."""
        try:
            self.checkpoints.load(update, groups=[])
        except CheckpointError as error:
            self.display.message(f"warning: {error}; it is left out")
            return False
        return True

    def _one_update(self, batch: Update) -> None:
        """Update the weights once, and report the updates that have ended."""
        progress = self.progress
        micro_batches = [MicroBatch.on(self.device, part) for part in batch.micro_batches]
        if not self.has_updated:
            rehearse(self.model, micro_batches[0], self.optimizers)
        self.pending.start_clock()
        number = progress.update + 1
        # All randomness of an update follows from its number, so a resumed run needs nothing else.
        torch.manual_seed(_mixed_seed(self.batches.seed, number, rank()))
        rate = learning_rate(number, self.config, self.transformer.config.d_model)
        report = update(
            self.model,
            micro_batches,
            self.optimizers,
            num_target_tokens=batch.num_target_tokens,
            learning_rate=rate,
            max_gradient_norm=self.config.max_gradient_norm,
            add_gradients=self.add_gradients,
        )
        if self.average:
            self.average.update(self.transformer, number)
        progress.update, progress.position = number, batch.next_position
        progress.tokens += batch.num_target_tokens
        self.pending.add(Begun(number, batch, rate, progress.tokens, report))
        self._tell(but=updates_ahead(self.device))
        if not self.has_updated:
            self.optimizers.check_memory()
            self.has_updated = True

    def _tell(self, *, but: int = 0) -> None:
        """Wait until all updates but a few have ended, and report each."""
        for ended in self.pending.ended(but=but):
            begun = ended.begun
            tokens_per_second = begun.batch.num_target_tokens / ended.seconds
            self.progress.seconds += ended.seconds
            self.journal.write(
                "update",
                update=begun.number,
                epoch=begun.batch.position.epoch,
                loss=round(ended.loss, 5),
                gradient_norm=round(ended.gradient_norm, 4),
                learning_rate=begun.learning_rate,
                tokens=begun.tokens,
                tokens_per_second=round(tokens_per_second),
            )
            self.display.progress(begun.number, self.config.updates, ended.loss, tokens_per_second)

    def _validate(self, stop: Sequence[int]) -> None:
        """Judge the weights, remember whether they are the best, and save.

        A signal ends it early, and then it leaves no trace: the next call starts over.
        """
        self._tell()
        progress = self.progress
        state = self._state()
        validation, score, ended = Validation({}), 0.0, 1.0
        if rank() == 0:
            try:
                validation = self.validate_weights(
                    _weights_to_validate(state), search=self._is_time_to_search(), stop=stop
                )
                score = score_of(validation, self.config.metric)
            except StoppedError:
                ended = 0.0
            except Exception:  # the updates since the last checkpoint are not lost with it
                self._write_checkpoint(state, "stop")
                raise
        score, ended = share_from_first([score, ended])
        if not ended:
            return
        best = score > (-math.inf if progress.best is None else progress.best)
        progress.validated_update = progress.update
        if best:
            progress.best, progress.best_update = score, progress.update
            progress.validations_without_improvement = 0
        else:
            progress.validations_without_improvement += 1
        self.journal.write(
            "validation",
            update=progress.update,
            **validation.metrics,
            best=best,
            samples=[asdict(sample) for sample in validation.samples],
        )
        self._save(state, "checkpoint")
        if best and rank() == 0:
            self.publish(_weights_to_validate(state), progress)
        self.display.validation(progress.update, validation, best=best)

    def validate_weights(
        self, weights: Weights, *, search: bool = True, stop: Sequence[int] = ()
    ) -> Validation:
        """Validate whole weights, by their translations too if asked to; one process does it.

        Raises:
            StoppedError: a signal came before the end.
        """
        objective = for_validation(self.objective, weights)
        # A search looks up each token, and a loss all of a batch.
        raise_when_stopped(objective.transformer.target_embeddings, stop)
        return self.validate(objective, search)

    def _state(self) -> State:
        """Collect all tensors of a checkpoint on the first process; the others take part."""
        groups = {"weights": weights_of(self.transformer), "optimizer": self.optimizers.tensors()}
        if self.average:
            groups["average"] = self.average.weights
        return {group: gathered(tensors) for group, tensors in groups.items()}

    def _save(self, state: State, event: str) -> None:
        """Write a checkpoint; the others wait for the first process."""
        if rank() == 0:
            self._write_checkpoint(state, event)
        barrier()

    def _write_checkpoint(self, state: State, event: str) -> None:
        progress = self.progress
        memory = {"peak_mib": round(peak_mib())}
        if self.device.type == "cuda":
            memory["gpu_peak_mib"] = round(torch.cuda.max_memory_reserved(self.device) / 2**20)
        self.journal.write(event, update=progress.update, **memory)
        progress.journal_size = self.journal.size
        values = {"progress": asdict(progress), "batches": self.batches.fingerprint}
        self.checkpoints.save(progress.update, state, values)
        # Not those of stops, which depend on chance.
        validated = list(filter(self._validates, self.checkpoints.updates()))
        newest = validated[-self.config.keep_checkpoints :]
        self.checkpoints.prune({*newest, progress.update, progress.best_update or 0})

    def _is_finished(self) -> bool:
        return self.progress.update >= self.config.updates or self._is_impatient()

    def _is_impatient(self) -> bool:
        waited = self.progress.validations_without_improvement
        return 0 < self.config.patience <= waited

    def _tell_of_patience(self) -> None:
        """Say why training ended early."""
        done, of = self.progress.update, self.config.updates
        if done < of and self._is_impatient():
            self.display.message(
                f"done after update {done} of {of}: {self.config.patience} validations in a row "
                "brought no improvement (training.patience)"
            )

    def _is_time_to_validate(self) -> bool:
        """Tell whether these weights should be judged and were not; a stop may come in between."""
        update = self.progress.update
        return update != self.progress.validated_update and self._validates(update)

    def _is_time_to_search(self) -> bool:
        done, often = self.progress.update, self.config.validate_every * self.config.search_every
        return done % often == 0 or done == self.config.updates

    def _validates(self, update: int) -> bool:
        """Tell whether a validation follows this update; a stop may save before the first one."""
        on_time = update % self.config.validate_every == 0 or update == self.config.updates
        return on_time and update > 0


def _weights_to_validate(state: State) -> Weights:
    """Choose the weights that validation and users see: the average, if there is one."""
    return state.get("average", state["weights"])


def score_of(validation: Validation, metric: str) -> float:
    """Return the metric as a number that is better if higher.

    A loss that is not a number is the worst: every comparison with it would be false, and the first
    validation would stay the best.
    """
    value = validation.metrics[metric]
    if math.isnan(value):
        return -math.inf
    return -value if metric == "loss" else value


def _num_bytes(shapes: dict[str, dict[str, tuple[int, ...]]]) -> int:
    """Count the bytes of single-precision tensors of these shapes."""
    return 4 * sum(math.prod(shape) for group in shapes.values() for shape in group.values())


def _mixed_seed(*numbers: int) -> int:
    """Make one seed from several numbers, so that neighbours give unrelated streams."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> 1)
