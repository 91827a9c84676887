"""Settings of training."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from dragoman.choices import check_choices
from dragoman.device import Precision

Parallelism = Literal["ddp", "fsdp"]

WIDEST_BEAM = 1024
"""The same as for `search.beam_size`, of which training knows nothing."""

_AT_LEAST_ONE = (lambda value: value >= 1, "at least 1")
_BEAM = (lambda value: 1 <= value <= WIDEST_BEAM, f"between 1 and {WIDEST_BEAM}")
_NOT_NEGATIVE = (lambda value: value >= 0, "zero or more")
_FINITE = (lambda value: 0 <= value < math.inf, "zero or more, and finite")
_SHARE = (lambda value: 0 <= value < 1, "in [0, 1)")
_POSITIVE = (lambda value: 0 < value < math.inf, "above zero and finite")
_CONDITIONS: dict[str, tuple[Callable[[float], bool], str]] = {
    "updates": _AT_LEAST_ONE,
    "validate_every": _AT_LEAST_ONE,
    "search_every": _AT_LEAST_ONE,
    "search_beam_size": _BEAM,
    "average_checkpoints": _AT_LEAST_ONE,
    "warmup_updates": _NOT_NEGATIVE,
    "patience": _NOT_NEGATIVE,
    "weight_decay": _FINITE,
    "r_drop": _FINITE,
    "max_gradient_norm": _NOT_NEGATIVE,
    "label_smoothing": _SHARE,
    "ema_decay": _SHARE,
    "learning_rate": _POSITIVE,
    "adam_epsilon": _POSITIVE,
}


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """How a model is fitted. The defaults suit a small model on one machine."""

    from_model: str | None = None
    """Start from the weights of this model directory instead of new ones. The recipe must have its
    sizes, and its vocabulary (`tokenizer.from_model`). `~` and `$VARIABLE` are expanded."""

    layers_from: str | None = None
    """The same for a model with other numbers of layers, such as a teacher: each layer starts as a
    copy of the one where the same share of that model's depth ends. Of an ensemble, it is the first
    model."""

    updates: int = 20_000
    """Number of weight updates, after which training ends at the latest."""

    learning_rate: float = 1e-3
    """Peak of the schedule; for `paper`, a factor on the paper's formula, where 1 is the paper's
    own."""

    schedule: Literal["paper", "inverse_square_root", "cosine", "linear", "constant"] = (
        "inverse_square_root"
    )
    """How the learning rate changes after the warm-up."""

    warmup_updates: int = 1000
    """Updates over which the learning rate rises linearly from zero."""

    optimizer: Literal["adamw", "muon"] = "adamw"
    """AdamW, or Muon for the matrices and AdamW for the rest; see `training/optimizer.py`."""

    adam_betas: tuple[float, ...] = (0.9, 0.98)
    """Decay rates of the two running averages of AdamW (section 5.3)."""

    adam_epsilon: float = 1e-9
    """Added to AdamW's denominator (section 5.3)."""

    weight_decay: float = 0.0
    """Weight decay of either optimizer, on matrices; norms and biases are left alone."""

    label_smoothing: float = 0.1
    """Probability spread evenly over the vocabulary (section 5.4)."""

    r_drop: float = 0.0
    """Weight of R-Drop (Liang et al. 2021): each sentence is predicted twice, each time with its
    own dropout, and the two predictions should agree. An update computes and holds twice as much; 0
    switches it off."""

    max_gradient_norm: float = 1.0
    """Gradients with a larger norm are clipped to this; 0 switches it off."""

    ema_decay: float = 0.0
    """Decay of an exponential moving average of the weights, which is then what is validated and
    saved; 0 switches it off."""

    average_checkpoints: int = 1
    """At the end, try the average of the weights of this many last checkpoints (section 6.1)."""

    validate_every: int = 500
    """Updates between validations, each followed by a checkpoint."""

    search_every: int = 1
    """One validation in this many also translates, for BLEU and chrF; 1 means every one."""

    search_beam_size: int = 1
    """Beam size for the translations of a validation; 1 is greedy search, the fastest."""

    metric: Literal["loss", "BLEU", "chrF"] = "loss"
    """What decides which checkpoint is best and when to stop early."""

    patience: int = 5
    """Stop after this many validations without improvement; 0 never stops early."""

    keep_checkpoints: int = 2
    """How many of the newest checkpoints are kept on disk; the best one is always kept too."""

    precision: Precision = "auto"
    """Number format of all computation except norms and the look-up of embeddings; `auto` is bf16
    where the hardware has it. Weights stay in fp32."""

    compile: bool = False
    """Compile the blocks with `torch.compile`, for GPUs, where a single process then also replays
    CUDA graphs; it takes a minute and a C compiler (on a CPU, one for C++)."""

    parallelism: Parallelism = "ddp"
    """What each of several processes holds: all of the model, or a part of every layer, for models
    that do not fit otherwise; see `training/parallelism.py`. A single process holds all of it."""

    device: str = "auto"
    """`auto`, `cpu`, `cuda` or, with one process on a machine, `cuda:N`."""

    @property
    def begins_with(self) -> str | None:
        """The model directory whose weights a run begins with, if any."""
        return self.from_model or self.layers_from

    def __post_init__(self) -> None:
        check_choices(self)
        for name, (holds, condition) in _CONDITIONS.items():
            if not holds(getattr(self, name)):
                raise ValueError(f"{name} = {getattr(self, name)} should be {condition}")
        for name in ("from_model", "layers_from"):
            if getattr(self, name) == "":  # as a shell writes a variable that is not set
                raise ValueError(f"{name} is empty; name a model directory, or leave it out")
        self._check_together()

    def _check_together(self) -> None:
        """Check the settings that depend on each other."""
        if len(self.adam_betas) != 2 or not all(0 <= beta < 1 for beta in self.adam_betas):  # noqa: PLR2004
            raise ValueError(f"adam_betas = {self.adam_betas} should be two numbers in [0, 1)")
        if self.keep_checkpoints < self.average_checkpoints:
            raise ValueError(
                f"keep_checkpoints = {self.keep_checkpoints} is less than"
                f" average_checkpoints = {self.average_checkpoints}"
            )
        if self.schedule == "paper" and self.warmup_updates == 0:
            raise ValueError("warmup_updates = 0 makes the paper's schedule infinite")
        if self.from_model is not None and self.layers_from is not None:
            raise ValueError(
                f"from_model = {self.from_model!r} does not go with "
                f"layers_from = {self.layers_from!r}"
            )
        if self.metric != "loss" and self.search_every != 1:
            raise ValueError(f"metric = {self.metric!r} needs search_every = 1")
