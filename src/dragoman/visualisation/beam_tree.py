"""A beam search as a tree: a column for each step, a place for each candidate."""

from dragoman.visualisation.axes import shorten
from dragoman.visualisation.markup import element, escape, isolated
from dragoman.visualisation.search_trace import Candidate, Fate, SearchTrace
from dragoman.visualisation.svg import drawing, text, width_of

STEP, PLACE = 140, 24  # pixels
NODE_WIDTH, NODE_HEIGHT = 112, 18  # pixels
LEFT, TOP = 46, 24  # pixels
EDGE, GAP = 5, 4  # pixels, within a node
FONT, MUTED = 12, 11  # pixels
LONGEST_PIECE = 9  # characters

CLASSES: dict[Fate, str] = {
    "lives on": "lives",
    "ended": "ended",
    "below the beam": "dropped",
    "ended below the beam": "dropped",
    "over": "over",
}

STYLE = """
.beam rect { fill: var(--surface); stroke: var(--line); }
.beam .lives rect { stroke: var(--accent); }
.beam .ended rect { stroke: var(--series-3); stroke-width: 2.5; }
.beam .over rect { stroke: var(--series-2); stroke-dasharray: 4 2; }
.beam .dropped { opacity: .7; }
.beam .dropped .muted { fill: var(--text); }
.beam .best rect { fill: color-mix(in oklab, var(--accent) 25%, var(--background)); }
.beam .edge { fill: none; stroke: var(--line); stroke-width: 1.2; }
.beam .edge.best { stroke: var(--accent); stroke-width: 2.5; }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; font-size: .9rem; padding: 0; }
.legend li { list-style: none; }
.legend i {
  display: inline-block; width: 1.6rem; height: .9rem; margin-right: .4rem; border-radius: 3px;
  border: 2px solid var(--line); vertical-align: -.1rem; background: var(--surface);
}
.legend .lives { border-color: var(--accent); }
.legend .ended { border-color: var(--series-3); }
.legend .over { border: 2px dashed var(--series-2); }
.legend .dropped { opacity: .7; }
.legend .best { background: color-mix(in oklab, var(--accent) 25%, var(--background)); }
"""


def beam_tree(search: SearchTrace, vocabulary: tuple[str, ...]) -> str:
    """Draw the candidates of every step, the most probable on top, joined to what they extend.

    Args:
        search: Has at least one step.
        vocabulary: The text of each id.
    """
    best = _line_of_the_best(search)
    numbers, edges, nodes = [], [], []
    for number, step in enumerate(search.steps):
        numbers.append(text(_x(number), 14, f"step {number + 1}", classes="muted"))
        for rank, candidate in enumerate(step.candidates):
            on_line = best.get(number) == rank
            edges.append(_edge(number, rank, candidate.parent, on_line))
            nodes.append(_node(number, rank, candidate, vocabulary, on_line))
    most = max(len(step.candidates) for step in search.steps)
    return drawing(
        LEFT + STEP * len(search.steps),
        TOP + PLACE * most + 4,
        f"Beam search in {len(search.steps)} steps of up to {most} candidates",
        element(
            "g",
            {"class": "beam"},
            *numbers,
            *edges,
            text(2, TOP + 13, "start", classes="muted"),
            *nodes,
        ),
    )


def _line_of_the_best(search: SearchTrace) -> dict[int, int]:
    """Find the prefixes of the returned translation: map each step to a rank."""
    best = search.hypotheses[0].ids
    return {
        number: rank
        for number, step in enumerate(search.steps)
        for rank, candidate in enumerate(step.candidates)
        if candidate.ids == best[: number + 1]
        or (candidate.fate == "ended" and candidate.ids[:-1] == best)
    }


def _x(step: int) -> float:
    return LEFT + STEP * step


def _y(rank: int) -> float:
    return TOP + PLACE * rank


def _edge(step: int, rank: int, parent: int | None, on_line: bool) -> str:
    """Join a candidate to the one that it extends, by a curve that is level at both ends."""
    middle = NODE_HEIGHT / 2
    x, y = _x(step), _y(rank) + middle
    start = x - STEP + NODE_WIDTH if step else x - 12
    origin = _y(parent or 0) + middle
    turn = (x - start) / 2
    path = (
        f"M{start:.0f} {origin:.0f}C{start + turn:.0f} {origin:.0f} "
        f"{x - turn:.0f} {y:.0f} {x:.0f} {y:.0f}"
    )
    return element("path", {"class": "edge best" if on_line else "edge", "d": path})


def _node(
    step: int, rank: int, candidate: Candidate, vocabulary: tuple[str, ...], on_line: bool
) -> str:
    """Write the last token and the log-probability; the rest shows on hover."""
    x, y = _x(step), _y(rank)
    classes = CLASSES[candidate.fate] + (" best" if on_line else "")
    prefix = " ".join(vocabulary[i] for i in candidate.ids)
    title = (
        f"{isolated(prefix)}: log-probability "
        f"{candidate.log_probability:.3f}, score {candidate.score:.3f}; {candidate.fate}"
    )
    number = f"{candidate.log_probability:.2f}"
    room = NODE_WIDTH - 2 * EDGE - GAP - width_of(number, MUTED)
    box = {"x": x, "y": y, "width": NODE_WIDTH, "height": NODE_HEIGHT, "rx": 4}
    return element(
        "g",
        {"class": classes},
        element("title", {}, escape(title)),
        element("rect", box),
        text(x + EDGE, y + 13, _fit(vocabulary[candidate.ids[-1]], room)),
        text(x + NODE_WIDTH - EDGE, y + 13, number, anchor="end", classes="muted"),
    )


def _fit(piece: str, room: float) -> str:
    """Shorten a token to so many pixels."""
    lengths = range(LONGEST_PIECE, 1, -1)
    shortened = (shorten(piece, longest) for longest in lengths)
    return next((label for label in shortened if width_of(label, FONT) <= room), "…")
