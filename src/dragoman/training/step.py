"""One update of the weights."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from dragoman.config import DragomanError
from dragoman.model.transformer import Transformer
from dragoman.training.averaging import Weights, borrowed_weights, copy_weights
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
        with borrowed_weights(objective.transformer, weights):
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
    """What happened in one update."""

    loss: float
    """Mean over the target tokens of the update, on all processes; label-smoothed."""

    gradient_norm: float
    """Norm before clipping."""


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

    Raises:
        TrainingError: the loss or a gradient is not finite; the weights are not changed.
    """
    losses = []
    for number, micro_batch in enumerate(micro_batches, start=1):
        if number < len(micro_batches):
            with without_gradient_sync(objective):
                losses.append(_backward(objective, micro_batch, num_target_tokens))
        else:
            losses.append(_backward(objective, micro_batch, num_target_tokens))
    loss = sum_over_ranks(torch.stack(losses).sum()) / num_target_tokens
    limit = max_gradient_norm or float("inf")
    norm = whole(nn.utils.clip_grad_norm_(objective.parameters(), limit))
    report = UpdateReport(*torch.stack([loss, norm]).tolist())
    if not (torch.isfinite(loss) and torch.isfinite(norm)):
        optimizers.forget_gradients()
        raise TrainingError(f"loss {report.loss}, gradient norm {report.gradient_norm}")
    optimizers.step(learning_rate)
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
