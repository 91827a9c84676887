"""CUDA graphs: what a GPU is told for a micro-batch is recorded once for each shape, then replayed.

The gradients of a base model take some two thousand kernels, each of which a GPU runs in less time
than a processor needs to start it. A recording starts them all at once.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from dragoman.training.distributed import world_size
from dragoman.training.step import MicroBatch, add_gradients, add_gradients_at_once

MOST_RECORDINGS = 128
"""Re-sampled sentences may come in hundreds of shapes, and each recording takes memory."""

Shapes = tuple[torch.Size, torch.Size]


@dataclass(frozen=True)
class _Recording:
    """What the GPU does, and the tensors that it reads and writes."""

    graph: torch.cuda.CUDAGraph
    micro_batch: MicroBatch
    scale: Float[Tensor, ""]
    loss: Float[Tensor, ""]
    buffers: tuple[Tensor, ...]
    """Those of the model as they were: it replaces its table of positions by a longer one."""


class Recorder:
    """Does what `add_gradients` does, from recordings.

    The first micro-batch of a shape is computed as usual, which prepares all that is prepared when
    it is first needed: a recording holds kernels only. The second is recorded, and from then on
    replayed.

    Recordings write into the gradients that the parameters had: those must stay where they are, see
    `Optimizers`. Each replay draws its own random numbers, from the generator as it is then.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream = torch.cuda.Stream(device)
        self._pool = torch.cuda.graph_pool_handle()  # recordings replayed in turn share memory
        self._most = MOST_RECORDINGS
        self._seen: set[Shapes] = set()
        self._recordings: dict[Shapes, _Recording] = {}

    def __call__(
        self, objective: nn.Module, micro_batch: MicroBatch, scale: float
    ) -> Float[Tensor, ""]:
        """Add the gradients of a micro-batch, times `scale`, and return its summed loss."""
        shapes = (micro_batch.source.shape, micro_batch.target.shape)
        if shapes in self._seen and shapes not in self._recordings:
            self._record(shapes, objective, micro_batch)
        self._seen.add(shapes)
        recording = self._recordings.get(shapes)
        if recording is None:
            return add_gradients(objective, micro_batch, scale)
        recording.micro_batch.source.copy_(micro_batch.source)
        recording.micro_batch.target.copy_(micro_batch.target)
        recording.scale.fill_(scale)
        recording.graph.replay()
        return recording.loss.clone()  # another replay may come before it is read

    @classmethod
    def where_it_pays(cls, device: torch.device, *, compiled: bool) -> "Recorder | None":
        """Make one for compiled blocks on a GPU; it knows nothing of other processes."""
        records = compiled and device.type == "cuda" and world_size() == 1
        return cls(device) if records else None

    def _record(self, shapes: Shapes, objective: nn.Module, like: MicroBatch) -> None:
        """Record, unless there are too many recordings or too little memory for another one."""
        if len(self._recordings) >= self._most:
            return
        micro_batch = MicroBatch(source=like.source.clone(), target=like.target.clone())
        scale = torch.ones((), device=self._device)
        graph = torch.cuda.CUDAGraph()
        try:
            with (
                torch.cuda.device(self._device),  # which is not always the current one
                torch.cuda.graph(graph, pool=self._pool, stream=self._stream),
            ):
                loss = add_gradients_at_once(objective, micro_batch, scale)
        except torch.OutOfMemoryError:  # nothing was computed yet
            self._most = 0
            return
        buffers = tuple(objective.buffers())
        self._recordings[shapes] = _Recording(graph, micro_batch, scale, loss, buffers)
