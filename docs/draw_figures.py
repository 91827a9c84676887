"""Draw `figures/*.svg`, the pictures of the pages, from the code itself.

Run it as `make docs`; a test fails when a picture is not what this draws.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from dragoman.model.attention import attention_weights
from dragoman.model.config import TransformerConfig
from dragoman.model_directory import ModelDirectory
from dragoman.training.config import TrainingConfig
from dragoman.training.schedule import learning_rate
from dragoman.visualisation import architecture_drawing, beam_tree, heat_map, line_chart
from dragoman.visualisation.architecture import architecture_of
from dragoman.visualisation.mask_examples import mask_examples
from dragoman.visualisation.positions import position_tables
from dragoman.visualisation.svg import standalone
from dragoman.visualisation.trace import trace_translation
from dragoman.visualisation.training_curves import Curve, Line, Panel

FOLDER = Path(__file__).with_name("figures")

MODEL = Path(__file__).parents[1] / "tests/fixtures/release-0.1.0/model"
"""Translates the words of numbers."""

VOCAB_SIZE = 37_000
"""Of the paper's English-German model (section 5.1)."""

LENGTHS = (3, 10, 4, 9, 3, 10, 4, 9)
"""Tokens of the sentences of `tour/batching.md`."""

KEYS = ((1.0, 1.0, 1.0, 1.0), (1.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 0.0))
"""Of the words of `tour/attention.md`."""

WARMUPS = (2000, 4000, 8000)

PADDING = 0.3
"""How dark a cell of padding is."""


def figures() -> dict[str, str]:
    """Draw each file."""
    padded = mask_examples()[1]
    tables = position_tables(20, 32)
    return {
        "architecture.svg": standalone(_base_model(), style=architecture_drawing.STYLE),
        "attention.svg": _map(
            _attention(), "Weights of three words", [f"word {i}" for i in range(3)]
        ),
        "batches.svg": _batches(),
        "beam.svg": _beam(),
        "mask.svg": _map(padded.both.astype(float), "The mask of a padded sentence", padded.tokens),
        "position_similarity.svg": _map(tables.similarities, "How alike 20 positions are"),
        "positions.svg": _map((tables.encodings + 1) / 2, "Sinusoids of 20 positions"),
        "schedule.svg": standalone(_schedule(), style=line_chart.STYLE),
    }


def _base_model() -> str:
    """Draw figure 1 of the paper."""
    paper = architecture_of(
        TransformerConfig(norm="after"),
        source_vocab_size=VOCAB_SIZE,
        target_vocab_size=VOCAB_SIZE,
    )
    return architecture_drawing.draw_architecture(paper)


def _map(weights: np.ndarray, description: str, labels: Sequence[str] = ()) -> str:
    """Draw a heat map whose rows and columns are numbered, or have the same labels."""
    rows, columns = (labels or [str(i) for i in range(size)] for size in weights.shape)
    drawn = heat_map.heat_map(weights, rows, columns, description)
    return standalone(drawn, style=heat_map.STYLE)


def _attention() -> np.ndarray:
    """Let three words look at one another; each has its key as its query."""
    keys = torch.tensor(KEYS)[None, None]
    return attention_weights(keys, keys, mask=None)[0, 0].numpy()


def _beam() -> str:
    """Draw a search as a page of `dragoman explain` does."""
    directory = ModelDirectory(MODEL)
    search = replace(directory.search, beam_size=3)
    trace = trace_translation(directory, "one two three", search)
    drawn = beam_tree.beam_tree(trace.search, trace.vocabulary)
    return standalone(drawn, style=beam_tree.STYLE)


def _batches() -> str:
    """Show four batches of four: 1 is a token, less is padding, NaN no cell at all."""
    lengths = [*LENGTHS, *sorted(LENGTHS)]
    widths = [max(lengths[i - i % 4 : i - i % 4 + 4]) for i in range(len(lengths))]
    cells = np.full((len(lengths), max(lengths)), np.nan)
    for row, (length, width) in enumerate(zip(lengths, widths, strict=True)):
        cells[row, :width] = PADDING
        cells[row, :length] = 1.0
    rows = [f"batch {row // 4 + 1}" for row in range(len(lengths))]
    columns = [str(column) for column in range(max(lengths))]
    drawn = heat_map.heat_map(cells, rows, columns, "Tokens and padding of four batches")
    return standalone(drawn, style=heat_map.STYLE)


def _schedule() -> str:
    """Draw equation 3 of the paper with three warm-ups."""
    updates = np.arange(100, 18_001, 100)
    lines = [
        Line(run=run, curve=Curve(updates=updates, minutes=updates, values=rates), marked=False)
        for run, rates in enumerate(_rates(updates, warmup) for warmup in WARMUPS)
    ]
    title = f"Learning rate, d_model 512, warm-up {', '.join(map(str, WARMUPS))}"
    return line_chart.line_chart(Panel(title=title, lines=tuple(lines)), "updates")


def _rates(updates: np.ndarray, warmup: int) -> np.ndarray:
    config = TrainingConfig(schedule="paper", learning_rate=1.0, warmup_updates=warmup)
    return np.array([learning_rate(int(update), config, d_model=512) for update in updates])


if __name__ == "__main__":
    for name, content in figures().items():
        (FOLDER / name).write_text(content, encoding="utf-8")
    sys.exit(0)
