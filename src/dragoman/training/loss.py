"""Label-smoothed cross-entropy (section 5.4; Szegedy et al. 2016), summed over tokens."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

CHUNK_ROWS = 256
"""Positions whose logits exist at one time on a CPU: few enough to stay in its cache."""

CHUNK_ROWS_ON_GPU = 4096
"""There, enough to keep it busy."""

LossAndGradient = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""(logits of some positions, their labels) -> their summed loss and its gradient in the logits."""


def label_smoothed_cross_entropy(
    logits: Float[Tensor, "positions vocab"],
    labels: Int[Tensor, " positions"],
    *,
    smoothing: float,
    padding_id: int,
) -> Float[Tensor, ""]:
    """Sum -sum_v q(v) log p(v) over the positions that are not padding.

    q gives 1 - epsilon to the label and spreads epsilon evenly over the whole vocabulary, label
    included: PyTorch's definition. It is a sum, not a mean, so that an update can divide once by
    all its tokens and not depend on how they were cut into batches.
    """
    return F.cross_entropy(
        logits, labels, ignore_index=padding_id, label_smoothing=smoothing, reduction="sum"
    )


def projected_cross_entropy(
    states: Float[Tensor, "batch target d_model"],
    projection: nn.Linear,
    labels: Int[Tensor, "batch target"],
    *,
    smoothing: float,
    padding_id: int,
) -> Float[Tensor, ""]:
    """Compute `label_smoothed_cross_entropy` of the projected states, never holding all logits.

    The logits are the largest tensor of a model by far. A chunk of them is made, turned into its
    loss and its gradients, and forgotten.
    """
    if not torch.is_grad_enabled():
        return _without_gradients(states, projection, labels, smoothing, padding_id)
    return projected_loss(
        states.flatten(0, 1),
        projection,
        labels.flatten(),
        partial(_loss_and_gradient, smoothing=smoothing, padding_id=padding_id),
    )


def projected_loss(
    states: Float[Tensor, "positions d_model"],
    projection: nn.Linear,
    labels: Int[Tensor, " positions"],
    of_chunk: LossAndGradient,
) -> Float[Tensor, ""]:
    """Sum a loss of the projected states, chunk after chunk, with its gradients.

    Args:
        states: What is projected.
        projection: To the vocabulary.
        labels: One for each position.
        of_chunk: May overwrite the logits. If there is an even number of positions, it is given an
            even number of them each time.
    """
    loss: Tensor = _ProjectedLoss.apply(  # type: ignore[no-untyped-call]
        states, projection.weight, projection.bias, labels, of_chunk
    )
    return loss


def _chunk_rows(device: str) -> int:
    return CHUNK_ROWS if device == "cpu" else CHUNK_ROWS_ON_GPU


def _without_gradients(
    states: Tensor, projection: nn.Linear, labels: Tensor, smoothing: float, padding_id: int
) -> Tensor:
    """Sum the loss of one chunk after the other."""
    rows = _chunk_rows(states.device.type)
    chunks = zip(states.flatten(0, 1).split(rows), labels.flatten().split(rows), strict=True)
    losses = [
        label_smoothed_cross_entropy(
            projection(chunk).float(), chunk_labels, smoothing=smoothing, padding_id=padding_id
        )
        for chunk, chunk_labels in chunks
    ]
    return torch.stack(losses).sum()


class _ProjectedLoss(torch.autograd.Function):
    """From the gradient of the loss in the logits, the rest is the chain rule."""

    @staticmethod
    def forward(
        ctx: Any,
        states: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        labels: Tensor,
        of_chunk: LossAndGradient,
    ) -> Tensor:
        device = states.device.type
        dtype = (
            torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else states.dtype
        )
        matrix = weight.to(dtype)
        loss = torch.zeros((), device=states.device)
        states_gradient = torch.empty_like(states)
        weight_gradient = torch.zeros_like(weight)
        bias_gradient = None if bias is None else torch.zeros_like(bias)
        chunk_rows = _chunk_rows(device)
        for first in range(0, labels.numel(), chunk_rows):
            rows = slice(first, first + chunk_rows)
            chunk = states[rows].to(dtype)
            logits = (chunk @ matrix.t()).float()
            if bias is not None:
                logits += bias
            chunk_loss, gradient = of_chunk(logits, labels[rows])
            loss += chunk_loss
            if bias_gradient is not None:
                bias_gradient += gradient.sum(dim=0)
            gradient = gradient.to(dtype)
            states_gradient[rows] = gradient @ matrix
            weight_gradient += gradient.t() @ chunk
        ctx.save_for_backward(states_gradient, weight_gradient, bias_gradient)
        return loss

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        scale = gradients[0]
        inputs = (None if saved is None else saved * scale for saved in ctx.saved_tensors)
        return (*inputs, None, None)


def _loss_and_gradient(
    logits: Float[Tensor, "rows vocab"],
    labels: Int[Tensor, " rows"],
    *,
    smoothing: float,
    padding_id: int,
) -> tuple[Float[Tensor, ""], Float[Tensor, "rows vocab"]]:
    """Return the summed loss of a chunk, and its gradient, softmax - q, in the room of the logits.

    Each step changes the logits in place: new room for as many numbers costs more than the step.
    """
    real = (labels != padding_id).to(logits.dtype)
    spread = smoothing / logits.size(1)
    label_logits = logits.gather(1, labels[:, None]).squeeze(1)
    mean_logits = logits.mean(dim=1)
    largest = logits.amax(dim=1)
    exponentials = logits.sub_(largest[:, None]).exp_()
    total = exponentials.sum(dim=1)
    log_normaliser = total.log() + largest
    losses = (log_normaliser - (1.0 - smoothing) * label_logits - smoothing * mean_logits) * real
    gradient = exponentials.mul_((real / total)[:, None]).sub_((real * spread)[:, None])
    gradient.scatter_add_(1, labels[:, None], (real * (smoothing - 1.0))[:, None])
    return losses.sum(), gradient
