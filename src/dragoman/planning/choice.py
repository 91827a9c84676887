"""Which model, batch and schedule suit a text and a time: rules of thumb, and where they are from.

The rules hold what was measured with this software (`benchmarks/quality.md`) and what others
publish about small amounts of text. They are a starting point that works, not an optimum.
"""

from dataclasses import dataclass
from typing import Any

from dragoman.model.config import PRESETS, TransformerConfig
from dragoman.model.transformer import Transformer
from dragoman.model_directory.weights import without_initialization
from dragoman.planning.text import TextMeasure

PARAMETERS_PER_TOKEN_OF_TEXT = 16.0
"""Larger models learn a small text by heart. On Multi30k (0.47 million target tokens) 6.8 million
parameters did better than 2 million (`benchmarks/quality.md`), with more dropout."""

TOKENS_SEEN_PER_PARAMETER = 1.25
"""Larger models do not get far in the time. With 1.6 target tokens for each parameter `small` is
ahead of `tiny` trained for as long, as captions (`docs/experiments.md`) and as English-Italian
(`benchmarks/planning.md`)."""

LEARNING_RATE_TIMES_WIDTH = 0.4
"""For AdamW: the recipes use 3e-3 for a width of 128 and 1.5e-3 for one of 256."""

MUON_LEARNING_RATES = {128: 6e-3, 256: 4e-3}
"""By width, where Muon was measured and found to learn faster (`docs/experiments.md`)."""

LENGTH_PENALTY = 1.0
"""With 0.6, the paper's, the translations of the models here are too short (the same log)."""

POSITIONS = "rotary"
"""A model with them needs fewer updates than one with sinusoids (the same log)."""

MOST_REPETITIONS = 60
"""How many times a training run sees its text at most."""

UPDATES = 3000
"""Updates that a training run should have room for, unless batches get too small: the recipes,
which were chosen by trying, make 3,200 to 7,500."""

OFTEN = 8.0
DROPOUTS = ((40.0, 0.3), (15.0, 0.2), (OFTEN, 0.15), (0.0, 0.1))
"""(repetitions, rate): each rate from so many repetitions on, as in the recipes; text that is seen
often must not look the same. For 40 and more see the same log, 2026-12-01."""

MANY_PARAMETERS, DROPOUT_OF_MANY = 10.0, 0.3
"""From so many parameters on for each target token of a text that is seen often, this rate (the
recipe with 14)."""

WEIGHT_DECAY = 0.1
"""It pays where the text is seen 9 (`benchmarks/ablations.md`), 18 and 32 times (the same log)."""

SMALLEST_UPDATE = 1024
"""Target tokens; fewer do not keep the processor busy."""

VALIDATIONS = 10
SEARCHED = 5
"""One validation in so many also translates."""

CHECKPOINTS = 3
"""How many of the last ones are averaged, to try their mean at the end."""


@dataclass(frozen=True)
class Candidate:
    """A preset with this vocabulary."""

    preset: str
    parameters: int


def candidates(vocab_size: int) -> list[Candidate]:
    """List the presets by size, the largest first."""
    found = []
    for name, sizes in PRESETS.items():
        with without_initialization():
            model = Transformer(
                TransformerConfig(**sizes),  # type: ignore[arg-type]
                source_vocab_size=vocab_size,
                target_vocab_size=vocab_size,
                padding_id=0,
            )
        found.append(Candidate(name, sum(p.numel() for p in model.parameters())))
    return sorted(found, key=lambda candidate: candidate.parameters, reverse=True)


def fits(candidate: Candidate, text: TextMeasure, tokens_seen: float) -> bool:
    """Tell whether text and time are enough for a model."""
    return (
        candidate.parameters <= PARAMETERS_PER_TOKEN_OF_TEXT * text.effective_tokens
        and tokens_seen >= TOKENS_SEEN_PER_PARAMETER * candidate.parameters
    )


def tokens_per_update(tokens_seen: float, *, most: int) -> int:
    """Choose the size of an update: a power of two, small enough for many updates."""
    size = SMALLEST_UPDATE
    while size * 2 <= most and size * 2 * UPDATES <= tokens_seen:
        size *= 2
    return size


@dataclass(frozen=True)
class Setting:
    """A setting of a recipe, and why it is so."""

    value: Any
    why: str


Sections = dict[str, dict[str, Setting]]


def sections(
    candidate: Candidate,
    text: TextMeasure,
    *,
    update_tokens: int,
    updates: int,
    keep_checkpoints: int = CHECKPOINTS,
    on_gpu: bool = False,
    too_large: str | None = None,
) -> Sections:
    """Write the sections of a recipe that a plan decides.

    No more checkpoints are averaged at the end than are kept. A GPU computes an update at once, a
    CPU in parts. If a preset was too large for the memory, that is the reason for a smaller one.
    """
    repetitions = updates * min(update_tokens, text.epoch_tokens) / text.effective_tokens
    width = int(PRESETS[candidate.preset].get("d_model", TransformerConfig.d_model))
    at_once = max(4096, text.max_length + 2, update_tokens if on_gpu else 0)
    is_enough = fits(candidate, text, updates * update_tokens)
    return {
        "tokenizer": {
            "vocab_size": Setting(text.vocab_size, "40 times the cube root of the characters"),
        },
        "batching": {
            "tokens_per_update": Setting(
                update_tokens,
                "the least"
                if update_tokens == SMALLEST_UPDATE
                else f"guessed to leave room for {UPDATES:,} updates",
            ),
            "max_tokens_per_micro_batch": Setting(at_once, "what is computed at once"),
            "max_length": Setting(text.max_length, "all but the longest pairs fit"),
            "fill_up": Setting(True, "batches are full, and of few shapes"),
        },
        "model": {
            "preset": Setting(candidate.preset, _why_this_large(too_large, is_enough=is_enough)),
            "positional_encoding": Setting(POSITIONS, "learns faster than sinusoids"),
            "dropout": _dropout(candidate, text, repetitions),
        },
        "training": {
            "updates": Setting(updates, "what the time has room for, or the text is worth"),
            **_optimizer(width),
            "weight_decay": Setting(WEIGHT_DECAY, "it pays, as measured"),
            "schedule": Setting("cosine", "the rate falls to nothing with the last update"),
            "warmup_updates": Setting(max(1, min(500, updates // 12)), "a twelfth, 500 at most"),
            "validate_every": Setting(max(1, updates // VALIDATIONS), f"{VALIDATIONS} times"),
            "search_every": Setting(SEARCHED, "translating takes longer than the loss"),
            "average_checkpoints": Setting(
                min(CHECKPOINTS, keep_checkpoints), "their mean is tried beside the best one"
            ),
            "keep_checkpoints": Setting(keep_checkpoints, "as many as are averaged, or more"),
            "patience": Setting(0, "no end before the last update"),
        },
        "search": {
            "length_penalty": Setting(LENGTH_PENALTY, "with the paper's 0.6 they are too short"),
        },
    }


def values(chosen: Sections) -> dict[str, dict[str, Any]]:
    """Leave the reasons out."""
    return {
        section: {key: setting.value for key, setting in settings.items()}
        for section, settings in chosen.items()
    }


def _why_this_large(too_large: str | None, *, is_enough: bool) -> str:
    if too_large:
        return f"memory is too small for {too_large}"
    return "the largest that text and time are enough for" if is_enough else "the smallest"


def _dropout(candidate: Candidate, text: TextMeasure, repetitions: float) -> Setting:
    """Choose a rate: the more a model could learn by heart, the more."""
    per_token = candidate.parameters / text.effective_tokens
    if per_token >= MANY_PARAMETERS and repetitions >= OFTEN:
        return Setting(DROPOUT_OF_MANY, f"{per_token:.0f} parameters for each token of the text")
    rate = next(rate for least, rate in DROPOUTS if repetitions >= least)
    return Setting(rate, f"the text is seen {repetitions:.3g} times")


def _optimizer(width: int) -> dict[str, Setting]:
    """Choose an optimizer and its rate for a width."""
    if width in MUON_LEARNING_RATES:
        why = "learns faster than AdamW at this width, as measured"
        rate = MUON_LEARNING_RATES[width]
        return {
            "optimizer": Setting("muon", why),
            "learning_rate": Setting(rate, f"measured with models of width {width}"),
        }
    rate = float(f"{LEARNING_RATE_TIMES_WIDTH / width:.2g}")
    return {
        "optimizer": Setting("adamw", "Muon was not measured at this width"),
        "learning_rate": Setting(rate, f"{LEARNING_RATE_TIMES_WIDTH:g} divided by the width"),
    }
