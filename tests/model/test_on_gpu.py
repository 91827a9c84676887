"""A GPU computes what the processor does, and a machine without one says so.

Where there is no GPU, all but the last test are skipped. For all other tests the GPU is hidden,
as they compare digits (`tests/conftest.py`).
"""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.training.conftest import SMALL, build_trainer, write_store
from tests.training.test_loop import StopAfter
from torch import Tensor
from torch.backends import cuda
from torch.nn.attention import SDPBackend, sdpa_kernel

from dragoman import cli
from dragoman.decoding import problem
from dragoman.decoding.config import SearchConfig
from dragoman.engines.pytorch import PyTorchEngine
from dragoman.model.attention import ScaledDotProductAttention, attention_weights
from dragoman.model.config import TransformerConfig
from dragoman.model.dropout import Dropout
from dragoman.model.few_queries import are_few
from dragoman.model.masks import causal_mask, padding_mask
from dragoman.model.tile_attention import attend
from dragoman.model.transformer import Transformer
from dragoman.tokenizers.tokenizer import SpecialIds
from dragoman.training.averaging import weights_of
from dragoman.training.loop import Trainer
from dragoman.training.loss import loss_and_gradient
from dragoman.training.objective import Loss, Objective
from dragoman.training.recording import Recorder
from dragoman.training.step import MicroBatch, UpdateReport, add_gradients

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")

USABLE: dict[SDPBackend, Callable[[cuda.SDPAParams], bool]] = {
    SDPBackend.MATH: lambda parameters: True,
    SDPBackend.EFFICIENT_ATTENTION: cuda.can_use_efficient_attention,
    SDPBackend.FLASH_ATTENTION: cuda.can_use_flash_attention,
    SDPBackend.CUDNN_ATTENTION: cuda.can_use_cudnn_attention,
}
"""Ways to compute attention, and what tells whether one takes such tensors on this GPU."""

TOKENS = torch.tensor(
    [
        [5, 6, 7, 8, 9, 4, 3],
        [5, 6, 3, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0],
        [9, 8, 5, 4, 3, 0, 0],
    ]
)
"""A whole sentence, short ones, and a row of nothing but padding, which is 0. There are four, so
that in training they share a tile of attention."""

MASKS = {
    "everything": None,
    "no padding": padding_mask(TOKENS, padding_id=0),
    "no padding and no future": padding_mask(TOKENS, padding_id=0) & causal_mask(7),
}


def attended(tensors: list[Tensor], attend: Callable[..., Tensor]) -> list[Tensor]:
    """Attend, and return the output and the gradients of queries, keys and values."""
    leaves = [tensor.detach().requires_grad_() for tensor in tensors]
    output = attend(*leaves)
    (output.float() * torch.arange(output.size(-1), device=output.device)).sum().backward()
    return [output.detach(), *(leaf.grad for leaf in leaves if leaf.grad is not None)]


@needs_gpu
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float32, 1e-3), (torch.bfloat16, 5e-2)], ids=str
)
@pytest.mark.parametrize("backend", USABLE, ids=lambda backend: backend.name)
def test_every_kernel_of_attention_computes_equation_1(
    backend: SDPBackend, dtype: torch.dtype, tolerance: float, mask: Tensor | None
) -> None:
    tensors = [torch.randn(4, 7, 2, 16).to(dtype).transpose(1, 2) for _ in range(3)]
    on_gpu = [tensor.cuda() for tensor in tensors]
    gpu_mask = None if mask is None else mask.cuda()
    q, k, v = on_gpu
    parameters = cuda.SDPAParams(q, k, v, gpu_mask, 0.0, False, False)
    if not USABLE[backend](parameters):
        pytest.skip(f"{backend.name} does not take such tensors on this GPU")

    with sdpa_kernel(backend):
        ours = attended(on_gpu, lambda q, k, v: ScaledDotProductAttention()(q, k, v, gpu_mask))

    expected = attended(
        [tensor.double() for tensor in tensors],
        lambda q, k, v: attention_weights(q, k, mask) @ v,
    )
    assert len(ours) == len(expected) == 4
    for found, wanted in zip(ours, expected, strict=True):
        scale = max(1.0, float(wanted.abs().max()))
        torch.testing.assert_close(
            found.cpu().double() / scale, wanted / scale, rtol=0.0, atol=tolerance
        )


LENGTHS = [(7, 7), (5, 9), (28, 28), (64, 33), (1, 64)]
"""Of queries and memory, of a tile or less."""


@needs_gpu
@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
@pytest.mark.parametrize("width", [16, 64])
@pytest.mark.parametrize("one_mask_for_all", [False, True])
def test_attention_in_tiles_computes_equation_1(
    lengths: tuple[int, int], width: int, one_mask_for_all: bool
) -> None:
    heads, (queries, memory) = 3, lengths
    mask = torch.rand(1 if one_mask_for_all else 5, 1, queries, memory) < 0.7
    mask[..., 0] = True
    # As they lie in a joint projection: beside others.
    tensors = [
        torch.randn(5, length, 2, heads, width)[:, :, 1].transpose(1, 2).bfloat16()
        for length in (queries, memory, memory)
    ]

    ours = attended([t.cuda() for t in tensors], lambda q, k, v: attend(q, k, v, mask.cuda()))

    expected = attended(
        [tensor.double() for tensor in tensors],
        lambda q, k, v: attention_weights(q, k, mask) @ v,
    )
    for found, wanted in zip(ours, expected, strict=True):
        assert float((found.cpu().double() - wanted).norm()) < 1e-2 * float(wanted.norm())


@needs_gpu
@pytest.mark.parametrize("lengths", [(1, 16), (4, 16), (4, 80), (15, 33)], ids=str)
@pytest.mark.parametrize("width", [16, 64, 128])
@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float32, 1e-6), (torch.float16, 1e-3), (torch.bfloat16, 1e-2)]
)
def test_attention_of_a_search_computes_equation_1(
    lengths: tuple[int, int], width: int, dtype: torch.dtype, tolerance: float
) -> None:
    queries, memory = lengths
    mask = torch.rand(5, 1, queries, memory) < 0.7
    mask[..., 0] = True
    tensors = [
        torch.randn(5, length, 3, width, dtype=dtype).transpose(1, 2)
        for length in (queries, memory, memory)
    ]
    moved, layer = [tensor.cuda() for tensor in tensors], ScaledDotProductAttention()

    with torch.inference_mode():
        assert are_few(moved[0], mask.cuda())
        found = layer(*moved, mask.cuda()).cpu().double()

    q, k, v = (tensor.double() for tensor in tensors)
    wanted = attention_weights(q, k, mask) @ v
    assert float((found - wanted).norm()) < tolerance * float(wanted.norm())


@needs_gpu
@pytest.mark.parametrize("beam_size", [1, 4])
@pytest.mark.parametrize("positional_encoding", ["interleaved", "rotary"])
@pytest.mark.parametrize("num_begun", [0, 5])
def test_a_search_finds_what_the_processor_finds(
    beam_size: int, positional_encoding: Any, num_begun: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In single precision, with sentences that leave the batch at different times.

    Some steps are replayed, others are not, and several threads search at a time.
    """
    monkeypatch.setattr(problem, "FEW_SENTENCES", 20)  # fewer never leave before all do
    model = build_model(positional_encoding)
    sources = [torch.randint(4, 20, (1 + i % 23,)).tolist() for i in range(60)]
    prefixes = [source[:1] * num_begun for source in sources]
    search = SearchConfig(beam_size=beam_size)

    expected = PyTorchEngine(model, SpecialIds()).search(sources, search, prefixes=prefixes)
    engine = PyTorchEngine(model.cuda(), SpecialIds())
    with ThreadPoolExecutor(3) as threads:
        started = [
            threads.submit(engine.search, sources, search, prefixes=prefixes) for _ in range(6)
        ]

    for found in (search.result() for search in started):
        assert [h[0].ids for h in found] == [h[0].ids for h in expected]
        scores, wanted = ([h[0].score for h in each] for each in (found, expected))
        assert scores == pytest.approx(wanted, abs=1e-3)


@needs_gpu
def test_recordings_take_no_more_memory_with_every_search() -> None:
    model = build_model("rotary").cuda()
    sources = [[5, 6, 7, 8], [9, 4], [8] * 20]
    taken = []
    for _ in range(20):
        PyTorchEngine(model, SpecialIds()).search(sources, SearchConfig())
        taken.append(torch.cuda.memory_reserved())

    assert taken[-1] == taken[2]


def build_model(positional_encoding: Any) -> Transformer:
    torch.manual_seed(1)
    config = replace(SMALL, d_model=64, positional_encoding=positional_encoding)
    return Transformer(config, source_vocab_size=20, target_vocab_size=20, padding_id=0).eval()


@needs_gpu
def test_a_compiled_training_attends_in_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    kernels = pytest.importorskip("dragoman.kernels.attention")
    of_tiles = kernels.attend_in_tiles

    def watched(given: Any, mask: Tensor, found: Tensor, *, tile: int) -> None:
        seen.append(tile)
        of_tiles(given, mask, found, tile=tile)

    monkeypatch.setattr(kernels, "attend_in_tiles", watched)
    # What follows is not compiled, as it checks its types.
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)

    objective_of("cuda", torch.bfloat16)(TOKENS.cuda(), TOKENS.cuda()).backward()

    assert len(seen) == 6  # two blocks of the encoder, and two of the decoder with two each


@needs_gpu
@pytest.mark.parametrize(
    ("rows", "vocab_size"), [(1, 1), (5, 7), (3, 8000), (999, 32_000), (2, 2**16)]
)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 4e-3)])
def test_a_kernel_gives_the_loss_and_its_gradient(
    rows: int, vocab_size: int, dtype: torch.dtype, tolerance: float
) -> None:
    kernels = pytest.importorskip("dragoman.kernels.cross_entropy")
    logits = (3 * torch.randn(rows, vocab_size)).to(dtype)
    labels = torch.randint(vocab_size, (rows,))

    losses, gradient = kernels.loss_and_gradient(logits.cuda(), labels.cuda(), 0.1)

    exact = loss_and_gradient(logits.double(), labels, 0.1)
    torch.testing.assert_close(losses.cpu().double(), exact[0], rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(gradient.cpu().double(), exact[1], rtol=tolerance, atol=1e-5)


def objective_of(device: str, dtype: torch.dtype) -> Objective:
    """Build a model of the same weights on any device."""
    torch.manual_seed(3)
    config = TransformerConfig(
        d_model=32, d_ff=48, num_heads=2, num_encoder_layers=2, num_decoder_layers=2, dropout=0.0
    )
    model = Transformer(config, source_vocab_size=10, target_vocab_size=10, padding_id=0)
    return Objective(Loss(model, label_smoothing=0.1), dtype=dtype).to(device)


@needs_gpu
@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float32, 1e-3), (torch.bfloat16, 0.3)], ids=str
)
def test_loss_and_gradients_are_those_of_the_processor(
    dtype: torch.dtype, tolerance: float
) -> None:
    """In bf16, those of a processor are as far from those in fp32: 19 % for some matrices."""
    found, expected = objective_of("cuda", dtype), objective_of("cpu", torch.float32)

    loss = found(TOKENS.cuda(), TOKENS.cuda())
    loss.backward()
    wanted = expected(TOKENS, TOKENS)
    wanted.backward()

    of_loss = min(tolerance, 1e-2)
    torch.testing.assert_close(loss.detach().cpu(), wanted.detach(), rtol=of_loss, atol=0.0)
    gradients = {name: weight.grad for name, weight in expected.named_parameters()}
    largest = max(float(gradient.norm()) for gradient in gradients.values() if gradient is not None)
    for name, ours in found.named_parameters():
        theirs = gradients[name]
        assert ours.grad is not None, name
        assert theirs is not None, name
        norm = max(float(theirs.norm()), 1e-3 * largest)  # some are nothing but rounding
        # Which is False of what is no number.
        assert float((ours.grad.cpu() - theirs).norm()) <= tolerance * norm, name


@needs_gpu
@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_recordings_add_the_gradients_that_are_computed_without(dropout: float) -> None:
    plain, recorded = objective_of("cuda", torch.float32), objective_of("cuda", torch.float32)
    for objective in (plain, recorded):
        for module in objective.modules():
            if isinstance(module, Dropout):
                module.rate = dropout
    recorder = Recorder(torch.device("cuda", torch.cuda.current_device()))
    table = recorded.transformer.positions.sinusoids.table
    others = TOKENS.flip(0)[:, :5]
    longer = TOKENS.repeat(1, 50)  # than the table of positions, which is replaced
    # The first of a shape is computed, the second recorded, and then they are replayed.
    for number, tokens in enumerate([TOKENS, others, TOKENS, others, longer, TOKENS, others]):
        batch = MicroBatch(source=tokens.cuda(), target=tokens.cuda())
        losses, gradients = [], []
        for objective, add in ((plain, add_gradients), (recorded, recorder)):
            torch.manual_seed(number)
            losses.append([add(objective, batch, 0.5), add(objective, batch, 0.25)])
            of_parameters = [p.grad for p in objective.parameters() if p.grad is not None]
            gradients.append([gradient.clone() for gradient in of_parameters])
            torch._foreach_zero_(of_parameters)
        torch.testing.assert_close(*losses, rtol=1e-4, atol=0.0)
        torch.testing.assert_close(*gradients, rtol=1e-3, atol=1e-4)
        first, second = losses[1]
        assert (first == second) == (dropout == 0.0)
    assert len(recorder._recordings) == 3
    first_recording, *_ = recorder._recordings.values()
    assert any(buffer is table for buffer in first_recording.buffers)


@pytest.fixture
def make_trainer(tmp_path: Path) -> Callable[..., Trainer]:
    """Build trainers on the GPU, all of the same beginning."""
    store = write_store(tmp_path / "store")

    def make(name: str, **settings: Any) -> Trainer:
        settings = {"device": "cuda", "validate_every": 2, **settings}
        return build_trainer(store, tmp_path / name, SMALL, **settings)

    return make


@needs_gpu
def test_a_compiled_training_learns_what_another_does() -> None:
    found = subprocess.run(
        [sys.executable, "-m", "tests.training.compiled_on_gpu"],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    report = json.loads(found.stdout)

    assert report["recordings"] > 0
    assert report["largest difference"] < 1e-3
    assert report["dropped where its gradient is"]
    assert report["replays draw other numbers"]


@needs_gpu
def test_a_training_that_stops_goes_on_as_if_it_had_not(
    make_trainer: Callable[..., Trainer],
) -> None:
    straight = make_trainer("straight")
    straight.run()
    make_trainer("stopped", display=StopAfter(5)).run()
    resumed = make_trainer("stopped")

    assert resumed.resume() == []
    assert resumed.progress.update == 6  # which was under way
    resumed.run()

    # Not to the bit: a GPU may add up in another order each time. Nor the bias of the keys, whose
    # gradient is nothing but such differences.
    ours, theirs = weights_of(resumed.transformer), weights_of(straight.transformer)
    assert all(tensor.is_cuda for tensor in ours.values())
    for name in ours.keys() - {name for name in ours if "key_projection.bias" in name}:
        torch.testing.assert_close(ours[name], theirs[name], rtol=0.0, atol=1e-4)


@needs_gpu
def test_a_report_waits_for_nothing_that_the_gpu_is_told_later() -> None:
    loss, norm = torch.tensor([1.5, 2.5], device="cuda")
    report = UpdateReport.of(loss, norm)
    torch.cuda._sleep(2**31)  # cycles, which are about a second
    later = torch.cuda.current_stream().record_event()

    assert report.read() == (1.5, 2.5)
    assert not later.query()


class Starved(StopAfter):
    """Takes all the memory of the GPU from a training, after some updates."""

    taken: list[Tensor]

    def progress(self, update: int, total: int, loss: float, tokens_per_second: float) -> None:
        """Forbid PyTorch to ask for more memory, and use up what it has."""
        if update != self.update:
            return
        self.taken = []
        torch.cuda.empty_cache()
        torch.cuda.set_per_process_memory_fraction(0.0)
        for size in (2**20, 2**14, 2**9):
            with contextlib.suppress(torch.OutOfMemoryError):
                while True:
                    self.taken.append(torch.empty(size, dtype=torch.uint8, device="cuda"))


@pytest.fixture
def _gives_memory_back() -> Iterator[None]:
    """Let the tests that follow have the whole GPU."""
    yield
    torch.cuda.set_per_process_memory_fraction(1.0)
    torch.cuda.empty_cache()


@needs_gpu
@pytest.mark.usefixtures("_gives_memory_back")
def test_memory_that_runs_out_is_told_and_costs_no_checkpoint(
    make_trainer: Callable[..., Trainer],
) -> None:
    display = Starved(5)
    with pytest.raises(torch.OutOfMemoryError) as error:
        make_trainer("starved", display=display).run()
    sentence = cli._one_sentence(error.value, ["train"])
    error.value.__traceback__ = None  # whose frames hold the training and its memory
    display.taken.clear()
    torch.cuda.set_per_process_memory_fraction(1.0)

    trainer = make_trainer("starved")

    assert sentence is not None
    assert sentence.startswith("there is not enough memory")
    assert trainer.resume() == []
    assert trainer.progress.update == 6  # which was under way, and whose validation failed
    trainer.run()
    assert trainer.progress.update == 12


PROGRAM = """
import sys
from dragoman.cli import main
from dragoman.device import choose_device
from dragoman.training.distributed import device_of_process
print(choose_device("auto"), device_of_process("auto"))
sys.exit(main(["translate", sys.argv[1], "--engine", "pytorch", "--device", "cuda"]))
"""


def test_a_gpu_that_is_hidden_is_named_and_not_replaced() -> None:
    source = Path(cli.__file__).parents[2]
    model = Path(__file__).parents[1] / "fixtures" / "release-0.1.0" / "model"

    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(model)],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(source), *sys.path]),
            "CUDA_VISIBLE_DEVICES": "",
        },
        input="the cat\n",
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ended.returncode, ended.stdout) == (1, "cpu cpu\n")
    assert ended.stderr == "dragoman: device 'cuda': PyTorch finds no GPU here; write auto or cpu\n"
