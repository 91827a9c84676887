"""Draw `figures/*.svg`, the pictures of the pages, from the code itself.

Run it as `make docs`; a test fails when a picture is not what this draws.
"""

import sys
from pathlib import Path

from dragoman.model.config import TransformerConfig
from dragoman.visualisation import architecture_drawing, heat_map
from dragoman.visualisation.architecture import architecture_of
from dragoman.visualisation.mask_examples import mask_examples
from dragoman.visualisation.svg import standalone

FOLDER = Path(__file__).with_name("figures")

VOCAB_SIZE = 37_000
"""Of the paper's English-German model (section 5.1)."""


def figures() -> dict[str, str]:
    """Draw each file."""
    paper = architecture_of(
        TransformerConfig(norm="after"),
        source_vocab_size=VOCAB_SIZE,
        target_vocab_size=VOCAB_SIZE,
    )
    padded = mask_examples()[1]
    mask = heat_map.heat_map(
        padded.both.astype(float), padded.tokens, padded.tokens, "The mask of a padded sentence"
    )
    return {
        "architecture.svg": standalone(
            architecture_drawing.draw_architecture(paper), style=architecture_drawing.STYLE
        ),
        "mask.svg": standalone(mask, style=heat_map.STYLE),
    }


if __name__ == "__main__":
    for name, content in figures().items():
        (FOLDER / name).write_text(content, encoding="utf-8")
    sys.exit(0)
