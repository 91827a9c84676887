"""What training minimises."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.func import functional_call

from dragoman.kernels import HAS_TRITON
from dragoman.model.transformer import Transformer
from dragoman.training.averaging import Weights, copy_weights
from dragoman.training.casting import cast
from dragoman.training.config import TrainingConfig
from dragoman.training.loss import LossAndGradient, loss_and_gradient, projected_cross_entropy
from dragoman.training.parallelism import NORMS, is_sharded
from dragoman.training.r_drop import projected_r_drop_loss


class Loss(nn.Module):
    """From token ids to the summed loss of predicting each target token from those before it.

    It computes in the number format of the weights that it is called with.
    """

    def __init__(
        self,
        transformer: Transformer,
        *,
        label_smoothing: float,
        of_chunk: LossAndGradient = loss_and_gradient,
    ) -> None:
        super().__init__()
        self.transformer = transformer
        self.label_smoothing = label_smoothing
        self.of_chunk = of_chunk

    def forward(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, ""]:
        """Smooth labels in training only, so that a validation loss is a cross-entropy."""
        return projected_cross_entropy(
            self.transformer.states(source, target[:, :-1]),
            self.transformer.projection.linear,
            target[:, 1:],
            smoothing=self.label_smoothing if self.training else 0.0,
            padding_id=self.transformer.padding_id,
            of_chunk=self.of_chunk,
        )


class RDropLoss(Loss):
    """Makes two predictions of each sentence agree, each with its own dropout; see `r_drop`."""

    def __init__(self, transformer: Transformer, *, label_smoothing: float, weight: float) -> None:
        super().__init__(transformer, label_smoothing=label_smoothing)
        self.weight = weight

    def forward(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, ""]:
        """Sum the loss of both; without dropout, when validating, one is enough."""
        if not self.training:
            return super().forward(source, target)
        return projected_r_drop_loss(
            self.transformer.states(source.repeat(2, 1), target[:, :-1].repeat(2, 1)),
            self.transformer.projection.linear,
            target[:, 1:],
            smoothing=self.label_smoothing,
            padding_id=self.transformer.padding_id,
            weight=self.weight,
        )


class Objective(nn.Module):
    """What training minimises: a loss, computed in the number format that training has chosen.

    It is a module so that the processes of a distributed training see all parameters used in one
    forward pass.
    """

    def __init__(self, loss: Loss, *, dtype: torch.dtype) -> None:
        super().__init__()
        self.loss = loss
        self.dtype = dtype

    @property
    def transformer(self) -> Transformer:
        """The model, with weights in fp32."""
        return self.loss.transformer

    def forward(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, ""]:
        """Compute all of the loss in `dtype`, from a copy of the weights in `dtype`.

        The weights themselves, and the gradients that arrive there, stay in fp32.
        `torch.autocast` would cast the inputs of each product instead, and keep everything between
        the products in fp32: on a CPU with bf16 that takes longer than the products. Sharded
        weights, which are whole only inside a block, are left to it. It may not keep what it has
        cast for the next update: it forgets only at the end of the outermost context, and all of a
        training is inside one (`set_up_to_train`).
        """
        loss: Tensor
        if self.dtype == torch.float32:
            loss = self.loss(source, target)
        elif is_sharded(self):
            with torch.autocast(source.device.type, self.dtype, cache_enabled=False):
                loss = self.loss(source, target)
        else:
            weights = self._cast_weights()
            loss = functional_call(self.loss, weights, (source, target), tie_weights=False)
        return loss

    def _cast_weights(self) -> dict[str, Tensor]:
        """Cast each parameter, and list it for every module that holds it.

        Norms and embedding tables compute with theirs as they are: PyTorch adds up their gradients,
        over all tokens or over those that are the same, in the number format of the weights, and
        bf16 has too few digits for sums of hundreds. The loss casts the projection, which may be
        such a table, and adds up its gradients itself.
        """
        weights = {
            f"{place}.{name}": weight
            for place, module in self.loss.named_modules()
            if not isinstance(module, (nn.Embedding, *NORMS))
            and module is not self.transformer.projection.linear
            for name, weight in module.named_parameters(recurse=False)
        }
        return dict(zip(weights, cast(list(weights.values()), self.dtype), strict=True))


def build_objective(
    transformer: Transformer, config: TrainingConfig, dtype: torch.dtype
) -> Objective:
    """Build the objective that the settings of a training ask for."""
    smoothing = config.label_smoothing
    loss = (
        RDropLoss(transformer, label_smoothing=smoothing, weight=config.r_drop)
        if config.r_drop
        else Loss(transformer, label_smoothing=smoothing, of_chunk=_of_chunk(transformer, config))
    )
    return Objective(loss, dtype=dtype)


def _of_chunk(transformer: Transformer, config: TrainingConfig) -> LossAndGradient:
    """Choose a kernel where one can be compiled."""
    if config.compile and HAS_TRITON and transformer.projection.linear.weight.is_cuda:
        from dragoman.kernels import cross_entropy

        return cross_entropy.loss_and_gradient
    return loss_and_gradient


def for_validation(objective: Objective, weights: Weights) -> Objective:
    """Build a whole, uncompiled copy of an objective, without dropout, that has other weights.

    What is trained stays as it is, and one process can compute while the others wait. A search
    would compile blocks for each of its shapes.
    """
    trained = objective.transformer
    with next(objective.parameters()).device:
        copy = Transformer(
            trained.config,
            source_vocab_size=trained.source_embeddings.table.num_embeddings,
            target_vocab_size=trained.target_embeddings.table.num_embeddings,
            padding_id=trained.padding_id,
        )
    copy_weights(weights, copy)
    return Objective(Loss(copy, label_smoothing=0.0), dtype=objective.dtype).eval()
