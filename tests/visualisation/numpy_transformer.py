"""The Transformer once more, in NumPy alone: the equations of the paper and our conventions.

It knows a model by the names and values of its weights and by its settings. It shares no code
with `dragoman`, works in double precision, and computes one sentence at a time.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Sublayer = Callable[[Array], Array]


@dataclass
class Seen:
    """What one stack went through."""

    embedded: Array
    positions: Array
    streams: list[list[Array]] = field(default_factory=list)
    added: list[list[Array]] = field(default_factory=list)
    weights: list[list[Array]] = field(default_factory=list)
    output: Array = field(default_factory=lambda: np.empty(0))


class NumpyTransformer:
    def __init__(self, weights: Mapping[str, Any], **settings: Any) -> None:
        self.weights = {name: np.asarray(value, np.float64) for name, value in weights.items()}
        self.settings = settings

    def __call__(self, source: list[int], target: list[int]) -> tuple[Seen, Seen, Array]:
        """Give what both stacks went through, and the logits after each target token."""
        everything = np.ones((len(source), len(source)), bool)
        encoder = self.embed("source_embeddings", source)
        self.climb("encoder", encoder, everything, memory=None)
        decoder = self.embed("target_embeddings", target)
        past = np.tril(np.ones((len(target), len(target)), bool))
        self.climb("decoder", decoder, past, memory=encoder.output)
        logits = decoder.output @ self.weights["projection.linear.weight"].T
        return encoder, decoder, logits + self.weights.get("projection.linear.bias", 0.0)

    def log_probabilities(self, source: list[int], target: list[int]) -> Array:
        logits = self(source, target)[2]
        return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))

    def embed(self, name: str, tokens: list[int]) -> Seen:
        """Section 3.4: the table, times sqrt(d_model). Section 3.5: plus the sinusoids, if any."""
        width = self.settings["d_model"]
        table = self.weights[f"{name}.table.weight"] * math.sqrt(width)
        positions = [
            [self.sinusoid(position, dimension) for dimension in range(width)]
            for position in range(len(tokens))
        ]
        return Seen(embedded=table[tokens], positions=np.array(positions))

    def sinusoid(self, position: int, dimension: int) -> float:
        half = self.settings["d_model"] // 2
        convention = self.settings["positional_encoding"]
        if convention == "rotary":
            return 0.0
        if convention == "interleaved":
            pair, is_sine = dimension // 2, dimension % 2 == 0
        else:
            pair, is_sine = dimension % half, dimension < half
        exponent = pair / (half - 1) if convention == "tensor2tensor" else pair / half
        angle = position / 10000**exponent
        return math.sin(angle) if is_sine else math.cos(angle)

    def climb(self, stack: str, seen: Seen, mask: NDArray[Any], memory: Array | None) -> None:
        x = seen.embedded + seen.positions
        for layer in range(self.settings[f"num_{stack}_layers"]):
            name = f"{stack}.blocks.{layer}"
            seen.streams.append([])
            seen.added.append([])
            seen.weights.append([])
            kept = seen.weights[-1]

            def self_attention(x: Array, name: str = name, kept: list[Array] = kept) -> Array:
                return self.attend(f"{name}.self_attention", x, x, mask, kept)

            def cross_attention(x: Array, name: str = name, kept: list[Array] = kept) -> Array:
                assert memory is not None
                visible = np.ones((len(x), len(memory)), bool)
                return self.attend(f"{name}.cross_attention", x, memory, visible, kept)

            def feed_forward(x: Array, name: str = name) -> Array:
                return self.feed_forward(f"{name}.feed_forward", x)

            sublayers: list[tuple[str, Sublayer]] = [
                ("self_attention", self_attention),
                ("cross_attention", cross_attention),
                ("feed_forward", feed_forward),
            ]
            for kind, sublayer in sublayers:
                if kind != "cross_attention" or memory is not None:
                    x = self.add_and_norm(f"{name}.around_{kind}", x, sublayer, seen)
        is_last_norm = self.settings["norm"] == "before"
        seen.output = self.norm(f"{stack}.norm", x) if is_last_norm else x

    def add_and_norm(self, name: str, x: Array, sublayer: Sublayer, seen: Seen) -> Array:
        """Section 3.1: after, LayerNorm(x + Sublayer(x)); before, x + Sublayer(LayerNorm(x))."""
        is_before = self.settings["norm"] == "before"
        added = sublayer(self.norm(f"{name}.norm", x) if is_before else x)
        seen.streams[-1].append(x)
        seen.added[-1].append(added)
        return x + added if is_before else self.norm(f"{name}.norm", x + added)

    def norm(self, name: str, x: Array) -> Array:
        centred = x - x.mean(axis=1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(axis=1, keepdims=True) + self.settings["epsilon"])
        return centred / deviation * self.weights[f"{name}.gain"] + self.weights[f"{name}.bias"]

    def attend(
        self, name: str, x: Array, memory: Array, mask: NDArray[Any], kept: list[Array]
    ) -> Array:
        """Section 3.2: one head after the other, each on its own columns."""
        queries, keys, values = (
            self.linear(f"{name}.{kind}_projection", of)
            for kind, of in (("query", x), ("key", memory), ("value", memory))
        )
        width = self.settings["d_model"] // self.settings["num_heads"]
        heads, weights = [], []
        for head in range(self.settings["num_heads"]):
            own = slice(head * width, (head + 1) * width)
            scores = self.turn(name, queries[:, own]) @ self.turn(name, keys[:, own]).T
            scores = scores / math.sqrt(width)
            exponentials = np.where(mask, np.exp(scores), 0.0)
            weights.append(exponentials / exponentials.sum(axis=1, keepdims=True))
            heads.append(weights[-1] @ values[:, own])
        kept.append(np.array(weights))
        return self.linear(f"{name}.output_projection", np.concatenate(heads, axis=1))

    def turn(self, name: str, rows: Array) -> Array:
        """Su et al. 2021, equation 15: each pair of a row times a matrix of its position."""
        if self.settings["positional_encoding"] != "rotary" or "self_attention" not in name:
            return rows
        turned = np.empty_like(rows)
        for position, row in enumerate(rows):
            for i in range(0, len(row), 2):
                angle = position * 10000 ** (-i / len(row))
                sine, cosine = math.sin(angle), math.cos(angle)
                turned[position, i : i + 2] = [[cosine, -sine], [sine, cosine]] @ row[i : i + 2]
        return turned

    def feed_forward(self, name: str, x: Array) -> Array:
        """Section 3.3, equation 2."""
        hidden = self.linear(f"{name}.widen", x)
        if self.settings["activation"] == "relu":
            hidden = np.maximum(hidden, 0.0)
        elif self.settings["activation"] == "gelu":  # x times the normal distribution function
            hidden = hidden * 0.5 * (1 + np.vectorize(math.erf)(hidden / math.sqrt(2)))
        else:
            hidden = hidden / (1 + np.exp(-hidden))
        return self.linear(f"{name}.narrow", hidden)

    def linear(self, name: str, x: Array) -> Array:
        product: Array = x @ self.weights[f"{name}.weight"].T
        return product + self.weights[f"{name}.bias"]


@dataclass(frozen=True)
class Prefix:
    ids: tuple[int, ...]
    log_probability: float
    score: float


def naive_beam_search(
    next_log_probabilities: Callable[[tuple[int, ...]], Array],
    *,
    beam: int,
    alpha: float,
    limit: int,
    eos: int,
    forbidden: tuple[int, ...],
) -> tuple[list[list[Prefix]], list[Prefix]]:
    """Extend every live prefix by every token, sort, cut; give all candidates and what ended.

    It looks for one translation, and stops when 2 * beam have ended, when the best of them cannot
    be surpassed any more, or at the limit.
    """
    live = [Prefix((), 0.0, 0.0)]
    steps: list[list[Prefix]] = []
    ended: list[Prefix] = []
    while live and len(steps) < limit:
        penalty = ((5 + len(steps) + 1) / 6) ** alpha
        extended = [
            Prefix((*old.ids, token), total, total / penalty)
            for old in live
            for token, value in enumerate(next_log_probabilities(old.ids))
            if token not in forbidden
            for total in [old.log_probability + value]
        ]
        candidates = sorted(extended, key=lambda new: -new.log_probability)[: 2 * beam]
        steps.append(candidates)
        ended += [new for new in candidates[:beam] if new.ids[-1] == eos]
        live = [new for new in candidates if new.ids[-1] != eos][:beam]
        bound = live[0].log_probability / ((5 + limit) / 6) ** alpha if live else -math.inf
        if len(ended) >= 2 * beam or (ended and max(e.score for e in ended) >= bound):
            break
    return steps, sorted(ended, key=lambda end: -end.score)
