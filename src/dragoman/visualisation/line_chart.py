"""Training curves in SVG, small enough to be read on a phone."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dragoman.visualisation.colours import SERIES
from dragoman.visualisation.markup import element, escape
from dragoman.visualisation.page import write_page
from dragoman.visualisation.svg import drawing, polyline, text, width_of
from dragoman.visualisation.training_curves import ACROSSES, Across, Curve, Line, Panel

WIDTH, HEIGHT = 420, 250  # pixels
LEFT, RIGHT, TOP, BOTTOM = 70, 14, 30, 40  # pixels around the axes; 10,000,000 fits
MUTED = 11  # pixels, of the font
FEWEST_STEPS = 3

LOSSES = (
    "The training loss is what the updates lower, with the dropout, label smoothing and R-Drop of "
    "the recipe; the validation loss is measured without any of them."
)
MINUTES = "Minutes are those spent on updates, without validations."

STYLE = (
    """
.chart polyline { fill: none; stroke-width: 1.5; stroke-linejoin: round; }
.chart .title { font-weight: 600; }
.chart .grid { stroke: var(--line); stroke-width: 1; }
"""
    + "\n".join(
        f".run-{i} polyline {{ stroke: var(--series-{i}); }} "
        f".run-{i} circle {{ fill: var(--series-{i}); }} "
        f".swatch.run-{i} {{ background: var(--series-{i}); }}"
        for i in range(1, len(SERIES) + 1)
    )
    + """
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 23rem), 1fr)); }
.charts { gap: 1rem 1.5rem; }
.charts svg { width: 100%; }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: .5rem 0; padding: 0; }
.legend li { list-style: none; font-size: .9rem; overflow-wrap: anywhere; }
.swatch { display: inline-block; width: .8rem; height: .8rem; border-radius: .2rem; }
@media print { .swatch { print-color-adjust: exact; } }
"""
)


@dataclass(frozen=True)
class _Frame:
    """Where the numbers of a chart are on the drawing."""

    low: float
    high: float
    end: float

    def place(self, across: float, up: float) -> tuple[float, float]:
        """Return the pixels of a point."""
        share = (up - self.low) / (self.high - self.low)
        return (
            LEFT + (WIDTH - LEFT - RIGHT) * across / self.end,
            HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share,
        )


def line_chart(panel: Panel, across: Across) -> str:
    """Draw a panel against updates or minutes; measured points show their value on hover."""
    ups = [float(value) for line in panel.lines for value in line.curve.values]
    end = max(float(line.curve.along(across)[-1]) for line in panel.lines)
    up_ticks = ticks(0.0 if panel.from_zero else min(ups), max(ups))
    frame = _Frame(up_ticks[0], up_ticks[-1], end)
    shapes = [
        text(0, 14, panel.title, classes="title"),
        *(_level(frame, tick) for tick in up_ticks),
        *(_mark_across(frame, tick) for tick in ticks(0.0, end) if tick <= end),
        text(WIDTH - RIGHT, HEIGHT - 6, across, anchor="end", classes="muted"),
        *(_line(frame, line, across) for line in panel.lines),
    ]
    description = f"{panel.title}, against {across}"
    return drawing(WIDTH, HEIGHT, description, element("g", {"class": "chart"}, *shapes))


def _level(frame: _Frame, tick: float) -> str:
    x, y = frame.place(0.0, tick)
    line = polyline([(x, y), (WIDTH - RIGHT, y)], classes="grid")
    return line + text(x - 6, y + 4, f"{tick:,.10g}", anchor="end", classes="muted")


def _mark_across(frame: _Frame, tick: float) -> str:
    x, y = frame.place(tick, frame.low)
    label = f"{tick:,.10g}"
    x = min(x, WIDTH - width_of(label, MUTED) / 2)  # the last one may stand at the edge
    return text(x, y + 16, label, anchor="middle", classes="muted")


def _line(frame: _Frame, line: Line, across: Across) -> str:
    along = [float(value) for value in line.curve.along(across)]
    points = [frame.place(x, float(up)) for x, up in zip(along, line.curve.values, strict=True)]
    shapes = [polyline(points, classes="measured" if line.marked else "trained")]
    if line.has_dots:
        shapes += [
            element("circle", {"cx": x, "cy": y, "r": 3}, element("title", {}, escape(said)))
            for (x, y), said in zip(points, _sayings(line.curve), strict=True)
        ]
    return element("g", {"class": _colour(line.run)}, *shapes)


def _colour(run: int) -> str:
    return f"run-{run + 1}"


def _sayings(curve: Curve) -> list[str]:
    points = zip(curve.updates, curve.minutes, curve.values, strict=True)
    return [f"update {update}, {minutes:.1f} min: {up:.4g}" for update, minutes, up in points]


def ticks(low: float, high: float) -> list[float]:
    """Choose round numbers, in steps of 1, 2 or 5, that enclose a range.

    >>> ticks(1.9, 9.6), ticks(0, 0.0015)
    ([0.0, 2.0, 4.0, 6.0, 8.0, 10.0], [0.0, 0.0005, 0.001, 0.0015])
    """
    span = (high - low) or abs(high) or 1.0
    power = 10.0 ** math.floor(math.log10(span / FEWEST_STEPS))
    step = power * next((s for s in (5, 2) if span / (power * s) >= FEWEST_STEPS), 1)
    first, last = math.floor(low / step), math.ceil(round(high / step, 6))
    digits = 12 - math.floor(math.log10(step))
    return [round(i * step, digits) for i in range(first, max(last, first + 1) + 1)]


def charts(panels: Sequence[Panel], names: Sequence[str], acrosses: Sequence[Across]) -> str:
    """Write the charts for a page, with a legend if there are several runs."""
    drawn = [line_chart(panel, across) for panel in panels for across in acrosses]
    entries = [
        element("li", {}, element("span", {"class": f"swatch {_colour(run)}"}), " ", escape(name))
        for run, name in enumerate(names)
    ]
    legend = element("ul", {"class": "legend"}, *entries) if len(names) > 1 else ""
    return legend + element("div", {"class": "charts"}, *drawn)


def training_page(panels: Sequence[Panel], names: Sequence[str]) -> str:
    """Write a page with the curves of some runs, against updates and against minutes."""
    title = f"Training of {', '.join(names)}"
    body = element("h1", {}, escape(title)) + element("p", {"class": "note"}, f"{LOSSES} {MINUTES}")
    return write_page(title, body + charts(panels, names, ACROSSES), style=STYLE)
