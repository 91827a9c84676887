"""One update of the weights."""

import math
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from dragoman.config import DragomanError
from dragoman.corpora.batch import Batch
from dragoman.model.transformer import Transformer
from dragoman.training.averaging import Weights, borrowed_weights, copy_weights
from dragoman.training.compilation import not_compiled
from dragoman.training.distributed import sum_over_ranks, world_size
from dragoman.training.loss import projected_cross_entropy
from dragoman.training.optimizer import Optimizers
from dragoman.training.parallelism import is_sharded, whole, without_gradient_sync
from dragoman.training.precision import autocast


@dataclass(frozen=True)
class MicroBatch:
    """Part of an update, on the device; `target` begins with BOS and ends with EOS."""

    source: Int[Tensor, "batch source"]
    target: Int[Tensor, "batch target"]

    @classmethod
    def on(cls, device: torch.device, batch: Batch) -> "MicroBatch":
        """Send a batch to the device, without waiting until it is there."""
        return cls(source=_sent(batch.source, device), target=_sent(batch.target, device))


def _sent(tokens: Int[np.ndarray, "batch length"], device: torch.device) -> Tensor:
    tensor = torch.from_numpy(np.ascontiguousarray(tokens))
    if device.type == "cuda":  # a GPU fetches by itself only what is never moved to disk
        tensor = tensor.pin_memory()
    return tensor.to(device, non_blocking=True)


class TrainingError(DragomanError):
    """Training cannot go on."""


class Objective(nn.Module):
    """What training minimises: from token ids to the summed loss.

    It is a module so that the processes of a distributed training see all parameters used in one
    forward pass.
    """

    def __init__(
        self, transformer: Transformer, *, label_smoothing: float, dtype: torch.dtype
    ) -> None:
        super().__init__()
        self.transformer = transformer
        self.label_smoothing = label_smoothing
        self.dtype = dtype

    def forward(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, ""]:
        """Sum the loss of predicting each target token from those before it.

        Labels are smoothed in training only, so that a validation loss is a cross-entropy.
        """
        with self.precision(source.device):
            states = self.transformer.states(source, target[:, :-1])
            return projected_cross_entropy(
                states,
                self.transformer.projection.linear,
                target[:, 1:],
                smoothing=self.label_smoothing if self.training else 0.0,
                padding_id=self.transformer.padding_id,
            )

    def precision(self, device: torch.device) -> AbstractContextManager[None]:
        """Compute in the number format of this training."""
        return autocast(device, self.dtype)


@contextmanager
def with_weights(objective: Objective, weights: Weights) -> Iterator[Objective]:
    """Let an objective have other weights for a while.

    Where processes hold parts of it, they are the weights of a whole copy, so that one process can
    compute while the others wait.
    """
    if not is_sharded(objective):
        with borrowed_weights(objective.transformer, weights), not_compiled():
            yield objective
        return
    device = next(objective.parameters()).device
    trained = objective.transformer
    copy = Transformer(
        trained.config,
        source_vocab_size=trained.source_embeddings.table.num_embeddings,
        target_vocab_size=trained.target_embeddings.table.num_embeddings,
        padding_id=trained.padding_id,
    ).to(device)
    copy_weights(weights, copy)
    yield Objective(copy, label_smoothing=objective.label_smoothing, dtype=objective.dtype)


@dataclass(frozen=True)
class UpdateReport:
    """What happened in one update, or on a GPU is still happening."""

    loss: Float[Tensor, ""]
    """Mean over the target tokens of the update, on all processes; label-smoothed."""

    gradient_norm: Float[Tensor, ""]
    """Norm before clipping."""

    @property
    def is_finite(self) -> bool:
        """Wait for the update and tell whether its numbers are numbers."""
        return bool(torch.isfinite(self.loss) & torch.isfinite(self.gradient_norm))

    def read(self) -> tuple[float, float]:
        """Wait for the update and return its loss and gradient norm.

        Raises:
            TrainingError: one of them is not finite.
        """
        loss, norm = torch.stack([self.loss, self.gradient_norm]).tolist()
        if not (math.isfinite(loss) and math.isfinite(norm)):
            raise TrainingError(f"loss {loss}, gradient norm {norm}")
        return loss, norm


def update(
    objective: nn.Module,
    micro_batches: Sequence[MicroBatch],
    optimizers: Optimizers,
    *,
    num_target_tokens: int,
    learning_rate: float,
    max_gradient_norm: float,
) -> UpdateReport:
    """Change the weights once, from all the micro-batches of all processes.

    The loss is a mean over the target tokens of the whole update, `num_target_tokens` on all
    processes: the change is the same however those tokens are cut into micro-batches and spread
    over processes.

    Nothing here waits for a GPU: it computes while the next batch is made. So where the loss or a
    gradient is not finite, a GPU's weights are spoilt, and others are not changed; whoever saves
    weights reads the report first, which says so.
    """
    *before, last = micro_batches
    with without_gradient_sync(objective):
        losses = [_backward(objective, micro_batch, num_target_tokens) for micro_batch in before]
    losses.append(_backward(objective, last, num_target_tokens))
    loss = sum_over_ranks(torch.stack(losses).sum()) / num_target_tokens
    limit = max_gradient_norm or float("inf")
    norm = whole(nn.utils.clip_grad_norm_(objective.parameters(), limit))
    report = UpdateReport(loss, norm)
    if loss.device.type == "cuda" or report.is_finite:
        optimizers.step(learning_rate)
    else:
        optimizers.forget_gradients()
    return report


def _backward(
    objective: nn.Module, micro_batch: MicroBatch, num_target_tokens: int
) -> Float[Tensor, ""]:
    """Add the gradients of one micro-batch, and return its summed loss."""
    loss: Tensor = objective(micro_batch.source, micro_batch.target)
    # Wrapped for several processes, the objective averages gradients over them; we want the sum,
    # because the tokens are those of all of them.
    (loss * (world_size() / num_target_tokens)).backward()
    return loss.detach()
