"""Train a learner's Transformer with and without mistakes on a toy: write sequences backwards.

Each model is the one of `tests/checking/learners/assembled.py`, with one mistake put into it. The
loss is that of training, where the right prefix is given; what matters is what the model writes on
its own afterwards.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

LEARNER = Path(__file__).parents[1] / "tests" / "checking" / "learners" / "assembled.py"

LENGTH, SYMBOLS, BEGIN = 5, 10, 1
VOCAB = SYMBOLS + 2
UPDATES, BATCH, LEARNING_RATE = 200, 32, 3e-3

_FILL = "scores = scores.masked_fill(mask == 0, -torch.inf)"
_SPLIT = "x.view(x.shape[0], x.shape[1], self.h, self.d_k).transpose(1, 2)"
MISTAKES: dict[str, tuple[str, str]] = {
    "none": ("", ""),
    "attention-projections": ("key = self.split(self.w_k(k))", "key = self.split(self.w_q(k))"),
    "attention-mask": (_FILL, _FILL.partition(" = ")[2]),
    "causal-mask": ("torch.tril(torch.ones", "torch.triu(torch.ones"),
    "attention-softmax": ("softmax(dim=-1)", "softmax(dim=-2)"),
    "attention-heads": (_SPLIT, "x.view(x.shape[0], self.h, x.shape[1], self.d_k)"),
    "residual-input": ("return x + self.dropout(sublayer", "return self.dropout(sublayer"),
    "positions-added": ("self.dropout(x + self.pe[:, : x.shape[1]])", "self.dropout(x)"),
    "projection-probabilities": ("return self.proj(x)", "return self.proj(x).softmax(dim=-1)"),
    "source-is-read": ("(x, memory, memory, src_mask)", "(x, x, x, tgt_mask)"),
}
"""For each check, text of the program and the text in its place."""

MEASURED = {
    "none": (0.0, 1.0),
    "attention-projections": (0.0, 1.0),
    "attention-mask": (0.0, 0.5),
    "causal-mask": (0.0, 0.0),
    "attention-softmax": (0.0, 0.0),
    "attention-heads": (0.0, 0.0),
    "residual-input": (0.3, 0.7),
    "positions-added": (1.0, 0.0),
    "projection-probabilities": (1.6, 1.0),
    "source-is-read": (2.3, 0.0),
}
"""Loss and share of right sequences; a test measures them again, to a tenth."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a model has learned."""

    loss: float
    """In nats a symbol, mean of the last ten updates."""

    right: float
    """Share of sequences that it writes backwards on its own without a fault."""


def measure(mistake: str) -> Outcome:
    """Train a model with a mistake, on one thread and always from the same random numbers."""
    old, new = MISTAKES[mistake]
    source = LEARNER.read_text(encoding="utf-8")
    assert old in source
    names: dict[str, Any] = {"__name__": "learner"}
    exec(compile(source.replace(old, new), "learner", "exec"), names)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = names["build_transformer"](VOCAB, VOCAB, LENGTH, LENGTH, 32, 1, 4, 0.0, 64)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    generator = torch.Generator().manual_seed(1)
    mask = names["causal_mask"](LENGTH)[None]
    losses = []
    for _ in range(UPDATES):
        source_ids, target_ids = draw(BATCH, generator)
        logits = predict(model, source_ids, target_ids[:, :-1], mask)
        loss = F.cross_entropy(logits.flatten(0, 1), target_ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    source_ids, target_ids = draw(200, generator)
    written = write(model, source_ids, names["causal_mask"])
    right = (written == target_ids).all(dim=1).float().mean().item()
    return Outcome(loss=sum(losses[-10:]) / 10, right=right)


def draw(count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw sequences, and the same backwards after a begin."""
    ids = torch.randint(2, VOCAB, (count, LENGTH), generator=generator)
    return ids, F.pad(ids.flip(1), (1, 0), value=BEGIN)


def predict(model: Any, source: Tensor, prefix: Tensor, mask: Tensor) -> Tensor:
    """Give the logits of every next symbol."""
    visible = torch.ones(source.size(0), 1, 1, source.size(1), dtype=torch.int)
    memory = model.encode(source, visible)
    return model.project(model.decode(memory, visible, prefix, mask))


@torch.no_grad()
def write(model: Any, source: Tensor, causal_mask: Any) -> Tensor:
    """Let the model write on its own, the most probable symbol each time."""
    model.eval()
    written = torch.full((source.size(0), 1), BEGIN)
    for length in range(1, LENGTH + 1):
        logits = predict(model, source, written, causal_mask(length)[None])
        written = torch.cat([written, logits[:, -1:].argmax(dim=-1)], dim=1)
    return written
