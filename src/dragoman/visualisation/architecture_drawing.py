"""Figure 1 of the paper, drawn from a configuration."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dragoman.visualisation.architecture import Architecture
from dragoman.visualisation.architecture_labels import Box, Stack, stacks, summary
from dragoman.visualisation.markup import element
from dragoman.visualisation.page import write_page
from dragoman.visualisation.svg import Anchor, drawing, polyline, text, width_of

TITLE, DETAIL = 13, 11  # pixels, of letters
BOLD = 1.1  # times as wide
THIN, THICK, GAP = 24, 42, 16  # pixels: boxes of one line and of two, and the space between
PADDING, SIDE, MARGIN = 12, 30, 16  # pixels: in boxes, beside them for arrows, around all
LABEL, BETWEEN, LINE = 40, 48, 18  # pixels: for N ×, between the stacks, of a line of text
HEAD = 4  # pixels, of an arrow

COLOURS = {"feeding": 1, "embedding": 2, "output": 3, "attention": 4, "norm": 5, "add": 6}

STYLE = "\n".join(
    [
        "svg .box { fill-opacity: .14; stroke-width: 1.2; }",
        f"svg .title {{ font-size: {TITLE}px; font-weight: 600; }}",
        "svg .frame { fill: none; stroke: var(--muted); stroke-dasharray: 5 4; }",
        "svg .arrow { fill: none; stroke: var(--muted); stroke-width: 1.3; }",
        *(
            f"svg .{kind} {{ fill: var(--series-{i}); stroke: var(--series-{i}); }}"
            for kind, i in COLOURS.items()
        ),
    ]
)


def architecture_page(model: Architecture) -> str:
    """Write a page that shows the figure."""
    title = "The Transformer of figure 1"
    note = "The number after a dot counts parameters; inside a frame, those of one of its blocks."
    head = element("h1", {}, title) + element("p", {"class": "note"}, note)
    drawn = element("div", {"class": "wide"}, draw_architecture(model))
    return write_page(title, head + drawn, style=STYLE)


def draw_architecture(model: Architecture) -> str:
    """Draw both stacks with shapes and parameter counts, and the sums below."""
    encoder, decoder = stacks(model)
    width = max(_width_of_box(box) for stack in (encoder, decoder) for box in _boxes(stack))
    above = max(-_place(stack, floor=0)[-1].top for stack in (encoder, decoder))
    depth = MARGIN + LINE + GAP + above + LINE  # of the figure without sums
    encoder_at = MARGIN + LABEL + SIDE
    decoder_at = encoder_at + width + PADDING + BETWEEN + PADDING
    left = _Column(encoder, _place(encoder, depth), encoder_at, width, residual_side=-1)
    right = _Column(decoder, _place(decoder, depth), decoder_at, width, residual_side=1)
    sums = [
        text(MARGIN, depth + LINE * (number + 3), line)
        for number, line in enumerate(summary(model))
    ]
    return drawing(
        decoder_at + width + SIDE + LABEL + MARGIN,
        depth + LINE * (len(sums) + 2) + MARGIN,
        f"The architecture of a Transformer of {model.total:,} parameters",
        *left.draw(),
        *right.draw(),
        _memory(left, right),
        *sums,
    )


def _boxes(stack: Stack) -> list[Box]:
    """List the boxes of a stack from the bottom to the top."""
    return [*stack.first, *(box for boxes in stack.sublayers for box in boxes), *stack.last]


def _width_of_box(box: Box) -> float:
    title = BOLD * width_of(box.title, TITLE)
    return max(title, width_of(box.detail, DETAIL)) + 2 * PADDING


@dataclass(frozen=True)
class _Placed:
    box: Box
    top: float
    bottom: float

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


def _place(stack: Stack, floor: float) -> list[_Placed]:
    """Stack the boxes, with room for the frame around the block."""
    inside = sum(len(boxes) for boxes in stack.sublayers)
    edges = (len(stack.first), len(stack.first) + inside)
    top, placed = floor, []
    for number, box in enumerate(_boxes(stack)):
        bottom = top - (2 * GAP if number in edges else GAP)
        top = bottom - (THICK if box.detail else THIN)
        placed.append(_Placed(box, top, bottom))
    return placed


@dataclass(frozen=True)
class _Column:
    """A stack in its place."""

    stack: Stack
    placed: list[_Placed]
    left: float
    width: float
    residual_side: Literal[-1, 1]
    """Where the residual connections run: left or right of the boxes."""

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def middle(self) -> float:
        return self.left + self.width / 2

    def draw(self) -> list[str]:
        """Draw the boxes and what joins them."""
        placed, before = self.placed, self.placed[0].bottom + GAP
        shapes = [text(self.middle, before + LINE - 4, self.stack.entry, anchor="middle")]
        for each in placed:
            shapes += [
                _arrow([(self.middle, before), (self.middle, each.bottom)]),
                *self._box(each),
            ]
            before = each.top
        if self.stack.exit:
            above = before - GAP
            shapes.append(_arrow([(self.middle, before), (self.middle, above)]))
            shapes.append(text(self.middle, above - 6, self.stack.exit, anchor="middle"))
        start = len(self.stack.first)
        for boxes in self.stack.sublayers:
            sublayer = placed[start : start + len(boxes)]
            shapes.append(self._residual(sublayer[0].bottom + GAP / 2, sublayer[-1].middle))
            start += len(boxes)
        shapes += self._frame(
            placed[len(self.stack.first)].bottom + GAP, placed[start - 1].top - GAP
        )
        return shapes

    def _box(self, each: _Placed) -> list[str]:
        height = each.bottom - each.top
        place = {"x": self.left, "y": each.top, "width": self.width, "height": height, "rx": 5}
        shapes = [element("rect", {**place, "class": f"box {each.box.kind}"})]
        y = each.top + 17
        shapes.append(text(self.middle, y, each.box.title, anchor="middle", classes="title"))
        if each.box.detail:
            y = each.bottom - 9
            shapes.append(text(self.middle, y, each.box.detail, anchor="middle", classes="muted"))
        return shapes

    def _residual(self, start: float, end: float) -> str:
        edge = self.left if self.residual_side < 0 else self.right
        aside = edge + self.residual_side * SIDE / 2
        return _arrow([(self.middle, start), (aside, start), (aside, end), (edge, end)])

    def _frame(self, bottom: float, top: float) -> list[str]:
        """Draw the frame around a block, and say how many blocks there are."""
        wide = self.width + PADDING + SIDE
        left = self.left - (SIDE if self.residual_side < 0 else PADDING)
        label_at = left - 8 if self.residual_side < 0 else left + wide + 8
        anchor: Anchor = "end" if self.residual_side < 0 else "start"
        label = f"{self.stack.copies} ×"
        middle = (bottom + top) / 2
        place = {"x": left, "y": top, "width": wide, "height": bottom - top, "rx": 8}
        return [
            element("rect", {**place, "class": "frame"}),
            text(label_at, middle, label, anchor=anchor, classes="title"),
        ]


def _memory(encoder: _Column, decoder: _Column) -> str:
    """Draw the arrow from the encoder's output to the decoder's cross-attention."""
    top = encoder.placed[-1].top
    cross = decoder.placed[len(decoder.stack.first) + len(decoder.stack.sublayers[0]) :]
    attention = next(each for each in cross if each.box.kind == "attention")
    between = encoder.right + PADDING + BETWEEN / 2
    above = top - (GAP if encoder.stack.last else 2 * GAP)  # the frame's edge is in between
    points = [(encoder.middle, top), (encoder.middle, above), (between, above)]
    return _arrow([*points, (between, attention.middle), (decoder.left, attention.middle)])


def _arrow(points: Sequence[tuple[float, float]]) -> str:
    """Draw a line of horizontal and vertical parts with a head at its end."""
    (x0, y0), (x, y) = points[-2:]
    across = (x > x0) - (x < x0)
    down = (y > y0) - (y < y0)
    head = [
        (x - HEAD * (2 * across + down), y - HEAD * (2 * down + across)),
        (x, y),
        (x - HEAD * (2 * across - down), y - HEAD * (2 * down - across)),
    ]
    return polyline(points, classes="arrow") + polyline(head, classes="arrow")
