"""The frame of a self-contained HTML page: no script, no network, light and dark, printable."""

from collections.abc import Sequence

from dragoman.visualisation.colours import LEAST, MOST, SERIES
from dragoman.visualisation.markup import element, escape

COLOURS = f"""
:root {{
  color-scheme: light dark;
  --background: #ffffff; --surface: #f5f7f9; --text: #1b2026; --muted: #5a6572; --line: #d5dbe2;
  --accent: #0b5cad; --least: {LEAST}; --most: {MOST};
  --series-1: {SERIES[0]}; --series-2: {SERIES[1]}; --series-3: {SERIES[2]};
  --series-4: {SERIES[3]}; --series-5: {SERIES[4]}; --series-6: {SERIES[5]};
}}
@media (prefers-color-scheme: dark) {{
  :root {{
    --background: #14181d; --surface: #1c2229; --text: #e7ebf0; --muted: #9ba7b5; --line: #353e49;
    --accent: #7cbcff; --least: #1c2229; --most: #b9deff;
    --series-1: #56b4e9; --series-2: #ff9249; --series-3: #3fcf9f;
    --series-4: #e79ac3; --series-5: #e6b93c; --series-6: #b6c0cc;
  }}
}}
"""
"""The palette, as custom properties; colour-blind people can tell the series apart, too.

`--least` and `--most` are the ends of a scale from 0 to 1.
"""

TYPE = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif'

DRAWING_STYLE = f"""
svg {{ font-family: {TYPE}; }}
svg text {{ fill: var(--text); font-size: 12px; unicode-bidi: plaintext; }}
svg .muted {{ fill: var(--muted); font-size: 11px; }}
svg .grid {{ stroke: var(--line); fill: none; }}
"""
"""What drawings need, in a page or in a file of their own."""

STYLE = f"""
* {{ box-sizing: border-box; }}
body {{
  margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 68rem;
  background: var(--background); color: var(--text); font: 16px/1.5 {TYPE};
  overflow-wrap: break-word;
}}
h1 {{ font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; }}
h2 {{ font-size: 1.15rem; margin: 2.5rem 0 .75rem; }}
p {{ margin: .5rem 0; max-width: 46rem; }}
.note {{ color: var(--muted); font-size: .9rem; }}
code, pre {{ font: .85rem/1.45 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }}
pre {{ background: var(--surface); padding: .75rem 1rem; overflow-x: auto; }}
.wide {{ overflow-x: auto; }}
h1 + .wide {{ margin-top: 1rem; }}
table {{ border-collapse: collapse; font-size: .9rem; }}
th, td {{
  text-align: left; vertical-align: top; padding: .3rem .9rem .3rem 0;
  border-bottom: 1px solid var(--line);
}}
th {{ color: var(--muted); font-weight: 600; }}
.number {{ text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }}
svg {{ display: block; max-width: 100%; height: auto; }}
.wide > svg {{ max-width: none; }}
:focus-visible {{ outline: 2px solid var(--accent); outline-offset: 2px; }}
@media print {{
  body {{ max-width: none; padding: 0; font-size: 11pt; }}
  h2 {{ break-after: avoid; }}
  svg, tr, figure {{ break-inside: avoid; }}
  .wide {{ overflow: visible; }}
  .wide > svg {{ max-width: 100%; }}
  td {{ overflow-wrap: anywhere; }}
  pre {{ white-space: pre-wrap; }}
}}
"""

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""The browser itself keeps the page from loading or running anything."""


def write_page(title: str, body: str, *, style: str = "") -> str:
    """Write a whole page.

    Args:
        title: Plain text, for the window; a heading is part of the body.
        body: Markup.
        style: Further CSS that this page needs.
    """
    head = "\n".join(
        [
            element("meta", {"charset": "utf-8"}),
            element("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
            element("meta", {"http-equiv": "Content-Security-Policy", "content": POLICY}),
            element("title", {}, escape(title)),
            element("style", {}, COLOURS + STYLE + DRAWING_STYLE + style),
        ]
    )
    parts = [
        "<!DOCTYPE html>",
        element("html", {"lang": "en"}, element("head", {}, head), element("body", {}, body)),
    ]
    return "\n".join(parts) + "\n"


def table(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: frozenset[int] = frozenset()
) -> str:
    """Write a table of plain texts, in a frame that scrolls where the screen is narrow.

    Args:
        head: The name of each column; empty, if the columns need none.
        rows: A text for each cell.
        numbers: The columns that are right-aligned, from 0.
    """
    lines = [_row("th", head, numbers)] if head else []
    lines += [_row("td", row, numbers) for row in rows]
    return element("div", {"class": "wide"}, element("table", {}, "\n".join(lines)))


def _row(kind: str, cells: Sequence[str], numbers: frozenset[int]) -> str:
    # A cell may quote text of any direction.
    role = {"scope": "col"} if kind == "th" else {"dir": "auto"}
    written = [
        element(kind, role | ({"class": "number"} if i in numbers else {}), escape(cell))
        for i, cell in enumerate(cells)
    ]
    return element("tr", {}, *written)


def write_notes(notes: Sequence[str]) -> str:
    """Write why the translation on a page may be another one, if there are reasons."""
    if not notes:
        return ""
    head = element("p", {}, "This may not be what dragoman translate gives:")
    return head + element("ul", {}, *(element("li", {}, escape(f"{note}.")) for note in notes))


def preformatted(text: str) -> str:
    """Write plain text that keeps its line feeds."""
    return element("pre", {}, "\n".join(escape(line) for line in text.split("\n")))
