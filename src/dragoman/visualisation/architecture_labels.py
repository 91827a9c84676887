"""What is written into the boxes of figure 1."""

from dataclasses import dataclass
from typing import Literal

from dragoman.counting import counted
from dragoman.visualisation.architecture import Architecture

Kind = Literal["embedding", "attention", "feeding", "norm", "add", "output"]


@dataclass(frozen=True)
class Box:
    """One box of the figure."""

    kind: Kind
    title: str
    detail: str = ""


@dataclass(frozen=True)
class Stack:
    """Half of the figure, from the bottom to the top."""

    entry: str
    first: tuple[Box, ...]
    sublayers: tuple[tuple[Box, ...], ...]
    """Those of one block. What enters the first box of a sublayer is also added by the last."""

    copies: int
    last: tuple[Box, ...]
    exit: str


def stacks(model: Architecture) -> tuple[Stack, Stack]:
    """Describe the encoder and the decoder."""
    config, parts = model.config, model.parameters
    encoder = Stack(
        entry="source tokens (batch, source)",
        first=_embedding(model, "source"),
        sublayers=(
            _sublayer(model, "encoder", "self_attention", "Multi-Head Attention"),
            _sublayer(model, "encoder", "feed_forward", "Feed Forward"),
        ),
        copies=model.num_blocks("encoder"),
        last=_final_norm(model, "encoder"),
        exit="",
    )
    matrix = f"{config.d_model:,} → {model.target_vocab_size:,}"
    shared = "" if config.tied_embeddings == "none" else ", shared with the embedding"
    own = f" · {parts['projection']:,}" if "projection" in parts else ""
    decoder = Stack(
        entry="target tokens so far (batch, target)",
        first=_embedding(model, "target"),
        sublayers=(
            _sublayer(model, "decoder", "self_attention", "Masked Multi-Head Attention"),
            _sublayer(model, "decoder", "cross_attention", "Multi-Head Attention"),
            _sublayer(model, "decoder", "feed_forward", "Feed Forward"),
        ),
        copies=model.num_blocks("decoder"),
        last=(
            *_final_norm(model, "decoder"),
            Box("output", "Linear", matrix + shared + own),
            Box("output", "Softmax"),
        ),
        exit=f"probabilities (batch, target, {model.target_vocab_size:,})",
    )
    return encoder, decoder


def _embedding(model: Architecture, side: Literal["source", "target"]) -> tuple[Box, ...]:
    vocab_size = model.source_vocab_size if side == "source" else model.target_vocab_size
    count = model.parameters.get(f"{side}_embeddings")
    shape = f"{vocab_size:,} × {model.config.d_model:,}"
    detail = f"{shape}, shared with the source" if count is None else f"{shape} · {count:,}"
    title = "Input Embedding" if side == "source" else "Output Embedding"
    embedding = Box("embedding", title, detail)
    if model.config.positional_encoding == "rotary":
        return (embedding,)
    convention = f"sinusoids, {model.config.positional_encoding} · 0"
    return embedding, Box("add", "+ Positional Encoding", convention)


def _sublayer(
    model: Architecture, stack: Literal["encoder", "decoder"], part: str, title: str
) -> tuple[Box, ...]:
    config, blocks = model.config, model.num_blocks(stack)
    parameters = f"{model.parameters[f'{stack}.{part}'] // blocks:,}"
    if part == "feed_forward":
        shape = f"{config.d_model:,} → {config.d_ff:,} → {config.d_model:,}, {config.activation}"
        box = Box("feeding", title, f"{shape} · {parameters}")
    else:
        heads = f"{counted(config.num_heads, 'head')} of {config.d_k}"
        if part == "self_attention" and config.positional_encoding == "rotary":
            heads += ", rotary"
        box = Box("attention", title, f"{heads} · {parameters}")
    norm = f"{model.parameters[f'{stack}.around_{part}'] // blocks:,}"
    if config.norm == "before":
        return Box("norm", f"Norm · {norm}"), box, Box("add", "Add")
    return box, Box("norm", f"Add & Norm · {norm}")


def _final_norm(model: Architecture, stack: str) -> tuple[Box, ...]:
    count = model.parameters.get(f"{stack}.norm")
    return () if count is None else (Box("norm", f"Norm · {count:,}"),)


def summary(model: Architecture) -> list[str]:
    """Sum up the parameters, one line for each part that has any."""
    lines = []
    for part in ("source_embeddings", "target_embeddings"):
        if part in model.parameters:
            lines.append(f"{part.replace('_', ' ')}: {model.parameters[part]:,}")
    for stack in ("encoder", "decoder"):
        lines.append(f"{stack}: {_stack_sum(model, stack)}")
    if "projection" in model.parameters:
        lines.append(f"projection: {model.parameters['projection']:,}")
    return [*lines, f"in all: {model.total:,} parameters"]


def _stack_sum(model: Architecture, stack: str) -> str:
    copies = model.num_blocks(stack)
    final = model.parameters.get(f"{stack}.norm", 0)
    whole = model.of_stack(stack)
    rest = f" + {final:,}" if final else ""
    return f"{copies} × {(whole - final) // copies:,}{rest} = {whole:,}"
