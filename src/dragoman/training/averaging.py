"""Averages of weights: over time during training, and over checkpoints at its end."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from dragoman.training.parallelism import part_like

Weights = dict[str, Tensor]


def weights_of(model: nn.Module) -> Weights:
    """Return the parameters by name, each shared one once; they are not copies."""
    return {name: parameter.detach() for name, parameter in model.named_parameters()}


def copy_weights(weights: Weights, model: nn.Module) -> None:
    """Overwrite the parameters of a model with whole ones."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(part_like(weights[name], parameter))


def mean_weights(several: Sequence[Weights]) -> Weights:
    """Average checkpoints (section 6.1), in double precision."""
    return {
        name: torch.stack([weights[name].double() for weights in several]).mean(dim=0).float()
        for name in several[0]
    }


class ExponentialMovingAverage:
    """An average of the weights of all updates in which the older ones fade.

    In the first updates the decay is lower, (1 + n) / (10 + n), so that the random initial weights
    are soon forgotten.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay = decay
        self.weights = {name: tensor.clone() for name, tensor in weights_of(model).items()}

    def load(self, weights: Weights) -> None:
        """Restore an average that was saved, a whole one."""
        for name, tensor in self.weights.items():
            tensor.copy_(part_like(weights[name], tensor))

    def update(self, model: nn.Module, num_updates: int) -> None:
        """Move towards the weights after update number `num_updates`."""
        decay = min(self.decay, (1 + num_updates) / (10 + num_updates))
        current = weights_of(model)
        torch._foreach_lerp_(
            list(self.weights.values()), [current[name] for name in self.weights], 1.0 - decay
        )
