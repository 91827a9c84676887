"""Layer normalisation (section 3.1; Ba et al. 2016)."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F


class LayerNormalization(nn.Module):
    """Give each vector zero mean and unit variance, then a learned gain and bias per feature.

    y = (x - mean) / sqrt(variance + epsilon) * gain + bias, with the biased variance (division
    by d_model) and epsilon inside the root: what `torch.nn.LayerNorm` computes.
    """

    def __init__(self, d_model: int, *, epsilon: float = 1e-5) -> None:
        super().__init__()
        self.epsilon = epsilon
        self.gain = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def equation(self, x: Float[Tensor, "... d_model"]) -> Float[Tensor, "... d_model"]:
        """Compute it as written: for readers; tests hold it and `forward` to PyTorch's."""
        mean = x.mean(dim=-1, keepdim=True)
        variance = x.var(dim=-1, unbiased=False, keepdim=True)
        return (x - mean) / torch.sqrt(variance + self.epsilon) * self.gain + self.bias

    def forward(self, x: Float[Tensor, "... d_model"]) -> Float[Tensor, "... d_model"]:
        """Compute the same in one pass over memory, not seven, in the number format of the gain."""
        own = x.to(self.gain.dtype)
        return F.layer_norm(own, self.gain.shape, self.gain, self.bias, self.epsilon).type_as(x)


class ScalarLayerNormalization(nn.Module):
    """The form in learners' guides: alpha * (x - mean) / (deviation + epsilon) + bias.

    It has two parameters in all instead of two per feature, the unbiased deviation (division by
    d_model - 1), and epsilon outside the root. It is here for comparison; weights of the usual form
    do not fit it.
    """

    def __init__(self, *, epsilon: float = 1e-6) -> None:
        super().__init__()
        self.epsilon = epsilon
        self.alpha = nn.Parameter(torch.ones(1))
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, x: Float[Tensor, "... d_model"]) -> Float[Tensor, "... d_model"]:
        """Compute it as written, in the number format of alpha."""
        own = x.to(self.alpha.dtype)
        mean = own.mean(dim=-1, keepdim=True)
        deviation = own.std(dim=-1, keepdim=True)
        return (self.alpha * (own - mean) / (deviation + self.epsilon) + self.bias).type_as(x)
