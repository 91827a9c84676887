from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.corpora.batching_config import BatchingConfig
from dragoman.corpora.shapes import Shape, choose_shapes, shape_table

Lengths = list[tuple[int, int]]
lengths = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=60)


def histogram_of(pairs: Lengths) -> npt.NDArray[np.float64]:
    histogram = np.zeros((max(s for s, _ in pairs) + 1, max(t for _, t in pairs) + 1))
    for pair in pairs:
        histogram[pair] += 1
    return histogram


def config(*, max_shapes: int = 64, min_fill: float = 1.0, max_tokens: int = 320) -> BatchingConfig:
    return BatchingConfig(
        max_shapes=max_shapes,
        min_fill=min_fill,
        max_tokens_per_micro_batch=max_tokens,
        max_length=30,
    )


def fill(pairs: Lengths, shapes: tuple[Shape, ...]) -> float:
    """Return the share of cells that hold tokens, each pair in the smallest shape that holds it."""
    padded = 0
    for source, target in pairs:
        padded += min(
            shape.source_length + shape.target_length - 1
            for shape in shapes
            if source + 1 <= shape.source_length and target + 2 <= shape.target_length
        )
    return sum(source + 1 + target + 1 for source, target in pairs) / padded


@settings(max_examples=30, deadline=None)
@given(lengths, st.integers(1, 9))
def test_every_pair_fits_in_one_of_at_most_so_many_shapes(pairs: Lengths, max_shapes: int) -> None:
    shapes = choose_shapes(histogram_of(pairs), config(max_shapes=max_shapes))
    assert len(shapes) <= max_shapes
    assert 0 < fill(pairs, shapes) <= 1  # min() of nothing raises


@settings(max_examples=30, deadline=None)
@given(lengths, st.floats(0.5, 1.0))
def test_shapes_are_added_until_the_batches_are_full_enough(
    pairs: Lengths, min_fill: float
) -> None:
    shapes = choose_shapes(histogram_of(pairs), config(min_fill=min_fill))
    assert fill(pairs, shapes) >= min_fill - 1e-9


def test_no_more_shapes_are_made_than_the_fill_asks_for() -> None:
    pairs = [(n, n) for n in range(1, 31)]
    assert len(choose_shapes(histogram_of(pairs), config(min_fill=0.53))) == 1  # 990 of 1,860 cells
    assert len(choose_shapes(histogram_of(pairs), config(min_fill=1.0))) == 30


def test_the_first_cut_removes_most_padding() -> None:
    # Cut at source 4: 9 pairs of 5 + 21 cells and 2 of 31 + 21. Any other cut leaves the nine wide.
    pairs = [(4, 20)] * 9 + [(30, 20), (29, 3)]
    shapes = choose_shapes(histogram_of(pairs), config(max_shapes=2))
    assert [(shape.source_length, shape.target_length) for shape in shapes] == [(5, 22), (31, 22)]


def test_a_cut_may_go_through_the_target() -> None:
    pairs = [(20, 4)] * 9 + [(20, 30), (3, 29)]
    shapes = choose_shapes(histogram_of(pairs), config(max_shapes=2))
    assert [(shape.source_length, shape.target_length) for shape in shapes] == [(21, 6), (21, 32)]


def test_weights_of_corpora_decide_where_padding_matters() -> None:
    histogram = histogram_of([(4, 4), (9, 9), (30, 30)])
    light, heavy = histogram.copy(), histogram.copy()
    light[4, 4], heavy[4, 4] = 0.1, 50.0
    cut = {choose_shapes(h, config(max_shapes=2))[0].source_length for h in (light, heavy)}
    assert cut == {10, 5}


@settings(max_examples=30, deadline=None)
@given(lengths, st.integers(32, 700))
def test_a_full_micro_batch_keeps_to_its_budget(pairs: Lengths, max_tokens: int) -> None:
    for shape in choose_shapes(histogram_of(pairs), config(max_tokens=max_tokens)):
        longer = max(shape.source_length, shape.target_length)
        assert shape.rows * longer <= max_tokens
        assert shape.rows < 8 or shape.rows % 8 == 0
        assert (shape.rows + (8 if shape.rows >= 8 else 1)) * longer > max_tokens or (
            shape.rows == 7 and 8 * longer > max_tokens
        )


def test_a_micro_batch_is_not_larger_than_an_update() -> None:
    small = replace(config(max_tokens=320), tokens_per_update=100)
    (shape,) = choose_shapes(histogram_of([(9, 3)]), small)
    assert shape.rows == 8  # of ten columns; ten rows would fit, in multiples of eight


@settings(max_examples=30, deadline=None)
@given(lengths)
def test_a_pair_is_given_the_smallest_shape_that_holds_it(pairs: Lengths) -> None:
    shapes = choose_shapes(histogram_of(pairs), config(max_shapes=6))
    table = shape_table(shapes)
    given_cells = sum(shapes[table[pair]].cells_per_row for pair in pairs)
    real_cells = sum(source + target + 2 for source, target in pairs)
    assert real_cells / given_cells == pytest.approx(fill(pairs, shapes))


def test_lengths_that_no_shape_holds_have_none() -> None:
    table = shape_table([Shape(8, 3, 9), Shape(8, 6, 5)])
    assert table.shape == (6, 8)
    assert table[5, 7] == -1
    assert table[2, 7] == 0
    assert table[5, 3] == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"tokens_per_update": 0},
        {"max_shapes": 0},
        {"max_length": 70_000},
        {"max_tokens_per_micro_batch": 257},
        {"min_fill": 0.0},
        {"min_fill": 1.1},
    ],
)
def test_settings_that_cannot_work_are_refused_by_name(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        BatchingConfig(**wrong)  # type: ignore[arg-type]
