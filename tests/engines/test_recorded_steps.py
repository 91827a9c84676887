"""Steps in memory that stays where it is. What is recorded is tested in `test_on_gpu.py`."""

import copy
import weakref
from collections.abc import Callable
from dataclasses import replace
from threading import Lock

import pytest
import torch
from tests.learned_positions import LearnedPositions
from tests.training.conftest import SMALL
from torch import Tensor

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.phrase import Phrase, Spelling
from dragoman.engines.pytorch import PyTorchEngine
from dragoman.engines.recorded_steps import RecordedSteps
from dragoman.model import decoder_state, positional_encoding
from dragoman.model.ensemble import Ensemble
from dragoman.model.transformer import Transformer
from dragoman.tokenizers.tokenizer import SpecialIds

VOCAB = 20
SOURCES = [[4 + (7 * i + 3 * j) % 16 for j in range(1 + i % 23)] for i in range(40)]


class Replaying(PyTorchEngine):
    """An engine that steps as one on a GPU does, and computes what that would replay."""

    num_recordings = 0
    most = 1000
    """More do not fit into memory."""

    def _steps(self) -> RecordedSteps:
        def record(compute: Callable[[], Tensor]) -> Callable[[], Tensor]:
            found: list[Tensor] = []

            def replay() -> Tensor:
                found.append(compute())
                return found[0].copy_(found[-1])

            if self.num_recordings == self.most:
                raise torch.OutOfMemoryError
            self.num_recordings += 1
            return replay

        return RecordedSteps(self._transformer, record)


@pytest.fixture(params=["rotary", "interleaved"])
def model(request: pytest.FixtureRequest) -> Transformer:
    torch.manual_seed(1)
    config = replace(SMALL, d_model=16, num_decoder_layers=2, positional_encoding=request.param)
    return Transformer(
        config, source_vocab_size=VOCAB, target_vocab_size=VOCAB, padding_id=0
    ).eval()


def assert_same_search(
    model: Transformer | Ensemble,
    config: SearchConfig,
    required: list[list[Phrase]] | None = None,
    num_begun: int = 0,
) -> None:
    prefixes = [[5, 6, 7][:num_begun] for _ in SOURCES]
    usual = PyTorchEngine(model, SpecialIds()).search(SOURCES, config, required, prefixes)
    replaying = Replaying(model, SpecialIds())
    found = replaying.search(SOURCES, config, required, prefixes)
    assert replaying.num_recordings > 0
    assert [[h.ids for h in each] for each in found] == [[h.ids for h in each] for each in usual]
    scores, wanted = ([h.score for each in all for h in each] for all in (found, usual))
    assert scores == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize(
    "config",
    [
        SearchConfig(),
        SearchConfig(beam_size=3, n_best=3, patience=1),
        SearchConfig(beam_size=1),
        SearchConfig(beam_size=1, n_best=5, sampling_temperature=1.0, seed=3),
    ],
    ids=["beam", "n-best", "greedy", "sampling"],
)
@pytest.mark.parametrize(("num_begun", "tokens_at_once"), [(0, 20), (3, 4)])
def test_a_search_that_replays_finds_the_same(
    config: SearchConfig,
    num_begun: int,
    tokens_at_once: int,
    model: Transformer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(decoder_state, "TOKENS_AT_ONCE", tokens_at_once)
    assert_same_search(model, config, num_begun=num_begun)


def test_an_ensemble_replays_the_steps_of_all(model: Transformer) -> None:
    other = copy.deepcopy(model)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    assert_same_search(Ensemble([model, other]), SearchConfig())


def test_the_number_of_prefixes_may_change(model: Transformer) -> None:
    """As it does where phrases are required."""
    phrase = Phrase(spellings=(Spelling(tokens=(7, 8)),))
    assert_same_search(model, SearchConfig(), [[phrase] if i % 2 else [] for i in range(40)])


def test_when_the_table_of_positions_grows_steps_are_recorded_anew(
    model: Transformer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A longer one is other memory than what was recorded reads."""
    monkeypatch.setattr(decoder_state, "TOKENS_AT_ONCE", 60)
    one, begun = [[5] * 9], [[6] * 40]
    usual, growing = Replaying(model, SpecialIds()), Replaying(model, SpecialIds())
    expected = usual.search(one, SearchConfig(), prefixes=begun)
    sinusoids = model.positions.sinusoids
    short = positional_encoding.sinusoids(6, sinusoids.width, sinusoids.convention)
    monkeypatch.setattr(sinusoids, "table", short)

    found = growing.search(one, SearchConfig(), prefixes=begun)

    assert [each[0].ids for each in found] == [each[0].ids for each in expected]
    assert growing.num_recordings > usual.num_recordings


def test_positions_of_another_kind_need_no_sinusoids(model: Transformer) -> None:
    model.positions = LearnedPositions(model.config.d_model)  # type: ignore[assignment]
    assert_same_search(model, SearchConfig())


@pytest.mark.parametrize("most", [0, 1])
def test_where_there_is_too_little_memory_for_a_recording_steps_are_computed_as_usual(
    most: int, model: Transformer
) -> None:
    """A batch of one sentence could not be halved."""
    usual, replaying = PyTorchEngine(model, SpecialIds()), Replaying(model, SpecialIds())
    replaying.most = most
    one = [[5] * 20]

    found, expected = (each.search(one, SearchConfig()) for each in (replaying, usual))

    assert replaying.num_recordings == most
    assert found[0][0].ids == expected[0][0].ids


def test_what_was_recorded_is_gone_before_another_thread_may_search(
    model: Transformer, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, alone, was_alone = Replaying(model, SpecialIds()), Lock(), []
    engine.most = 0  # what the stub records holds on to itself
    make = engine._steps

    def make_watched() -> RecordedSteps:
        steps = make()
        weakref.finalize(steps, lambda: was_alone.append(alone.locked()))
        return steps

    monkeypatch.setattr(engine, "_steps", make_watched)
    monkeypatch.setattr(engine, "_alone", alone)
    engine.search(SOURCES, SearchConfig())

    assert was_alone
    assert all(was_alone)
