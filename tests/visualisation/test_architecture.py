"""The figure says what the model is: its numbers add up, and no text leaves its box."""

import re
from itertools import product
from typing import Any, Literal
from xml.etree import ElementTree

import pytest

from dragoman.errors import UsageError
from dragoman.model.config import PRESETS, TransformerConfig
from dragoman.model.transformer import Transformer
from dragoman.visualisation.architecture import architecture_of
from dragoman.visualisation.architecture_drawing import architecture_page, draw_architecture
from dragoman.visualisation.architecture_labels import stacks, summary

from .test_svg import width_in_dejavu

SVG = "{http://www.w3.org/2000/svg}"
Norm = Literal["before", "after"]
Tied = Literal["all", "target", "none"]


@pytest.mark.parametrize(
    ("norm", "tied", "bias"),
    list(product(("before", "after"), ("all", "target", "none"), (True, False))),
)
def test_the_parts_add_up_to_the_parameters_of_the_model(
    norm: Norm, tied: Tied, bias: bool
) -> None:
    config = TransformerConfig(
        d_model=8,
        d_ff=20,
        num_heads=2,
        num_encoder_layers=2,
        num_decoder_layers=3,
        norm=norm,
        tied_embeddings=tied,
        projection_bias=bias,
    )
    sizes = {"source_vocab_size": 30, "target_vocab_size": 30 if tied == "all" else 33}
    transformer = Transformer(config, **sizes, padding_id=0)

    model = architecture_of(config, **sizes)

    assert model.total == sum(p.numel() for p in transformer.parameters())
    for stack in ("encoder", "decoder"):
        own = sum(p.numel() for p in transformer.get_submodule(stack).parameters())
        assert model.of_stack(stack) == own
    lines = [int(line.rpartition(" ")[2].replace(",", "")) for line in summary(model)[:-1]]
    assert sum(lines) == model.total
    assert summary(model)[-1] == f"in all: {model.total:,} parameters"


def test_a_small_model_is_described_as_worked_by_hand() -> None:
    config = TransformerConfig(
        d_model=8, d_ff=12, num_heads=2, num_encoder_layers=1, num_decoder_layers=2
    )

    model = architecture_of(config, source_vocab_size=9, target_vocab_size=9)
    encoder, decoder = stacks(model)

    # Attention 4 (8 * 8 + 8) = 288; feed-forward 8 * 12 + 12 + 12 * 8 + 8 = 212; a norm 2 * 8.
    attention, feed_forward = encoder.sublayers
    assert [box.title for box in attention] == ["Norm · 16", "Multi-Head Attention", "Add"]
    assert attention[1].detail == "2 heads of 4 · 288"
    assert feed_forward[1].detail == "8 → 12 → 8, relu · 212"
    assert encoder.first[0].detail == "9 × 8 · 72"
    assert decoder.first[0].detail == "9 × 8, shared with the source"
    assert [box.title for box in decoder.last] == ["Norm · 16", "Linear", "Softmax"]
    assert decoder.last[1].detail == "8 → 9, shared with the embedding"
    assert (encoder.copies, decoder.copies) == (1, 2)
    assert summary(model) == [
        "source embeddings: 72",
        "encoder: 1 × 532 + 16 = 548",  # 288 + 212 + 2 * 16, and the norm at the end
        "decoder: 2 × 836 + 16 = 1,688",  # 2 * 288 + 212 + 3 * 16
        "in all: 2,308 parameters",
    ]


def test_the_paper_has_its_norm_after_and_none_at_the_end() -> None:
    config = TransformerConfig(
        d_model=8, d_ff=12, num_heads=2, num_encoder_layers=1, num_decoder_layers=2, norm="after"
    )

    encoder, decoder = stacks(architecture_of(config, source_vocab_size=9, target_vocab_size=9))

    assert [box.title for box in encoder.sublayers[0]] == [
        "Multi-Head Attention",
        "Add & Norm · 16",
    ]
    assert encoder.last == ()
    assert [box.title for box in decoder.last] == ["Linear", "Softmax"]


def test_rotary_positions_stand_where_they_work() -> None:
    config = TransformerConfig(d_model=8, num_heads=2, positional_encoding="rotary")

    encoder, decoder = stacks(architecture_of(config, source_vocab_size=9, target_vocab_size=9))

    assert [box.title for box in encoder.first] == ["Input Embedding"]
    attentions = [
        box
        for sublayer in (*encoder.sublayers, *decoder.sublayers)
        for box in sublayer
        if box.kind == "attention"
    ]
    assert ["rotary" in box.detail for box in attentions] == [True, True, False]


Box = tuple[float, float, float, float]


def extent(text: ElementTree.Element) -> Box:
    """Measure a line of text: left, top, right, bottom."""
    x, y = float(text.get("x", "")), float(text.get("y", ""))
    kind = text.get("class", "")
    size = {"title": 13, "muted": 11}.get(kind, 12)
    width = width_in_dejavu(text.text or "", size) * (1.1 if kind == "title" else 1.0)
    left = x - {"middle": width / 2, "end": width}.get(text.get("text-anchor", ""), 0.0)
    return left, y - size, left + width, y + 0.25 * size


@pytest.mark.parametrize("preset", ["tiny", "big"])
@pytest.mark.parametrize("norm", ["before", "after"])
@pytest.mark.parametrize("tied", ["all", "none"])
@pytest.mark.parametrize("positions", ["interleaved", "rotary"])
def test_no_text_leaves_its_box_or_the_picture(
    preset: str, norm: Norm, tied: Tied, positions: str
) -> None:
    changes = {"norm": norm, "tied_embeddings": tied, "positional_encoding": positions}
    config = TransformerConfig(**{**PRESETS[preset], **changes})  # type: ignore[arg-type]
    model = architecture_of(config, source_vocab_size=128_000, target_vocab_size=128_000)

    root = ElementTree.fromstring(draw_architecture(model))

    width, height = (float(size) for size in root.get("viewBox", "").split()[2:])
    boxes = [
        tuple(float(rect.get(key, "")) for key in ("x", "y", "width", "height"))
        for rect in root.iter(f"{SVG}rect")
        if rect.get("class", "").startswith("box ")
    ]
    for text in root.iter(f"{SVG}text"):
        left, top, right, bottom = extent(text)
        assert 0 <= left < right <= width, text.text
        assert 0 <= top < bottom <= height, text.text
        around = [(x, y, w, h) for x, y, w, h in boxes if x < right and left < x + w]
        touched = [(x, y, w, h) for x, y, w, h in around if y < bottom and top < y + h]
        for x, y, w, h in touched:
            assert x + 6 <= left < right <= x + w - 6, text.text  # with room at both sides
            assert y <= top < bottom <= y + h, text.text


@pytest.mark.parametrize("positions", ["interleaved", "rotary"])
def test_lines_of_text_do_not_overlap(positions: Any) -> None:
    config = TransformerConfig(positional_encoding=positions)
    model = architecture_of(config, source_vocab_size=37_000, target_vocab_size=37_000)

    texts = list(ElementTree.fromstring(draw_architecture(model)).iter(f"{SVG}text"))

    extents = [extent(text) for text in texts]
    for i, (left, top, right, bottom) in enumerate(extents):
        for j, (other_left, other_top, other_right, other_bottom) in enumerate(extents[:i]):
            apart_across = right <= other_left or other_right <= left
            apart_up = bottom <= other_top + 3 or other_bottom <= top + 3  # no letter is so high
            assert apart_across or apart_up, (texts[i].text, texts[j].text)


def test_the_page_names_the_base_model_of_the_paper() -> None:
    model = architecture_of(TransformerConfig(), source_vocab_size=37_000, target_vocab_size=37_000)

    page = architecture_page(model)

    ElementTree.fromstring(page)
    assert re.search("in all: 63,084,544 parameters", page)


def test_sizes_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(UsageError, match="vocabularies differ"):
        architecture_of(TransformerConfig(), source_vocab_size=5, target_vocab_size=6)
