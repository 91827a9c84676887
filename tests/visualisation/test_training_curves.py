"""A journal's numbers stand where they belong, in tables and in drawings."""

import math
import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from dragoman.errors import DragomanError, UsageError
from dragoman.visualisation.colours import SERIES
from dragoman.visualisation.line_chart import HEIGHT, WIDTH, line_chart, ticks, training_page
from dragoman.visualisation.svg import width_of
from dragoman.visualisation.training_curves import (
    MOST_POINTS,
    TrainingCurves,
    training_curves,
    training_panels,
)
from dragoman.visualisation.training_figure import training_figure

SVG = "{http://www.w3.org/2000/svg}"


def update(number: int, loss: float, rate: float, tokens: int, speed: int) -> dict[str, Any]:
    return {
        "event": "update",
        "update": number,
        "loss": loss,
        "learning_rate": rate,
        "tokens": tokens,
        "tokens_per_second": speed,
    }


EVENTS: list[dict[str, Any]] = [
    {"event": "start", "update": 0},
    update(1, 8.0, 0.1, 600, 10),  # a minute
    update(2, 6.0, 0.2, 1800, 20),  # another one, of 1200 tokens
    {"event": "validation", "update": 2, "time": 7.5, "loss": 5.0, "best": True, "samples": []},
    {"event": "resume", "update": 2},
    update(3, 4.0, 0.3, 2400, 5),  # two minutes
    {"event": "validation", "update": 3, "loss": 4.5, "BLEU": 12.5, "best": True, "samples": []},
    {"event": "finish", "update": 3},
]


@pytest.fixture
def curves() -> TrainingCurves:
    return training_curves("run", EVENTS)


def test_minutes_follow_from_tokens_and_speed(curves: TrainingCurves) -> None:
    assert curves.loss.updates.tolist() == [1, 2, 3]
    assert curves.loss.minutes.tolist() == [1, 2, 4]
    assert curves.loss.values.tolist() == [8, 6, 4]
    assert curves.learning_rate.values.tolist() == [0.1, 0.2, 0.3]
    assert curves.speed.values.tolist() == [10, 20, 5]


def test_a_speed_that_was_rounded_to_nothing_takes_no_endless_time() -> None:
    assert training_curves("run", [update(1, 8.0, 0.1, 600, 0)]).loss.minutes.tolist() == [10]


def test_a_validation_has_whatever_it_wrote(curves: TrainingCurves) -> None:
    assert set(curves.validation) == {"loss", "BLEU"}
    assert curves.validation["loss"].updates.tolist() == [2, 3]
    assert curves.validation["loss"].minutes.tolist() == [2, 4]
    assert curves.validation["BLEU"].values.tolist() == [12.5]


def test_a_long_run_is_thinned_to_means_that_keep_its_sums() -> None:
    count = 3 * MOST_POINTS + 7
    rng = np.random.default_rng(2)
    losses, speeds = rng.random(count), rng.integers(100, 900, count)
    steps = rng.integers(50, 60, count)
    events = [
        update(i + 1, float(losses[i]), 0.1, int(steps[: i + 1].sum()), int(speeds[i]))
        for i in range(count)
    ]

    curves = training_curves("run", events)

    assert len(curves.loss.values) == MOST_POINTS
    assert curves.loss.updates[-1] == count
    tokens = np.diff([0, *(steps.cumsum()[curves.loss.updates - 1])])
    assert (curves.loss.values * tokens).sum() == pytest.approx((losses * steps).sum())
    seconds = np.diff([0, *curves.speed.minutes]) * 60
    assert curves.speed.values * seconds == pytest.approx(tokens)  # tokens over time


def test_a_run_that_has_not_begun_says_so() -> None:
    with pytest.raises(DragomanError, match="runs/x: its journal holds no update yet"):
        training_curves("runs/x", EVENTS[:1])


def numbers(points: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in (point.split(",") for point in points.split())]


def test_a_drawn_line_is_its_data_on_the_scale_of_the_ticks(curves: TrainingCurves) -> None:
    loss = training_panels([curves])[0]
    root = ElementTree.fromstring(line_chart(loss, "minutes"))

    at_the_left = {text.text: text for text in root.iterfind(f".//{SVG}text[@text-anchor='end']")}
    four, eight = (float(at_the_left[tick].get("y", "")) - 4 for tick in ("4", "8"))
    assert eight < four  # the larger is higher up
    (trained,) = root.iterfind(f".//{SVG}polyline[@class='trained']")
    points = numbers(trained.get("points", ""))
    assert [y for _, y in points] == pytest.approx([eight, (four + eight) / 2, four], abs=0.1)
    (first, _), (second, _), (last, _) = points
    assert (last - second) == pytest.approx(2 * (second - first), abs=0.2)  # 1, 2, 4 minutes
    assert all(0 < y < HEIGHT for _, y in points)


@pytest.mark.parametrize("end", [1200, 100_000, 10_000_000])
def test_the_last_label_of_an_axis_is_inside_the_drawing(end: int) -> None:
    long_run = training_curves("run", [update(1, 8.0, 0.1, 600, 10), update(end, 6.0, 0.1, 900, 9)])
    loss, *_ = training_panels([long_run])

    root = ElementTree.fromstring(line_chart(loss, "updates"))

    (last,) = (each for each in root.iter(f"{SVG}text") if each.text == f"{end:,}")
    assert float(last.get("x", "")) + width_of(f"{end:,}", 11) / 2 <= WIDTH


def test_what_is_drawn_across_ends_with_the_run_and_rates_and_speeds_begin_at_zero() -> None:
    run = training_curves("run", [update(1, 8.0, 0.5, 600, 10), update(7, 6.0, 0.6, 900, 9)])
    _, *others = panels = training_panels([run])

    for panel in panels:
        root = ElementTree.fromstring(line_chart(panel, "updates"))
        across = [each.text for each in root.iterfind(f".//{SVG}text[@text-anchor='middle']")]
        assert across == ["0", "2", "4", "6"]
        at_the_left = [each.text for each in root.iterfind(f".//{SVG}text[@text-anchor='end']")]
        assert (at_the_left[0] == "0") is (panel in others)


def test_a_million_tokens_a_second_are_inside_the_drawing() -> None:
    fast = training_curves("run", [update(n, 8.0, 0.1, n * 600, n * 700_000) for n in (1, 2)])
    speed = training_panels([fast])[-1]

    root = ElementTree.fromstring(line_chart(speed, "updates"))

    labels = list(root.iterfind(f".//{SVG}text[@text-anchor='end'][@class='muted']"))
    assert "1,000,000" in [label.text for label in labels]
    assert min(float(each.get("x", "")) - width_of(each.text or "", 11) for each in labels) >= 0


def test_what_is_said_of_losses_holds_for_every_recipe(curves: TrainingCurves) -> None:
    page = training_page(training_panels([curves]), ["run"])

    assert "with the dropout, label smoothing and R-Drop of the recipe" in page


def test_measured_points_say_their_value(curves: TrainingCurves) -> None:
    loss = training_panels([curves])[0]

    titles = re.findall("<title>(.*?)</title>", line_chart(loss, "updates"))

    assert titles == ["update 2, 2.0 min: 5", "update 3, 4.0 min: 4.5"]


def test_a_run_of_one_update_is_seen() -> None:
    panels = training_panels([training_curves("run", EVENTS[:2])])

    for panel in panels:
        assert line_chart(panel, "updates").count("<circle") == 1
    figure = training_figure(panels, ["run"])
    assert all(line.get_marker() == "o" for axes in figure.axes for line in axes.lines)


def test_panels_of_a_column_have_the_same_axis(curves: TrainingCurves) -> None:
    axes = training_figure(training_panels([curves]), ["run"]).axes

    for column, last in ((axes[0::2], 3), (axes[1::2], 4)):
        (limits,) = {each.get_xlim() for each in column}
        assert limits[0] == 0
        assert limits[1] > last
        assert all(label.get_visible() for each in column for label in each.get_xticklabels())


def test_a_validation_that_is_not_finite_is_left_out() -> None:
    broken = {"event": "validation", "update": 2, "loss": math.inf, "BLEU": math.nan}
    (loss, *others) = training_panels([training_curves("run", [*EVENTS[:3], broken])])

    assert [line.marked for line in loss.lines] == [False]
    assert "BLEU of validation" not in [panel.title for panel in others]


def test_more_runs_than_colours_are_refused(curves: TrainingCurves) -> None:
    training_page(training_panels([curves] * 6), ["run"] * 6)

    with pytest.raises(UsageError, match="7 runs are too many for one picture"):
        training_panels([curves] * 7)


def test_several_runs_share_panels_and_have_a_legend(curves: TrainingCurves) -> None:
    other = training_curves("<other & $b$>", EVENTS[:4])
    panels = training_panels([curves, other])

    root = ElementTree.fromstring(training_page(panels, ["_run", "<other & $b$>"]))
    figure = training_figure(panels, ["_run", "<other & $b$>"])

    assert [panel.title for panel in panels] == [
        "Loss (nats a token): training, and validation (dots)",
        "BLEU of validation",
        "Learning rate",
        "Speed (target tokens a second)",
    ]
    assert ["".join(entry.itertext()).strip() for entry in root.iter("li")] == [
        "_run",
        "<other & $b$>",
    ]
    charts = list(root.iter(f"{SVG}svg"))
    assert len(charts) == 4 * 2
    colours = [each.get("class", "").split()[-1] for each in root.iterfind(".//li/span")]
    assert colours == ["run-1", "run-2"]
    assert [each.get("class") for each in charts[0].iterfind(f".//{SVG}g/{SVG}g")][:2] == colours
    assert ".run-1 polyline { stroke: var(--series-1); }" in (root.findtext("head/style") or "")
    assert [line.get_color() for line in figure.axes[0].lines[:2]] == list(SERIES[:2])
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["_run", "<other & $b$>"]
    assert not legend.get_texts()[1].get_parse_math()


def test_a_legend_of_long_names_covers_no_curve_and_moves_none(curves: TrainingCurves) -> None:
    panels = training_panels([curves, curves])
    figures = [training_figure(panels, ["a" * length, "b"]) for length in (1, 120)]

    places = []
    for figure in figures:
        figure.draw_without_rendering()
        places.append(figure.axes[0].get_position().bounds)
        bottom = figure.legends[0].get_window_extent().y0
        assert all(axes.get_window_extent().y1 <= bottom for axes in figure.axes)

    assert places[0] == pytest.approx(places[1])


def test_the_figure_plots_the_curves_against_updates_and_minutes(curves: TrainingCurves) -> None:
    figure = training_figure(training_panels([curves]), ["run"])

    by_updates, by_minutes = figure.axes[:2]
    assert np.asarray(by_updates.lines[0].get_xydata()).tolist() == [[1, 8], [2, 6], [3, 4]]
    assert np.asarray(by_minutes.lines[0].get_xydata()).tolist() == [[1, 8], [2, 6], [4, 4]]
    assert np.asarray(by_minutes.lines[1].get_xydata()).tolist() == [[2, 5], [4, 4.5]]


@pytest.mark.parametrize(
    ("low", "high"),
    [(0, 1), (1.9, 9.6), (5, 5), (0, 0), (-3, 4), (1e-9, 3e-9), (0, 4e-13), (99.5, 100.2)],
)
def test_ticks_reach_around_their_range_in_round_steps(low: float, high: float) -> None:
    found = ticks(low, high)

    assert found[0] <= low
    assert found[-1] >= high
    assert 2 <= len(found) <= 10
    steps = np.diff(found)
    assert steps == pytest.approx(np.full(len(steps), steps[0]))
    assert f"{steps[0]:e}"[0] in "125"
