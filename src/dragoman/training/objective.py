"""What training minimises."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.func import functional_call

from dragoman.model.transformer import Transformer
from dragoman.training.averaging import Weights, borrowed_weights, copy_weights
from dragoman.training.compilation import not_compiled
from dragoman.training.config import TrainingConfig
from dragoman.training.loss import projected_cross_entropy
from dragoman.training.parallelism import NORMS, is_sharded
from dragoman.training.r_drop import projected_r_drop_loss


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
        self,
        source: Int[Tensor, "batch source"],
        target: Int[Tensor, "batch target"],
        *,
        weights_are_cast: bool = False,
    ) -> Float[Tensor, ""]:
        """Sum the loss of predicting each target token from those before it.

        All of it is computed in `dtype`, from a copy of the weights in `dtype`; the weights
        themselves, and the gradients that arrive there, stay in fp32. `torch.autocast` would
        cast the inputs of each product instead, and keep what is between the products in fp32: on
        a CPU with bf16 that takes longer than the products. Parts of weights, which are whole only
        inside of a block, are left to it.
        """
        if self.dtype == torch.float32 or weights_are_cast:
            return self.loss(source, target)
        if is_sharded(self):
            with torch.autocast(source.device.type, self.dtype):
                return self.loss(source, target)
        arguments, named = (source, target), {"weights_are_cast": True}
        loss: Tensor = functional_call(
            self, self._cast_weights(), arguments, named, tie_weights=False
        )
        return loss

    def _cast_weights(self) -> dict[str, Tensor]:
        """Cast each parameter, and name it wherever a module holds it.

        Norms and tables of embeddings compute with theirs as they are: PyTorch adds up their
        gradients, over all tokens or over those that are the same, in the number format of the
        weights, and bf16 has no digits for sums of hundreds. The loss casts the projection, which
        may be such a table, and adds up its gradients itself. A module that has two names is named
        once: `functional_call` would not give it back.
        """
        return {
            f"{place}.{name}": weight.to(self.dtype)
            for place, module in self.named_modules()
            if not isinstance(module, (nn.Embedding, *NORMS))
            and module is not self.transformer.projection.linear
            for name, weight in module.named_parameters(recurse=False)
        }

    def loss(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, ""]:
        """Do it in the number format of the weights.

        Labels are smoothed in training only, so that a validation loss is a cross-entropy.
        """
        return projected_cross_entropy(
            self.transformer.states(source, target[:, :-1]),
            self.transformer.projection.linear,
            target[:, 1:],
            smoothing=self.label_smoothing if self.training else 0.0,
            padding_id=self.transformer.padding_id,
        )


class RDropObjective(Objective):
    """Lets two predictions of each sentence agree, each with dropout of its own; see `r_drop`."""

    def __init__(
        self, transformer: Transformer, *, label_smoothing: float, dtype: torch.dtype, weight: float
    ) -> None:
        super().__init__(transformer, label_smoothing=label_smoothing, dtype=dtype)
        self.weight = weight

    def loss(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, ""]:
        """Sum the loss of both; without dropout, when validating, one is enough."""
        if not self.training:
            return super().loss(source, target)
        return projected_r_drop_loss(
            self.transformer.states(source.repeat(2, 1), target[:, :-1].repeat(2, 1)),
            self.transformer.projection.linear,
            target[:, 1:],
            smoothing=self.label_smoothing,
            padding_id=self.transformer.padding_id,
            weight=self.weight,
        )


def build_objective(
    transformer: Transformer, config: TrainingConfig, dtype: torch.dtype
) -> Objective:
    """Make what the settings of a training ask for."""
    if config.r_drop:
        return RDropObjective(
            transformer,
            label_smoothing=config.label_smoothing,
            dtype=dtype,
            weight=config.r_drop,
        )
    return Objective(transformer, label_smoothing=config.label_smoothing, dtype=dtype)


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
