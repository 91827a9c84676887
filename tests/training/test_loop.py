"""A run that stops goes on as if it had never stopped."""

import errno
import itertools
import json
import math
import os
import resource
import shutil
import signal
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from dragoman.errors import DragomanError
from dragoman.model.initialization import initialize
from dragoman.training.averaging import ExponentialMovingAverage, weights_of
from dragoman.training.checkpoint import CheckpointError
from dragoman.training.display import Display
from dragoman.training.journal import Journal, read_journal
from dragoman.training.loop import Trainer
from dragoman.training.optimizer import REMEMBERED, Optimizers
from dragoman.training.pending_updates import TrainingError
from dragoman.training.validation import Validation

from .conftest import SMALL, build_trainer, weight_sum, write_store


class StopAfter(Display):
    """Sends a signal to this process after some updates."""

    def __init__(self, update: int, number: int = signal.SIGTERM) -> None:
        self.update, self.number = update, number

    def progress(self, update: int, total: int, loss: float, tokens_per_second: float) -> None:
        if update == self.update:
            os.kill(os.getpid(), self.number)


class Listener(Display):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def message(self, text: str) -> None:
        self.said.append(text)


@pytest.fixture(autouse=True)
def _hang_up_is_heard() -> Iterator[None]:
    """Undo what nohup does, under which a whole test run may be started."""
    handler = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, handler)


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Trainer:
    """Train without a stop, to compare others with."""
    directory = tmp_path_factory.mktemp("straight")
    trainer = build_trainer(write_store(directory / "store"), directory, SMALL)
    assert trainer.run() is None
    return trainer


def weights(trainer: Trainer) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in weights_of(trainer.transformer).items()}


def assert_same(one: Trainer, other: Trainer) -> None:
    for name, tensor in weights(one).items():
        assert torch.equal(tensor, weights(other)[name]), name
    assert one.average is not None
    assert other.average is not None
    for name, tensor in one.average.weights.items():
        assert torch.equal(tensor, other.average.weights[name]), name
    ours, theirs = (asdict(trainer.progress) for trainer in (one, other))
    for measured in ("seconds", "journal_size"):
        ours.pop(measured)
        theirs.pop(measured)
    assert ours == theirs


@pytest.mark.parametrize(
    ("stop", "number"),
    [
        (1, signal.SIGINT),
        (3, signal.SIGTERM),
        (4, signal.SIGTERM),
        (6, signal.SIGHUP),
        (12, signal.SIGINT),
    ],
)
def test_a_signal_stops_and_the_next_call_goes_on_bit_for_bit(
    make_trainer: Any, straight: Trainer, stop: int, number: int
) -> None:
    stopped = make_trainer("stopped", display=StopAfter(stop, number))
    assert stopped.run() == number
    assert stopped.progress.update == stop
    resumed = make_trainer("stopped")
    assert resumed.resume() == []
    assert resumed.progress.update == stop
    assert resumed.run() is None

    assert_same(resumed, straight)


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="cannot see what is mapped")
@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_a_run_that_goes_on_keeps_no_file_of_its_checkpoint(
    make_trainer: Any, tmp_path: Path, optimizer: str
) -> None:
    make_trainer("run", optimizer=optimizer, display=StopAfter(3)).run()
    resumed = make_trainer("run", optimizer=optimizer)

    resumed.resume()

    assert resumed.progress.update == 3
    assert str(tmp_path / "run" / "checkpoints") not in Path("/proc/self/maps").read_text()


def test_an_interrupt_is_answered_at_once_and_one_during_the_last_validation_stops(
    make_trainer: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    class Interrupting(Display):
        def validation(self, update: int, validation: Validation, *, best: bool) -> None:
            if update == 12:
                os.kill(os.getpid(), signal.SIGINT)

    assert make_trainer("run", display=Interrupting()).run() == signal.SIGINT
    assert "stopping and saving; Ctrl-C once more" in capfd.readouterr().err
    resumed = make_trainer("run")
    resumed.resume()
    assert resumed.run() is None


def test_the_best_model_is_published_though_its_run_ended_right_before(make_trainer: Any) -> None:
    trainer = make_trainer("run")

    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    trainer.publish = fail
    with pytest.raises(OSError, match="disk is full"):
        trainer.run()
    resumed = make_trainer("run")
    published = []
    resumed.publish = lambda weights, progress: published.append((weights, progress.update))
    resumed.resume()

    ((weights, update),) = published
    assert update == 4
    assert resumed.average is not None
    assert all(torch.equal(t, resumed.average.weights[name]) for name, t in weights.items())


def test_a_run_that_goes_on_publishes_no_checkpoint_but_the_best(make_trainer: Any) -> None:
    losses = iter([3.0, 4.0])
    judged = {"validate": lambda *_: Validation({"loss": next(losses)})}
    make_trainer("run", display=StopAfter(9), **judged).run()
    resumed = make_trainer("run")
    published = []
    resumed.publish = lambda _, progress: published.append(progress.update)

    resumed.resume()

    assert (resumed.progress.update, resumed.progress.best_update) == (9, 4)
    assert published == []


def test_what_is_judged_and_published_is_the_average(make_trainer: Any) -> None:
    judged: list[float] = []
    published: list[float] = []

    def validate(objective: Any, search: bool) -> Validation:
        validation = weight_sum(objective, search)
        judged.append(validation.metrics["loss"])
        return validation

    trainer = make_trainer("run", updates=4, validate=validate)
    trainer.publish = lambda weights, _: published.append(absolute_sum(weights))
    trainer.run()

    average = absolute_sum(trainer.average.weights)
    assert judged == published == [pytest.approx(average, rel=1e-9)]
    assert absolute_sum(weights(trainer)) != pytest.approx(average, rel=1e-6)


def absolute_sum(weights: dict[str, torch.Tensor]) -> float:
    return sum(float(tensor.double().abs().sum()) for tensor in weights.values())


def test_only_the_best_checkpoint_and_the_last_ones_are_kept(make_trainer: Any) -> None:
    losses = iter([3.0, 2.0, 4.0, 5.0, 6.0])
    judged = {"validate": lambda *_: Validation({"loss": next(losses)})}
    trainer = make_trainer("run", updates=20, keep_checkpoints=2, **judged)

    trainer.run()

    assert trainer.checkpoints.updates() == [8, 16, 20]


@pytest.mark.parametrize("values", [{}, {"batches": "", "progress": None}])
def test_a_checkpoint_without_the_state_of_a_training_is_passed_over(
    make_trainer: Any, values: dict[str, Any]
) -> None:
    trainer = make_trainer("run", display=StopAfter(5))
    trainer.run()
    trainer.checkpoints.save(6, {}, values)

    (complaint,) = make_trainer("run").resume()

    assert "update-00000006: it has no training state; an older" in complaint


def test_a_run_does_not_go_on_with_other_batches(make_trainer: Any) -> None:
    make_trainer("run", display=StopAfter(5)).run()
    resumed = make_trainer("run")
    resumed.batches.seed += 1

    with pytest.raises(CheckpointError, match="it was trained on other batches"):
        resumed.resume()


def test_a_validation_that_fails_loses_no_update(
    make_trainer: Any, straight: Trainer, tmp_path: Path
) -> None:
    broken = make_trainer("broken")
    validate = broken.validate

    def fail_at_the_second(objective: Any, search: bool) -> Any:
        if broken.progress.update == 8:
            raise OSError("the metric's program is gone")
        return validate(objective, search)

    broken.validate = fail_at_the_second
    with pytest.raises(OSError, match="program is gone"):
        broken.run()

    mended = make_trainer("broken")
    mended.resume()
    assert mended.progress.update == 8
    mended.run()

    assert_same(mended, straight)
    events = read_journal(tmp_path / "broken" / "journal.jsonl")
    validated = [event["update"] for event in events if event["event"] == "validation"]
    assert validated == [4, 8, 12]


@pytest.mark.parametrize("after", [0, 2])
def test_a_signal_ends_a_validation_which_begins_again(
    make_trainer: Any, straight: Trainer, tmp_path: Path, after: int
) -> None:
    stopped = make_trainer("stopped")
    validate, judged = stopped.validate, []

    def validate_in_batches(objective: Any, search: bool) -> Any:
        source = torch.full((1, 3), 5)
        for batch in range(4):
            if stopped.progress.update == 8 and batch == after:
                os.kill(os.getpid(), signal.SIGTERM)
            with torch.no_grad():
                objective.transformer(source, source)
            judged.append(stopped.progress.update)
        return validate(objective, search)

    stopped.validate = validate_in_batches
    stopped_by = stopped.run()
    resumed = make_trainer("stopped")
    resumed.resume()
    before = read_journal(tmp_path / "stopped" / "journal.jsonl")
    resumed.run()

    assert stopped_by == signal.SIGTERM
    assert judged == [4] * 4 + [8] * after
    assert [e["update"] for e in before if e["event"] == "validation"] == [4]
    assert_same(resumed, straight)


class MemoryAt(Display):
    """Notes the memory of this process after some updates, in bytes."""

    def __init__(self, *updates: int) -> None:
        self.updates = updates
        self.noted: list[int] = []

    def progress(self, update: int, total: int, loss: float, tokens_per_second: float) -> None:
        if update in self.updates:
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            self.noted.append(pages * resource.getpagesize())


def test_an_update_keeps_no_memory(make_trainer: Any) -> None:
    memory = MemoryAt(20, 60)

    make_trainer("run", updates=60, validate_every=20, display=memory).run()

    before, after = memory.noted
    assert after - before < 5 * 2**20  # where each update keeps its graph, it is 13


def test_what_nohup_ignores_stays_ignored(make_trainer: Any) -> None:
    handler = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert make_trainer("run", display=StopAfter(3, signal.SIGHUP)).run() is None
    finally:
        signal.signal(signal.SIGHUP, handler)


def test_a_lost_checkpoint_costs_updates_not_correctness(
    make_trainer: Any, straight: Trainer, tmp_path: Path
) -> None:
    make_trainer("damaged", keep_checkpoints=3).run()
    newest = tmp_path / "damaged" / "checkpoints" / "update-00000012" / "weights.safetensors"
    newest.write_bytes(b"")

    resumed = make_trainer("damaged", keep_checkpoints=3)
    complaints = resumed.resume()
    resumed.run()

    assert len(complaints) == 1
    assert_same(resumed, straight)


def test_a_damaged_checkpoint_is_never_the_newest_again(make_trainer: Any, tmp_path: Path) -> None:
    make_trainer("run", keep_checkpoints=1).run()
    checkpoints = tmp_path / "run" / "checkpoints"
    damaged = checkpoints / "update-00000012" / "weights.safetensors"
    damaged.write_bytes(b"")
    resumed = make_trainer("run", keep_checkpoints=1)
    resumed.resume()
    best = resumed.progress.update

    resumed.display = StopAfter(best + 1)
    resumed.run()

    again = make_trainer("run", keep_checkpoints=1)
    assert again.resume() == []
    assert again.progress.update == best + 1


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("model", {"model": replace(SMALL, d_ff=16)}),
        ("optimizer", {"optimizer": "muon"}),
        ("average", {"ema_decay": 0.0}),
    ],
)
def test_a_checkpoint_of_another_run_is_never_gone_on_from(
    make_trainer: Any, tmp_path: Path, name: str, changes: dict[str, Any]
) -> None:
    make_trainer("foreign", **changes).run()
    make_trainer("run", display=StopAfter(5)).run()
    newest = Path("checkpoints") / "update-00000012"
    shutil.copytree(tmp_path / "foreign" / newest, tmp_path / "run" / newest)

    resumed = make_trainer("run")
    complaints = resumed.resume()

    assert resumed.progress.update == 5
    assert len(complaints) == 1
    assert str(newest) in complaints[0]
    with pytest.raises(CheckpointError, match="no checkpoint can be used"):
        make_trainer("foreign").resume()


@pytest.mark.parametrize("flushed", [0, 6])  # the journal, and the folder of the checkpoint
def test_a_save_that_fails_leaves_the_one_checkpoint_that_is_kept(
    make_trainer: Any, straight: Trainer, monkeypatch: pytest.MonkeyPatch, flushed: int
) -> None:
    trainer = make_trainer("run", keep_checkpoints=1)
    flushes, fsync = itertools.count(), os.fsync

    def fail(descriptor: int) -> None:
        if trainer.progress.update == 12 and next(flushes) >= flushed:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", fail)
        with pytest.raises((CheckpointError, OSError), match="No space left"):
            trainer.run()

    resumed = make_trainer("run", keep_checkpoints=1)
    assert resumed.resume() == []
    assert resumed.progress.update == 8
    resumed.run()
    assert_same(resumed, straight)


def test_a_signal_between_two_micro_batches_waits_for_the_update(make_trainer: Any) -> None:
    straight = make_trainer("straight", precision="bf16")
    straight.run()
    stopped = make_trainer("stopped", precision="bf16")
    begun = []

    def stop_at_the_second(*_: object) -> None:
        if stopped.progress.update == 4:
            begun.append(5)
            if len(begun) == 2:
                os.kill(os.getpid(), signal.SIGTERM)

    stopped.objective.register_forward_pre_hook(stop_at_the_second)
    stopped_by = stopped.run()

    assert len(begun) >= 2
    assert stopped_by == signal.SIGTERM
    resumed = make_trainer("stopped", precision="bf16")
    resumed.resume()
    assert resumed.progress.update == 5
    resumed.run()
    assert_same(resumed, straight)


def test_stops_do_not_change_what_is_averaged(make_trainer: Any) -> None:
    settings = {"average_checkpoints": 3, "keep_checkpoints": 3, "ema_decay": 0.0}
    straight = make_trainer("straight", **settings)
    straight.run()
    for stop in (3, 10):
        stopped = make_trainer("stopped", display=StopAfter(stop), **settings)
        stopped.resume()
        stopped.run()
    resumed = make_trainer("stopped", **settings)
    resumed.resume()
    resumed.run()

    ours, theirs = dict(resumed.candidates()), dict(straight.candidates())

    assert list(ours) == list(theirs)
    for name, candidate in ours.items():
        for weight, tensor in candidate.items():
            assert torch.equal(tensor, theirs[name][weight])


def test_the_weights_that_a_run_begins_with_are_not_averaged_though_a_stop_saves_them(
    make_trainer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"average_checkpoints": 5, "keep_checkpoints": 5, "ema_decay": 0.0}
    write = Journal.write

    def write_and_stop(journal: Journal, event: str, **values: Any) -> None:
        write(journal, event, **values)
        os.kill(os.getpid(), signal.SIGTERM)

    with monkeypatch.context() as patched:
        patched.setattr(Journal, "write", write_and_stop)
        begun = make_trainer("run", **settings)
        begun.run()
        assert begun.progress.update == 0
    resumed = make_trainer("run", **settings)
    resumed.resume()
    assert resumed.checkpoints.updates() == [0]
    resumed.run()

    assert "mean of updates 4, 8, 12" in dict(resumed.candidates())


def test_a_run_of_a_single_update_is_judged(make_trainer: Any) -> None:
    trainer = make_trainer("run", updates=1)

    trainer.run()

    assert trainer.progress.best_update == 1


@pytest.mark.parametrize("settings", [{"precision": "bf16"}, {"optimizer": "muon"}])
def test_other_formats_and_optimizers_go_on_bit_for_bit(
    make_trainer: Any, settings: dict[str, str]
) -> None:
    straight = make_trainer("straight", **settings)
    straight.run()
    make_trainer("stopped", **settings, display=StopAfter(5)).run()
    resumed = make_trainer("stopped", **settings)
    resumed.resume()
    resumed.run()

    assert resumed.objective.dtype == torch.bfloat16 or "precision" not in settings
    assert len(resumed.optimizers.members) == 2 or "optimizer" not in settings
    assert_same(resumed, straight)


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_run_goes_on_bit_for_bit_though_not_all_parameters_have_gradients(
    make_trainer: Any, optimizer: str, precision: str
) -> None:
    def build(name: str, **settings: Any) -> Trainer:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("dragoman.model.transformer.initialize", freeze_and_idle)
            return make_trainer(name, optimizer=optimizer, precision=precision, **settings)

    def freeze_and_idle(model: nn.Module) -> None:
        initialize(model)
        block = model.get_submodule("decoder.blocks.0")
        block.get_submodule("feed_forward.widen").requires_grad_(False)
        block.register_module("idle", nn.Linear(3, 5))

    straight = build("straight")
    straight.run()
    build("stopped", display=StopAfter(5)).run()
    resumed = build("stopped")
    resumed.resume()
    resumed.run()

    assert resumed.progress.update == 12
    assert_same(resumed, straight)


def test_an_optimizer_that_remembers_something_else_ends_training_at_its_first_update(
    make_trainer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(REMEMBERED, torch.optim.Adafactor, ("step", "row_var", "col_var"))
    trainer = make_trainer("run")
    trainer.optimizers = Optimizers(torch.optim.Adafactor(trainer.transformer.parameters()))

    with pytest.raises(DragomanError, match=r"col_var of optimizer has shape \[1, 8\] instead of"):
        trainer.run()

    assert trainer.progress.update == 1


def test_the_journal_of_a_resumed_run_tells_every_update_once(
    make_trainer: Any, tmp_path: Path
) -> None:
    make_trainer("run", display=StopAfter(6)).run()
    trainer = make_trainer("run")
    trainer.resume()
    trainer.run()

    events = read_journal(tmp_path / "run" / "journal.jsonl")
    updates = [event["update"] for event in events if event["event"] == "update"]
    validations = [event["update"] for event in events if event["event"] == "validation"]
    assert updates == list(range(1, 13))
    assert validations == [4, 8, 12]
    has = {event.pop("event"): event.keys() - {"time"} for event in events}
    assert has == {  # as docs/research.md says
        "start": {"update", "processes", "precision"},
        "resume": {"update", "processes", "precision"},
        "update": {
            *("update", "epoch", "loss", "gradient_norm"),
            *("learning_rate", "tokens", "tokens_per_second"),
        },
        "validation": {"update", "loss", "BLEU", "best", "samples"},
        "checkpoint": {"update", "peak_mib"},
        "stop": {"update", "peak_mib"},
        "finish": {"update"},
    }


def test_the_journal_names_the_epoch_of_each_update(make_trainer: Any, tmp_path: Path) -> None:
    trainer = make_trainer("run", updates=30, validate_every=30)
    in_epoch = [trainer.batches.epoch(epoch).num_updates for epoch in range(3)]

    trainer.run()

    events = read_journal(tmp_path / "run" / "journal.jsonl")
    written = [event["epoch"] for event in events if event["event"] == "update"]
    expected = [epoch for epoch, count in enumerate(in_epoch) for _ in range(count)]
    assert 0 < in_epoch[0] < 30
    assert written[: len(expected)] == expected[:30]


def test_every_update_has_the_learning_rate_of_its_number(
    make_trainer: Any, tmp_path: Path
) -> None:
    trainer = make_trainer("run", learning_rate=0.3, warmup_updates=3)

    trainer.run()

    events = read_journal(tmp_path / "run" / "journal.jsonl")
    rates = [event["learning_rate"] for event in events if event["event"] == "update"]
    rising, falling = [0.1, 0.2, 0.3], [0.3 * math.sqrt(3 / number) for number in range(4, 13)]
    assert rates == pytest.approx(rising + falling)
    used = {group["lr"] for each in trainer.optimizers.members for group in each.param_groups}
    assert used == {rates[-1]}


def test_gradients_are_clipped_as_the_settings_say(make_trainer: Any) -> None:
    moved = []
    for limit in (1.0, 1e-12):
        trainer = make_trainer(f"run-{limit}", max_gradient_norm=limit)
        before = weights(trainer)
        trainer.run()
        changes = ((tensor - before[name]).abs() for name, tensor in weights(trainer).items())
        moved.append(sum(float(change.sum()) for change in changes))

    assert moved[1] < moved[0] / 100  # the epsilon of Adam is larger than such gradients


def test_the_average_is_one_of_the_weights_after_each_update(make_trainer: Any) -> None:
    class Averaging(Display):
        def progress(self, update: int, total: int, loss: float, tokens_per_second: float) -> None:
            expected.update(trainer.transformer, update)

    trainer = make_trainer("run", display=Averaging())
    expected = ExponentialMovingAverage(trainer.transformer, 0.9)
    trainer.run()

    for name, tensor in trainer.average.weights.items():
        assert torch.equal(tensor, expected.weights[name]), name


def test_other_weights_are_judged_and_do_not_stay(make_trainer: Any) -> None:
    trainer = make_trainer("run")
    before = weights(trainer)
    zeros = {name: torch.zeros_like(tensor) for name, tensor in before.items()}

    assert trainer.validate_weights(zeros).metrics == {"loss": 0.0, "BLEU": 0.0}

    for name, tensor in weights(trainer).items():
        assert torch.equal(tensor, before[name]), name


def test_each_update_draws_by_itself_and_otherwise_in_a_run_with_another_seed(
    make_trainer: Any,
) -> None:
    class Noting(Display):
        def progress(self, update: int, total: int, loss: float, tokens_per_second: float) -> None:
            drawn_from.append(torch.initial_seed())

    drawn_from: list[int] = []
    for seed in (5, 6):
        trainer = make_trainer(f"run-{seed}", display=Noting())
        trainer.batches.seed = seed
        trainer.run()

    assert len(set(drawn_from)) == 2 * 12


def test_the_time_of_a_run_is_that_of_all_its_updates(make_trainer: Any, tmp_path: Path) -> None:
    make_trainer("run", display=StopAfter(5)).run()
    resumed = make_trainer("run")
    resumed.resume()
    resumed.run()

    events = read_journal(tmp_path / "run" / "journal.jsonl")
    updates = [event for event in events if event["event"] == "update"]
    totals = [0, *(update["tokens"] for update in updates)]
    seconds = [
        (total - before) / update["tokens_per_second"]
        for (before, total), update in zip(itertools.pairwise(totals), updates, strict=True)
    ]
    assert resumed.progress.seconds == pytest.approx(sum(seconds), rel=0.1)


def test_progress_can_be_written_as_json(make_trainer: Any) -> None:
    trainer = make_trainer("run")
    trainer.run()

    values = json.loads(json.dumps(asdict(trainer.progress)))

    assert type(trainer.progress).from_values(values) == trainer.progress


def test_no_improvement_ends_training_early(
    make_trainer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The judge likes small weights, and training makes them larger.
    trainer = make_trainer("run", updates=400, patience=2, learning_rate=0.05)

    told: list[str] = []
    monkeypatch.setattr(Display, "message", lambda self, text: told.append(text))

    assert trainer.run() is None
    assert f"done after update {trainer.progress.update} of 400: 2 validations" in told[-1]
    assert trainer.progress.update < 400
    assert trainer.progress.update == trainer.progress.best_update + 8


def test_a_loss_that_is_not_a_number_is_never_the_best(make_trainer: Any) -> None:
    losses = iter([math.nan, 3.0, math.nan])
    published: list[int] = []
    trainer = make_trainer("run", validate=lambda *_: Validation({"loss": next(losses)}))
    trainer.publish = lambda _, progress: published.append(progress.update)

    trainer.run()

    assert trainer.progress.best_update == 8
    assert published == [8]
    assert trainer.progress.validations_without_improvement == 1


def test_the_best_is_the_first_with_the_highest_score_whatever_its_loss(
    make_trainer: Any,
) -> None:
    scores = iter([(4.0, 0.0), (3.0, 0.0), (2.0, 5.0), (1.0, 5.0)])
    published: list[int] = []

    def validate(*_: object) -> Validation:
        return Validation(dict(zip(("loss", "BLEU"), next(scores), strict=True)))

    trainer = make_trainer("run", metric="BLEU", updates=16, validate=validate)
    trainer.publish = lambda _, progress: published.append(progress.update)

    trainer.run()

    assert published == [4, 12]
    assert trainer.progress.best == 5.0
    assert trainer.progress.validations_without_improvement == 1


def test_a_batch_that_breaks_the_numbers_is_named(make_trainer: Any) -> None:
    make_trainer("run", display=StopAfter(5)).run()
    resumed = make_trainer("run")
    resumed.resume()
    layer = resumed.transformer.decoder.blocks[0].feed_forward.widen
    assert isinstance(layer, nn.Linear)
    with torch.no_grad():
        layer.weight[0, 0] = float("nan")

    with pytest.raises(
        TrainingError,
        match=r"update 6 \(epoch .*pairs of the token store: \d+.*; no checkpoint has it",
    ):
        resumed.run()

    again = make_trainer("run")
    again.resume()
    assert again.progress.update == 5
    assert all(tensor.isfinite().all() for tensor in weights(again).values())


@pytest.mark.parametrize(("ema_decay", "judged"), [(0.0, "weights"), (0.9, "average")])
def test_the_best_checkpoint_and_the_mean_of_the_last_are_candidates(
    make_trainer: Any, ema_decay: float, judged: str
) -> None:
    """Checkpoints are averaged by their weights, although the best is a moving average already."""
    trainer = make_trainer("run", average_checkpoints=2, keep_checkpoints=2, ema_decay=ema_decay)
    trainer.run()

    candidates = dict(trainer.candidates())

    best = trainer.progress.best_update
    assert list(candidates) == [f"update {best}", "mean of updates 8, 12"]
    saved = trainer.checkpoints.load(best).tensors[judged]
    for name, weight in candidates[f"update {best}"].items():
        assert torch.equal(weight, saved[name]), name
    last = trainer.checkpoints.load(12).tensors["weights"]
    before = trainer.checkpoints.load(8).tensors["weights"]
    for name, mean in candidates["mean of updates 8, 12"].items():
        torch.testing.assert_close(mean, (last[name] + before[name]) / 2)


def test_it_is_said_that_there_are_fewer_checkpoints_than_should_be_averaged(
    make_trainer: Any,
) -> None:
    display = Listener()
    for average in (3, 4):
        settings = {"average_checkpoints": average, "keep_checkpoints": average}
        trainer = make_trainer(f"run-{average}", display=display, **settings)
        trainer.run()
        assert "mean of updates 4, 8, 12" in dict(trainer.candidates())

    assert display.said == [
        "training.average_checkpoints = 4: validations have left only 3 checkpoints"
    ]


@pytest.fixture(autouse=True)
def restored_signals() -> Iterator[None]:
    handlers = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    assert handlers == {n: signal.getsignal(n) for n in handlers}


def damage(trainer: Trainer, update: int) -> None:
    path = trainer.checkpoints.path(update) / "weights.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"?")


def test_a_damaged_checkpoint_is_no_candidate_and_another_takes_its_place(
    make_trainer: Any,
) -> None:
    trainer = make_trainer("run", average_checkpoints=2, keep_checkpoints=3, ema_decay=0.0)
    trainer.run()
    best = trainer.progress.best_update
    assert best == 4  # the judge likes small weights
    damage(trainer, best)

    trainer.display = display = Listener()
    assert [name for name, _ in trainer.candidates()] == [
        "update 12",
        "mean of updates 8, 12",
    ]
    (warning,) = display.said
    assert "update-00000004: weights.safetensors is damaged; it is left out" in warning
    damage(trainer, 8)
    assert [name for name, _ in trainer.candidates()] == ["update 12"]
    damage(trainer, 12)
    with pytest.raises(CheckpointError, match="no checkpoint can be read"):
        list(trainer.candidates())


def test_an_update_ahead_changes_neither_the_weights_nor_what_is_told(
    make_trainer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    straight, ahead = make_trainer("straight"), make_trainer("ahead")

    straight.run()
    monkeypatch.setattr("dragoman.training.loop.updates_ahead", lambda device: 1)  # as on a GPU
    ahead.run()

    assert_same(ahead, straight)
    told, told_ahead = (
        read_journal(tmp_path / name / "journal.jsonl") for name in ("straight", "ahead")
    )
    for event in (*told, *told_ahead):
        event.pop("time")
        event.pop("tokens_per_second", None)
        event.pop("peak_mib", None)
    assert told_ahead == told


def test_a_stop_waits_for_the_update_ahead(
    make_trainer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = make_trainer("run", display=StopAfter(5))
    monkeypatch.setattr("dragoman.training.loop.updates_ahead", lambda device: 1)

    trainer.run()

    events = read_journal(tmp_path / "run" / "journal.jsonl")
    assert [(event["event"], event["update"]) for event in events[-2:]] == [
        ("update", 6),
        ("stop", 6),
    ]


def test_a_broken_update_ahead_is_found_before_it_is_saved(
    make_trainer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = make_trainer("run")
    monkeypatch.setattr("dragoman.training.loop.updates_ahead", lambda device: 1)

    class Break(Display):
        def progress(self, update: int, total: int, loss: float, tokens_per_second: float) -> None:
            if update == 6:  # while update 7 is under way
                with torch.no_grad():
                    next(trainer.transformer.decoder.parameters()).fill_(float("nan"))

    trainer.display = Break()
    with pytest.raises(TrainingError, match="update 8 "):
        trainer.run()

    assert trainer.checkpoints.updates() == [4]


def test_a_run_asks_for_as_much_space_as_its_checkpoints_take(
    make_trainer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained, begun = make_trainer("trained"), make_trainer("begun")
    trained.run()
    asked: list[int] = []
    monkeypatch.setattr(begun.checkpoints, "require_space", asked.append)

    begun.resume()

    groups = trained.checkpoints.load(12).tensors.values()
    assert asked == [sum(tensor.nbytes for group in groups for tensor in group.values())]


def test_a_run_that_came_to_its_end_is_not_said_to_have_ended_early(make_trainer: Any) -> None:
    display = Listener()
    judged = {"validate": lambda *_: Validation({"loss": 1.0})}
    trainer = make_trainer("run", patience=2, display=display, **judged)

    trainer.run()

    assert trainer.progress.validations_without_improvement == 2
    assert display.said == []


def test_one_validation_in_so_many_translates(make_trainer: Any) -> None:
    searched: list[int] = []

    def validate(objective: Any, search: bool) -> Validation:
        if search:
            searched.append(trainer.progress.update)
        return weight_sum(objective, search)

    trainer = make_trainer("run", updates=22, search_every=2, patience=0, validate=validate)

    trainer.run()

    assert searched == [8, 16, 22]


def test_each_process_draws_by_itself(make_trainer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Noting(Display):
        def progress(self, update: int, total: int, loss: float, tokens_per_second: float) -> None:
            drawn_from.append(torch.initial_seed())

    drawn_from: list[int] = []
    monkeypatch.setattr("dragoman.training.loop.world_size", lambda: 2)
    for rank in (0, 1):
        monkeypatch.setattr("dragoman.training.loop.rank", lambda rank=rank: rank)
        make_trainer(f"run-{rank}", updates=3, display=Noting()).run()

    assert len(set(drawn_from)) == 2 * 3


def test_a_gradient_that_is_not_finite_ends_training_though_the_loss_is(make_trainer: Any) -> None:
    trainer = make_trainer("run")
    next(trainer.transformer.parameters()).register_hook(lambda gradient: gradient * math.inf)

    with pytest.raises(TrainingError, match=r"gave loss \d+\.\d+, gradient norm (inf|nan); "):
        trainer.run()


def test_the_time_of_an_update_ahead_begins_where_that_of_the_one_before_ends(
    make_trainer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = iter([0.0, 5.0, 7.0])
    clock = SimpleNamespace(perf_counter=lambda: next(seconds))
    monkeypatch.setattr("dragoman.training.pending_updates.time", clock)
    monkeypatch.setattr("dragoman.training.loop.updates_ahead", lambda device: 1)
    trainer = make_trainer("run", updates=2)

    trainer.run()

    assert trainer.progress.seconds == 7.0
