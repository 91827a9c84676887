"""One update of the weights."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from dragoman.corpora.batch import Batch
from dragoman.errors import DragomanError
from dragoman.training.distributed import sum_over_ranks, world_size
from dragoman.training.optimizer import Optimizers
from dragoman.training.parallelism import whole, without_gradient_sync


@dataclass(frozen=True)
class MicroBatch:
    """Part of an update, on the device; `target` begins with BOS and ends with EOS."""

    source: Int[Tensor, "batch source"]
    target: Int[Tensor, "batch target"]

    @classmethod
    def on(cls, device: torch.device, batch: Batch) -> "MicroBatch":
        """Send a batch to the device, without waiting for it to arrive."""
        return cls(source=_sent(batch.source, device), target=_sent(batch.target, device))


def _sent(tokens: Int[np.ndarray, "batch length"], device: torch.device) -> Tensor:
    tensor = torch.from_numpy(np.ascontiguousarray(tokens))
    if device.type == "cuda":  # a GPU fetches by itself only what is never swapped out
        tensor = tensor.pin_memory()
    return tensor.to(device, non_blocking=True)


@dataclass(frozen=True)
class UpdateReport:
    """What happened in one update, or on a GPU is still happening."""

    numbers: Float[Tensor, "2"]
    """The label-smoothed loss, which is a mean over the target tokens of the update on all
    processes, and the norm of the gradient before clipping. On the host, or on their way to it."""

    arrived: torch.cuda.Event | None
    """What to wait for before the numbers are read, if they come from a GPU."""

    @classmethod
    def of(cls, loss: Float[Tensor, ""], gradient_norm: Float[Tensor, ""]) -> "UpdateReport":
        """Send both to the host, without waiting for them."""
        numbers = torch.stack([loss, gradient_norm])
        if not numbers.is_cuda:
            return cls(numbers, None)
        on_host = torch.empty(2, dtype=numbers.dtype, pin_memory=True)
        on_host.copy_(numbers, non_blocking=True)
        return cls(on_host, torch.cuda.current_stream(numbers.device).record_event())

    def read(self) -> tuple[float, float]:
        """Wait for the numbers, but for nothing queued on a GPU after them, and return them."""
        if self.arrived is not None:
            self.arrived.synchronize()
        loss, norm = self.numbers.tolist()
        return loss, norm


def add_gradients(
    objective: nn.Module, micro_batch: MicroBatch, scale: float | Float[Tensor, ""]
) -> Float[Tensor, ""]:
    """Add the gradients of one micro-batch, times `scale`, and return its summed loss."""
    loss: Tensor = objective(micro_batch.source, micro_batch.target)
    (loss * scale).backward()
    return loss.detach()


def add_gradients_at_once(
    objective: nn.Module, micro_batch: MicroBatch, scale: Float[Tensor, ""]
) -> Float[Tensor, ""]:
    """Do the same with a few kernels for all sums, where `add_gradients` takes one for each.

    All parameters that are trained have gradients already, and there is room for as many.
    """
    trained = [parameter for parameter in objective.parameters() if parameter.grad is not None]
    loss: Tensor = objective(micro_batch.source, micro_batch.target)
    gradients = torch.autograd.grad(loss * scale, trained, materialize_grads=True)
    sums = [parameter.grad for parameter in trained if parameter.grad is not None]
    torch._foreach_add_(sums, list(gradients))
    return loss.detach()


AddGradients = Callable[[nn.Module, MicroBatch, float], Tensor]
"""`add_gradients`, or another way to do the same."""


def update(
    objective: nn.Module,
    micro_batches: Sequence[MicroBatch],
    optimizers: Optimizers,
    *,
    num_target_tokens: int,
    learning_rate: float,
    max_gradient_norm: float,
    add_gradients: AddGradients = add_gradients,
) -> UpdateReport:
    """Update the weights once, from all the micro-batches of all processes.

    The loss is a mean over the target tokens of the whole update, `num_target_tokens` on all
    processes: the result is the same however those tokens are split into micro-batches and spread
    over processes.

    Nothing here waits for a GPU, except to make a recording: it computes while the next batch is
    made. So if the loss or a gradient is not finite, weights on a GPU are spoilt, and others are
    not changed; whoever saves weights reads the report first.
    """
    *before, last = micro_batches
    # Wrapped for several processes, the objective averages gradients over them; we want the sum,
    # because the tokens are those of all processes.
    scale = world_size() / num_target_tokens
    with without_gradient_sync(objective):
        losses = [add_gradients(objective, micro_batch, scale) for micro_batch in before]
    losses.append(add_gradients(objective, last, scale))
    loss = sum_over_ranks(torch.stack(losses).sum()) / num_target_tokens
    limit = max_gradient_norm or float("inf")
    norm = whole(nn.utils.clip_grad_norm_(objective.parameters(), limit))
    report = UpdateReport.of(loss, norm)
    if loss.is_cuda or report.numbers.isfinite().all():
        optimizers.step(learning_rate)
    else:
        optimizers.forget_gradients()
    return report


def rehearse(objective: nn.Module, micro_batch: MicroBatch, optimizers: Optimizers) -> None:
    """Compute gradients and discard them, so that DDP sends all those that count in one order.

    After its first backward pass, DDP reassigns gradients to buckets in the order in which they
    arrived. Where in a bucket a gradient lies decides in which order three or more processes add it
    up: the first update of a resumed run would be rounded differently from that of a run that never
    stopped.

    Raises:
        DragomanError: a parameter has no part in the loss, so that DDP would wait for its gradient.
    """
    if not isinstance(objective, DistributedDataParallel):
        return
    add_gradients(objective, micro_batch, 1.0)
    parameters = objective.module.named_parameters()
    idle = [name for name, p in parameters if p.requires_grad and p.grad is None]
    if idle:
        raise DragomanError(
            f"several processes cannot train what has no part in the loss: {', '.join(idle)}; "
            'freeze it with requires_grad_(False), or set training.parallelism = "fsdp"'
        )
    optimizers.forget_gradients()
