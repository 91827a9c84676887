"""Label-smoothed cross-entropy (section 5.4; Szegedy et al. 2016), summed over tokens."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

CHUNK_ROWS = 256
"""Positions whose logits exist at one time on a CPU: few enough to stay in its cache."""

CHUNK_ROWS_IN_BF16 = 2048
"""The same in bf16, where products are so fast that adding up the gradients of the chunks takes as
long as they do: fewer and larger chunks need fewer sums."""

CHUNK_ROWS_ON_GPU = 8192
"""The same on a GPU: enough to keep it busy."""

SMALLEST = torch.finfo(torch.float32).tiny
"""Smallest probability that a logarithm is taken of. Without smoothing, no position is said to lose
more than 87 nats; its gradient is exact."""

LossAndGradient = Callable[[Tensor, Tensor, float], tuple[Tensor, Tensor]]
"""(logits of some positions, their labels, epsilon) -> the loss of each, and the gradient of their
sum with respect to the logits. Both lack the smoothing term in the mean logit of a position, which
is left to `projected_loss`: -epsilon times that mean, and -epsilon / V in the gradient of each of V
logits."""


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
    all its tokens and does not depend on how they were split into batches.
    """
    return F.cross_entropy(
        logits, labels, ignore_index=padding_id, label_smoothing=smoothing, reduction="sum"
    )


def loss_and_gradient(
    logits: Float[Tensor, "rows vocab"], labels: Int[Tensor, " rows"], smoothing: float
) -> tuple[Float[Tensor, " rows"], Float[Tensor, "rows vocab"]]:
    """Return the loss of each position without the mean logit, and its gradient.

    With x for the logits and q = 1 - epsilon for the label, log sum exp x - q x(label) is
    -log p(label) + epsilon x(label): only the softmax looks at all logits.
    """
    of_label = (torch.arange(len(labels), device=labels.device), labels)
    label_logits = logits[of_label]
    gradient = logits.softmax(dim=1)
    probability = gradient[of_label].to(format_of_sums(logits.dtype)).clamp(min=SMALLEST)
    gradient[of_label] -= 1.0 - smoothing
    return smoothing * label_logits - probability.log(), gradient


def projected_cross_entropy(
    states: Float[Tensor, "batch target d_model"],
    projection: nn.Linear,
    labels: Int[Tensor, "batch target"],
    *,
    smoothing: float,
    padding_id: int,
    of_chunk: LossAndGradient = loss_and_gradient,
) -> Float[Tensor, ""]:
    """Compute `label_smoothed_cross_entropy` of the projected states, never holding all logits.

    The logits are by far the largest tensor of a model. They are computed chunk by chunk, each of
    which is turned into its loss and its gradients, and discarded.
    """
    if not torch.is_grad_enabled():
        return _without_gradients(states, projection, labels, smoothing, padding_id)
    return projected_loss(
        states.flatten(0, 1),
        projection,
        labels.flatten(),
        (labels.flatten() != padding_id).float(),
        smoothing,
        of_chunk,
    )


def projected_loss(
    states: Float[Tensor, "positions d_model"],
    projection: nn.Linear,
    labels: Int[Tensor, " positions"],
    counts: Float[Tensor, " positions"],
    smoothing: float,
    of_chunk: LossAndGradient,
) -> Float[Tensor, ""]:
    """Sum a loss of the projected states, chunk by chunk, with its gradients.

    What smoothing subtracts from the loss is epsilon times the mean logit, which is the projection
    by the mean row: no logit has to be looked at.

    Args:
        states: What is projected, in the number format of the products unless autocast sets one.
        projection: To the vocabulary; its gradients are in its own number format.
        labels: One for each position.
        counts: For each position the weight of its loss; 0 if it does not count.
        smoothing: The share of the labels that is spread over the vocabulary.
        of_chunk: The loss without the mean logit. It may overwrite the logits. If there is an even
            number of positions, it is given an even number of them each time.
    """
    dtype = _format_of_products(states)
    task = _Task(labels, counts.to(format_of_sums(dtype)), smoothing, of_chunk, dtype)
    with torch.autocast(states.device.type, enabled=False):  # sums stay in their format
        loss: Tensor = _ProjectedLoss.apply(  # type: ignore[no-untyped-call]
            states, projection.weight, projection.bias, task
        )
    return loss


def _chunk_rows(states: Tensor, dtype: torch.dtype) -> int:
    """Choose how many positions are projected at one time."""
    if states.device.type != "cpu":
        return CHUNK_ROWS_ON_GPU
    return CHUNK_ROWS_IN_BF16 if dtype == torch.bfloat16 else CHUNK_ROWS


def _format_of_products(states: Tensor) -> torch.dtype:
    """Return the number format in which states are projected."""
    device_type = states.device.type
    if torch.is_autocast_enabled(device_type):
        return torch.get_autocast_dtype(device_type)
    return states.dtype


def format_of_sums(products: torch.dtype) -> torch.dtype:
    """Return the number format in which a loss is summed: that of the products, fp32 at least."""
    return torch.promote_types(products, torch.float32)


def _without_gradients(
    states: Tensor, projection: nn.Linear, labels: Tensor, smoothing: float, padding_id: int
) -> Tensor:
    """Sum the loss chunk by chunk."""
    dtype = _format_of_products(states)
    rows = _chunk_rows(states, dtype)
    weight, bias = (
        held if held is None else held.to(dtype) for held in (projection.weight, projection.bias)
    )
    chunks = zip(states.flatten(0, 1).split(rows), labels.flatten().split(rows), strict=True)
    losses = [
        label_smoothed_cross_entropy(
            F.linear(chunk.to(dtype), weight, bias).to(format_of_sums(dtype)),
            chunk_labels,
            smoothing=smoothing,
            padding_id=padding_id,
        )
        for chunk, chunk_labels in chunks
    ]
    return torch.stack(losses).sum()


@dataclass(frozen=True)
class _Task:
    """The arguments of a loss of projected states; see `projected_loss`."""

    labels: Int[Tensor, " positions"]
    counts: Float[Tensor, " positions"]
    """In the number format of sums."""

    smoothing: float
    of_chunk: LossAndGradient
    dtype: torch.dtype
    """Number format of the products."""


class _ProjectedLoss(torch.autograd.Function):
    """From the gradient of the loss with respect to the logits, the rest is the chain rule.

    The mean logit of a position is its state times the mean row (plus the mean bias), so its
    gradient is the same for each row of the matrix: the sums over the chunks start with it.
    """

    @staticmethod
    def forward(
        ctx: Any,
        states: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        task: _Task,
    ) -> Tensor:
        mean_row = weight.to(task.counts.dtype).mean(dim=0)
        matrix = weight.to(task.dtype)
        loss, weight_gradient, bias_gradient = _of_mean_logits(states, mean_row, weight, bias, task)
        of_mean_row = (task.smoothing * mean_row).to(task.dtype)
        states_gradient = torch.empty_like(states)
        chunk_rows = _chunk_rows(states, task.dtype)
        for first in range(0, len(states), chunk_rows):
            rows = slice(first, first + chunk_rows)
            chunk, count = states[rows].to(task.dtype), task.counts[rows].to(task.dtype)
            logits = chunk @ matrix.t()
            if bias is not None:
                logits += bias
            losses, gradient = task.of_chunk(logits, task.labels[rows], task.smoothing)
            loss += losses @ task.counts[rows]
            gradient = gradient.to(task.dtype)
            if bias_gradient is not None:
                bias_gradient += count @ gradient
            states_gradient[rows] = (gradient @ matrix - of_mean_row) * count[:, None]
            weight_gradient += _of_weight(gradient, chunk * count[:, None])
        ctx.save_for_backward(states_gradient, weight_gradient, bias_gradient)
        return loss

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        scale = gradients[0]
        inputs = (None if saved is None else saved * scale for saved in ctx.saved_tensors)
        return (*inputs, None)


def _of_mean_logits(
    states: Tensor, mean_row: Tensor, weight: Tensor, bias: Tensor | None, task: _Task
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Start the sums with the term of the mean logit: its loss and gradients in weight and bias."""
    share = -task.smoothing / len(weight)
    counted = task.counts @ states.to(task.counts.dtype)
    loss = -task.smoothing * (counted @ mean_row)
    weight_gradient = (counted * share).repeat(len(weight), 1)
    if bias is None:
        return loss, weight_gradient, None
    loss -= task.smoothing * task.counts.sum() * bias.to(task.counts.dtype).mean()
    return loss, weight_gradient, (task.counts.sum() * share).repeat(len(weight))


def _of_weight(
    gradient: Float[Tensor, "rows vocab"], states: Float[Tensor, "rows d_model"]
) -> Float[Tensor, "vocab d_model"]:
    """Multiply gradient^T by the states.

    On a CPU with bf16 it takes half the time to transpose and copy the states, which are the
    smaller factor, and to multiply them by the gradient as it is laid out.
    """
    if states.dtype == torch.bfloat16 and states.device.type == "cpu":
        return (states.t().contiguous() @ gradient).t()
    return gradient.t() @ states
