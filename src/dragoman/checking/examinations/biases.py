"""Examinations of which layers have biases (sections 3.2.2 and 3.3)."""

from collections.abc import Iterator

from torch import nn

from dragoman.checking.construction import Workshop
from dragoman.checking.examinations.check import Check, Verdict

OF_ATTENTION = Check(
    name="attention-biases",
    finding="Its projections have biases, and the paper's have none.",
    why="It works, and PyTorch has them, too. The keys' bias adds the same to a whole row of "
    "scores, so the softmax takes it away again.",
    section="3.2.2",
    kind="note",
)
OF_FEED_FORWARD = Check(
    name="feed-forward-biases",
    finding="One of its layers has no bias; in equation 2 each has one.",
    why="It works, and can express less: without b1, every ReLU has its corner at zero.",
    section="3.3",
    kind="note",
)


MATRICES = 2
"""How many equation 2 has; a gated feed-forward has one more."""


def attention(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Count the biases of the four projections."""
    biased, plain = _layers(workshop, part)
    count = sum(biased.values())
    wrong = f"biases of {', '.join(biased)}: {count} numbers more than the paper's matrices"
    but = f"; there are none of {', '.join(plain)}" if plain else ""
    if biased or plain:
        yield OF_ATTENTION, wrong + but if biased else None


def feed_forward(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Count the biases of the two layers."""
    biased, plain = _layers(workshop, part)
    count = sum(plain.values())
    wrong = f"no bias of {', '.join(plain)}: {count} numbers fewer than in equation 2"
    if len(biased) + len(plain) == MATRICES:
        yield OF_FEED_FORWARD, wrong if plain else None


def _layers(workshop: Workshop, part: str) -> tuple[dict[str, int], dict[str, int]]:
    """Find the linear layers with and without a bias, and how many outputs each has.

    PyTorch's attention has its first three as one matrix, which is not a layer of its own.
    """
    biased: dict[str, int] = {}
    plain: dict[str, int] = {}
    for name, layer in workshop.build(part).named_modules():
        if isinstance(layer, nn.MultiheadAttention) and layer.in_proj_bias is not None:
            biased[f"{name}.in_proj"] = layer.in_proj_bias.numel()
        elif isinstance(layer, nn.Linear):
            (plain if layer.bias is None else biased)[name] = layer.out_features
    return biased, plain
