"""What turns gradients into changes of the weights: AdamW, or Muon for the matrices."""

from collections.abc import Iterable, Sequence
from inspect import unwrap
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn, optim
from torch.optim import Optimizer

from dragoman.device import choose_precision
from dragoman.errors import DragomanError
from dragoman.model.transformer import Transformer
from dragoman.training.checkpoint import misfit
from dragoman.training.config import TrainingConfig
from dragoman.training.parallelism import is_part, part_like, whole

POLYNOMIALS = (
    (8.25010, -23.45441, 16.71598),
    (4.01645, -2.87401, 0.52011),
    (3.60476, -2.59629, 0.49060),
    (2.68662, -1.93370, 0.42148),
)
"""Coefficients a, b and c of odd polynomials a s + b s^3 + c s^5. One after the other, they bring
all singular values s from 0.0024 to 1 as near to 1 as is possible, 0.7 to 1.3 (Amsel et al. 2025,
theorem 4.1). As bf16 rounds, each is the best for values up to 2 % above what the one before it
leaves. The one polynomial of Jordan et al. (2024) takes five steps for about as much."""

MUON_MOMENTUM = 0.95
ADAM_RMS = 0.2
"""RMS of a typical update by Adam, divided by the learning rate (Liu et al. 2025, section 2.2)."""


class WithoutCompiler(Optimizer):
    """An optimizer that does not load PyTorch's compiler.

    PyTorch wraps these methods, and `step` of its own optimizers, to keep them out of compiled
    graphs. For that they load all of the compiler, which takes 2.5 s and some 70 MiB (2.13, on a
    CPU), though nothing is compiled.
    """

    add_param_group = unwrap(Optimizer.add_param_group)
    state_dict = unwrap(Optimizer.state_dict)
    load_state_dict = unwrap(Optimizer.load_state_dict)
    zero_grad = unwrap(Optimizer.zero_grad)


class AdamW(WithoutCompiler, optim.AdamW):
    """PyTorch's AdamW (Loshchilov and Hutter 2019)."""

    step = torch.no_grad()(unwrap(optim.AdamW.step))


class Optimizers:
    """Several optimizers that act as one; each owns some of the parameters.

    Args:
        members: The optimizers.
        keep_gradients: Whether gradients are set to zero where they are, for recordings that write
            there, instead of being discarded.
    """

    def __init__(self, *members: Optimizer, keep_gradients: bool = False) -> None:
        self.members = members
        self.keep_gradients = keep_gradients

    def step(self, learning_rate: float) -> None:
        """Update the weights once, and discard the gradients.

        What took no part in the loss has a gradient of zero, in every number format: without one,
        PyTorch's optimizers remember nothing of it, and a checkpoint seems to lack that.
        """
        for member in self.members:
            for parameter in _parameters(member):
                if parameter.grad is None:
                    parameter.grad = torch.zeros_like(parameter)
            for group in member.param_groups:
                group["lr"] = learning_rate
            member.step()
        self.forget_gradients()

    def check_memory(self) -> None:
        """Make sure after the first step that a checkpoint would be gone on from.

        Raises:
            DragomanError: an optimizer does not remember what `REMEMBERED` says.
        """
        if reason := misfit({"optimizer": self.shapes()}, {"optimizer": self.tensors()}):
            raise DragomanError(
                f"no checkpoint of this training would be gone on from: {reason}; REMEMBERED in "
                "training/optimizer.py lists what an optimizer remembers of a parameter, and all "
                "but a count has the parameter's shape"
            )

    def forget_gradients(self) -> None:
        """Start the next sum; discarded gradients free their memory."""
        for member in self.members:
            member.zero_grad(set_to_none=not self.keep_gradients)

    def tensors(self) -> dict[str, Tensor]:
        """Return all that a checkpoint has to keep, by name."""
        return {
            f"{place}.{index}.{name}": tensor
            for place, member in enumerate(self.members)
            for index, named in member.state_dict()["state"].items()
            for name, tensor in named.items()
        }

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the names of what `tensors` gives after the first step, with their shapes."""
        return {
            f"{place}.{index}.{name}": () if name == "step" else tuple(parameter.shape)
            for place, member in enumerate(self.members)
            for index, parameter in enumerate(_parameters(member))
            for name in REMEMBERED[type(member)]
        }

    def load(self, tensors: dict[str, Tensor]) -> None:
        """Restore copies of what `tensors` gave, made whole.

        Loaded tensors lie in the file of a checkpoint, which takes up space for as long as they are
        used, even if it has been deleted.
        """
        states: list[dict[int, dict[str, Tensor]]] = [{} for _ in self.members]
        owned = list(map(_parameters, self.members))
        for key, tensor in tensors.items():
            place, index, name = key.split(".", 2)
            parameter = owned[int(place)][int(index)]
            is_count = tensor.dim() == 0  # of steps; all else is shaped like its parameter
            part = tensor if is_count else part_like(tensor, parameter)
            states[int(place)].setdefault(int(index), {})[name] = part.clone()
        for member, state in zip(self.members, states, strict=True):
            member.load_state_dict({**member.state_dict(), "state": state})


def _parameters(member: Optimizer) -> list[Tensor]:
    """List what an optimizer owns, in the order in which it numbers them."""
    return [parameter for group in member.param_groups for parameter in group["params"]]


def build_optimizers(
    model: Transformer, config: TrainingConfig, *, keep_gradients: bool = False
) -> Optimizers:
    """Build the optimizers that the configuration names.

    AdamW owns all parameters that are trained. With Muon, it owns the embeddings, which are looked
    up rather than multiplied, and what is not a matrix; Muon owns the matrices of encoder and
    decoder. Weight decay is for matrices only.
    """
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    hidden: list[Tensor] = []
    if config.optimizer == "muon":
        inside = {id(p) for stack in (model.encoder, model.decoder) for p in stack.parameters()}
        inside -= {id(m.weight) for m in model.modules() if isinstance(m, nn.Embedding)}
        hidden = [p for p in trained if p.dim() == 2 and id(p) in inside]  # noqa: PLR2004
    owned = {id(parameter) for parameter in hidden}
    others = [parameter for parameter in trained if id(parameter) not in owned]
    members: list[Optimizer] = [_build_adamw(others, config)]
    if hidden:
        dtype = choose_precision(config.precision, hidden[0].device)
        members.append(Muon(hidden, weight_decay=config.weight_decay, dtype=dtype))
    return Optimizers(*members, keep_gradients=keep_gradients)


def _build_adamw(parameters: Sequence[Tensor], config: TrainingConfig) -> AdamW:
    first, second = config.adam_betas
    groups = [
        {
            "params": [p for p in parameters if p.dim() >= 2],  # noqa: PLR2004
            "weight_decay": config.weight_decay,
        },
        {
            "params": [p for p in parameters if p.dim() < 2],  # noqa: PLR2004
            "weight_decay": 0.0,
        },
    ]
    return AdamW(groups, lr=0.0, betas=(first, second), eps=config.adam_epsilon, fused=True)


class Muon(WithoutCompiler):
    """Orthogonalised momentum: each update moves a matrix equally in all directions.

    The gradient of a matrix is mostly of low rank, so plain momentum (and Adam) learn a few
    directions and neglect the others. Here the momentum M = U S V^T is replaced by about U V^T
    (Jordan et al. 2024), and scaled so that learning rate and weight decay mean what they mean for
    AdamW (Liu et al. 2025, equation 4).

    `torch.optim.Muon` does the same in bf16, whatever the hardware, and in five steps instead of
    four: on a CPU without bf16 it takes several times as long as this one, which computes in the
    number format of the training.
    """

    def __init__(
        self, matrices: Iterable[Tensor], *, weight_decay: float, dtype: torch.dtype
    ) -> None:
        super().__init__(matrices, {"lr": 0.0, "weight_decay": weight_decay})
        self.dtype = dtype

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """Update the matrices once; their gradients are overwritten."""
        for group in self.param_groups:
            for matrices in self._batches(group["params"]):
                self._update(matrices, group["lr"], group["weight_decay"])

    def _batches(self, matrices: Sequence[Tensor]) -> list[list[Tensor]]:
        """Choose what is computed at once: all matrices of a shape, which are fewer operations.

        In float32 on a CPU, where one matrix stays in its cache, they would take 7 to 39 % longer;
        and where processes hold parts, each matrix is made whole only while it is computed.
        """
        in_cache = self.dtype == torch.float32 and not matrices[0].is_cuda
        if in_cache or is_part(matrices[0]):
            return [[matrix] for matrix in matrices]
        batches: dict[torch.Size, list[Tensor]] = {}
        for matrix in matrices:
            batches.setdefault(matrix.shape, []).append(matrix)
        return list(batches.values())

    def _update(self, matrices: list[Tensor], learning_rate: float, weight_decay: float) -> None:
        """Update matrices of one shape."""
        gradients = [_gradient(matrix) for matrix in matrices]
        momenta = [self._momentum(matrix) for matrix in matrices]
        torch._foreach_lerp_(momenta, gradients, 1.0 - MUON_MOMENTUM)
        torch._foreach_lerp_(gradients, momenta, MUON_MOMENTUM)  # Nesterov's look ahead
        # Singular vectors are of whole matrices, even if each process has some rows.
        stacked = torch.stack([whole(matrix).to(self.dtype) for matrix in gradients])
        changes = orthogonalise(stacked).to(matrices[0].dtype)
        scale = learning_rate * ADAM_RMS * max(matrices[0].shape) ** 0.5
        torch._foreach_mul_(matrices, 1.0 - learning_rate * weight_decay)
        parts = [
            part_like(change, matrix) for change, matrix in zip(changes, matrices, strict=True)
        ]
        torch._foreach_add_(matrices, parts, alpha=-scale)

    def _momentum(self, matrix: Tensor) -> Tensor:
        """Return the momentum of a matrix, zero at first."""
        state: dict[str, Tensor] = self.state[matrix]
        if not state:
            state["momentum"] = torch.zeros_like(matrix)
        return state["momentum"]


def _gradient(matrix: Tensor) -> Tensor:
    """Return the gradient of a matrix, which all have that take part in the loss."""
    assert matrix.grad is not None
    return matrix.grad


REMEMBERED: dict[type[Optimizer], Sequence[str]] = {
    AdamW: ("step", "exp_avg", "exp_avg_sq"),
    Muon: ("momentum",),
}
"""What each optimizer remembers for a parameter: all but the number of steps is shaped like it. One
that is not listed fails before the first update, and one that remembers something else after it: no
checkpoint of them would be gone on from."""


def orthogonalise(
    matrices: Float[Tensor, "matrices rows columns"],
) -> Float[Tensor, "matrices rows columns"]:
    """Bring all singular values close to one, and keep the singular vectors.

    X <- a X + (b (X X^T) + c (X X^T)^2) X is the polynomial a s + b s^3 + c s^5 of each singular
    value s. None is above 1 at first: their squares add up to the square of the norm.
    """
    is_tall = matrices.size(-2) > matrices.size(-1)
    x = matrices.mT if is_tall else matrices  # X X^T is then the smaller one
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for a, b, c in POLYNOMIALS:
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.mT if is_tall else x
