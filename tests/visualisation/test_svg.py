"""Text is measured so that it fits its place in every usual font."""

import string

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath

from dragoman.visualisation.svg import width_of


def width_in_dejavu(content: str, size: float) -> float:
    """Measure with a font that is among the widest that browsers take for `sans-serif`."""
    font = FontProperties(family="DejaVu Sans", size=size)
    width, _, _ = TextToPath().get_text_width_height_descent(content, font, ismath=False)
    return float(width)


def test_no_character_is_wider_than_it_is_taken_for() -> None:
    characters = [*string.printable[:-5], *"éàüßñÇ▁→×·…"]

    too_wide = [c for c in characters if width_in_dejavu(100 * c, 10) > width_of(100 * c, 10)]

    assert not too_wide


def test_a_sentence_is_not_taken_for_much_wider_than_it_is() -> None:
    sentence = "The quick brown fox jumps over 13 lazy dogs"

    assert width_of(sentence, 12) < 1.2 * width_in_dejavu(sentence, 12)


def test_a_mark_is_as_wide_as_nothing_and_a_full_width_letter_as_an_ideograph() -> None:
    assert width_of("e\u0301", 12) == width_of("é", 12) == width_of("e", 12)
    assert width_of("Ａ", 12) == width_of("漢", 12) > width_of("A", 12)
