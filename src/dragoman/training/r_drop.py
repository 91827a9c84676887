"""R-Drop (Liang et al. 2021): two predictions of a token, each with its own dropout, agree."""

from functools import partial

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from dragoman.training.loss import (
    format_of_sums,
    label_smoothed_cross_entropy,
    projected_loss,
)


def r_drop_loss(
    one: Float[Tensor, "positions vocab"],
    other: Float[Tensor, "positions vocab"],
    labels: Int[Tensor, " positions"],
    *,
    smoothing: float,
    padding_id: int,
    weight: float,
) -> Float[Tensor, ""]:
    """Sum the mean cross-entropy of two predictions, and their divergence from each other.

    For predictions P and Q, it is (CE(P) + CE(Q) + weight * (KL(P||Q) + KL(Q||P)) / 2) / 2: half of
    the paper's loss (equation 4), so that without the divergence it is that of one prediction.
    """
    cross_entropies = [
        label_smoothed_cross_entropy(logits, labels, smoothing=smoothing, padding_id=padding_id)
        for logits in (one, other)
    ]
    log_p, log_q = one.log_softmax(dim=-1), other.log_softmax(dim=-1)
    divergences = ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum(dim=-1)
    divergence = divergences[labels != padding_id].sum() / 2
    return (sum(cross_entropies) + weight * divergence) / 2


def projected_r_drop_loss(
    states: Float[Tensor, "twice target d_model"],
    projection: nn.Linear,
    labels: Int[Tensor, "batch target"],
    *,
    smoothing: float,
    padding_id: int,
    weight: float,
) -> Float[Tensor, ""]:
    """Compute `r_drop_loss` of the projected states, never holding all logits.

    Args:
        states: Those of all sentences, and then those of all sentences again.
        projection: To the vocabulary.
        labels: Those of all sentences.
        smoothing: Of the labels.
        padding_id: The label that does not count.
        weight: That of the divergence, the paper's alpha.
    """
    side_by_side = states.unflatten(0, (2, -1)).flatten(1, 2).transpose(0, 1)
    twice = labels.flatten().repeat_interleave(2)
    return projected_loss(
        side_by_side.flatten(0, 1),
        projection,
        twice,
        (twice != padding_id) / 2.0,
        smoothing,
        partial(_loss_and_gradient, weight=weight),
    )


def _loss_and_gradient(
    logits: Float[Tensor, "rows vocab"],
    labels: Int[Tensor, " rows"],
    smoothing: float,
    *,
    weight: float,
) -> tuple[Float[Tensor, " rows"], Float[Tensor, "rows vocab"]]:
    """Return the loss of each row without its mean logit, and the gradient of both of a pair.

    The gradient of KL(P||Q) with respect to the logits of P is P (log P - log Q - KL(P||Q)), and
    with respect to those of Q it is Q - P.
    """
    log_probabilities = logits.to(format_of_sums(logits.dtype)).log_softmax(dim=1)
    probabilities = log_probabilities.exp()
    away = log_probabilities - _swapped(log_probabilities)
    divergences = (probabilities * away).sum(dim=1, keepdim=True)
    of_label = (torch.arange(len(labels), device=labels.device), labels)
    losses = smoothing * logits[of_label] - log_probabilities[of_label]

    gradient = away.sub_(divergences).mul_(probabilities).sub_(_swapped(probabilities))
    gradient.add_(probabilities).mul_(weight / 2).add_(probabilities)
    gradient[of_label] -= 1.0 - smoothing
    return losses + weight / 2 * divergences.squeeze(1), gradient


def _swapped(rows: Float[Tensor, "rows vocab"]) -> Float[Tensor, "rows vocab"]:
    """Exchange the two rows of each pair."""
    return rows.unflatten(0, (-1, 2)).flip(1).flatten(0, 1)
