"""Scores and comparisons, for people and for programs."""

from collections.abc import Sequence
from typing import Any

from dragoman.evaluation.metrics import Score
from dragoman.evaluation.significance import Comparison


def scores_to_table(scores: Sequence[Score]) -> dict[str, Any]:
    """Turn scores into plain values that JSON can hold."""
    return {
        score.name: {
            "score": score.value,
            "low": score.low,
            "high": score.high,
            "signature": score.signature,
        }
        for score in scores
    }


def comparisons_to_table(comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """Turn comparisons into plain values that JSON can hold."""
    return {
        comparison.name: {
            "a": comparison.a.value,
            "b": comparison.b.value,
            "delta": comparison.delta,
            "p_value": comparison.p_value,
            "signature": comparison.signature,
        }
        for comparison in comparisons
    }


def scores_to_text(scores: Sequence[Score]) -> str:
    """Write one line per score: its value, its interval, its signature."""
    rows = [("metric", "score", "95 % interval", "signature")]
    rows += [(s.name, f"{s.value:.2f}", _interval(s), s.signature) for s in scores]
    return _align(rows)


def comparisons_to_text(comparisons: Sequence[Comparison], names: tuple[str, str]) -> str:
    """Write one line per metric: the scores of both systems, their difference, its p-value."""
    rows = [("metric", *names, "difference", "p", "signature")]
    rows += [
        (
            c.name,
            f"{c.a.value:.2f}",
            f"{c.b.value:.2f}",
            f"{c.delta:+.2f}",
            f"{c.p_value:.4f}",
            c.signature,
        )
        for c in comparisons
    ]
    return _align(rows)


def _interval(score: Score) -> str:
    if score.low is None or score.high is None:
        return "-"
    return f"{score.low:.2f} to {score.high:.2f}"


def _align(rows: Sequence[tuple[str, ...]]) -> str:
    """Give each column the width of its widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    return "".join(f"{line}\n" for line in lines)
