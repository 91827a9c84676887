"""Training curves for print: a row of axes for each quantity, against updates and minutes."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dragoman.visualisation.colours import SERIES
from dragoman.visualisation.training_curves import ACROSSES, Across, Panel

TEXT = 9  # points


def training_figure(panels: Sequence[Panel], names: Sequence[str]) -> Figure:
    """Draw the panels of one or several runs.

    Args:
        panels: At least one.
        names: The names of the runs.
    """
    named = names if len(names) > 1 else ()
    height = 0.5 + 2.6 * len(panels) + 0.2 * len(named)
    figure = Figure(figsize=(10.0, height), layout="constrained")
    grid = figure.subplots(len(panels), len(ACROSSES), squeeze=False, sharex="col", sharey="row")
    for pair, panel in zip(grid, panels, strict=True):
        for axes, across in zip(pair, ACROSSES, strict=True):
            _draw(axes, panel, across)
        pair[0].set_title(panel.title, size=TEXT + 1, loc="left")
    for axes in grid[0]:  # once all are drawn, as this also ends the search for the other limit
        axes.set_xlim(left=0)
    if named:  # above all axes: a path may be too long to stand within them
        handles = [grid[0][0].plot([], color=SERIES[run])[0] for run in range(len(named))]
        legend = figure.legend(
            handles, named, loc="outside upper left", fontsize=TEXT - 1, frameon=False
        )
        for label in legend.get_texts():
            label.set_parse_math(False)
    return figure


def _draw(axes: Axes, panel: Panel, across: Across) -> None:
    for line in panel.lines:
        axes.plot(
            line.curve.along(across),
            line.curve.values,
            color=SERIES[line.run],
            linewidth=1.2,
            marker="o" if line.has_dots else None,
            markersize=3.5,
        )
    if panel.from_zero:
        axes.set_ylim(bottom=0)
    axes.set_xlabel(across, size=TEXT)
    axes.tick_params(labelsize=TEXT - 1, labelbottom=True)
    axes.grid(color="#d5dbe2", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
