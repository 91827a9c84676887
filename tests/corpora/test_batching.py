import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice, takewhile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.corpora import epoch_plan, shapes, token_store
from dragoman.corpora.batch import FILLER, Batch, Part
from dragoman.corpora.batching import Batches, Position, Resample, Sentence, Tokens, Update
from dragoman.corpora.batching_config import BatchingConfig
from dragoman.corpora.epoch_plan import Planner
from dragoman.corpora.shapes import Shape, length_histogram
from dragoman.corpora.token_store import TokenStore
from dragoman.corpora.token_store_writer import TokenStoreWriter
from dragoman.tokenizers.tokenizer import SpecialIds

PAD, BOS, EOS = 0, 2, 3
SPECIAL = SpecialIds(pad=PAD, bos=BOS, eos=EOS)
FIRST_TOKEN = 4
Pair = tuple[list[int], list[int]]
Corpora = list[tuple[float, list[tuple[int, int]]]]  # weight, and the lengths of the pairs


SMALL = BatchingConfig(
    tokens_per_update=40, max_tokens_per_micro_batch=32, max_length=12, max_shapes=4
)


def build(
    directory: Path,
    corpora: Corpora,
    *,
    seed: int = 1,
    config: BatchingConfig | None = None,
    resample: Resample | None = None,
) -> Batches:
    """Store pairs whose tokens tell which pair they belong to."""
    config = config or SMALL
    number = 0
    with TokenStoreWriter(
        directory, vocab_size=70_000, fingerprint="ours", max_length=config.max_length
    ) as writer:
        for name, (weight, lengths) in enumerate(corpora):
            writer.start_corpus(str(name), weight=weight)
            for source, target in lengths:
                token = FIRST_TOKEN + number
                writer.add([[token] * source], [[token] * target])
                number += 1
    store = TokenStore.open(directory, fingerprint="ours")
    return Batches(store, config, seed=seed, special=SPECIAL, resample=resample)


def one_epoch(batches: Batches, epoch: int = 0) -> list[Update]:
    updates = batches.updates(Position(epoch, 0))
    return list(takewhile(lambda update: update.position.epoch == epoch, updates))


def seen(updates: list[Update]) -> Counter[int]:
    return Counter(
        int(index) for update in updates for b in update.micro_batches for index in b.indices
    )


def contents(update: Update) -> tuple[object, ...]:
    arrays = [(b.source, b.target, b.indices) for b in update.micro_batches]
    return (
        update.position,
        update.next_position,
        update.num_target_tokens,
        [[array.tolist() for array in triple] for triple in arrays],
    )


side = st.integers(0, 12)
pairs_of_a_corpus = st.lists(st.tuples(side, side), max_size=25)
some_corpora = st.lists(
    st.tuples(st.sampled_from([0.25, 0.5, 1.0, 1.5, 2.0, 3.0]), pairs_of_a_corpus), max_size=3
).map(lambda corpora: [(1.0, [(5, 7), (2, 12), (11, 1)]), *corpora])


@settings(max_examples=20, deadline=None)
@given(some_corpora, st.integers(0, 3), st.booleans())
def test_an_epoch_sees_each_pair_as_often_as_its_corpus_weighs(
    corpora: Corpora, epoch: int, fill_up: bool
) -> None:
    config = replace(SMALL, fill_up=fill_up)
    with tempfile.TemporaryDirectory() as directory:
        counts = seen(one_epoch(build(Path(directory), corpora, config=config), epoch))
    start = 0
    for weight, lengths in corpora:
        times = [counts.pop(start + i, 0) for i in range(len(lengths))]
        assert all(int(weight) <= n <= int(weight) + (weight > int(weight)) for n in times)
        assert abs(sum(times) - weight * len(lengths)) < 1
        start += len(lengths)
    assert not counts


@settings(max_examples=20, deadline=None)
@given(some_corpora, st.booleans())
def test_a_batch_holds_the_sentences_of_its_pairs_and_nothing_else(
    corpora: Corpora, fill_up: bool
) -> None:
    lengths = [pair for _, pairs in corpora for pair in pairs]
    config = replace(SMALL, fill_up=fill_up)
    with tempfile.TemporaryDirectory() as directory:
        updates = one_epoch(build(Path(directory), corpora, config=config))
    for batch in (batch for update in updates for batch in update.micro_batches):
        assert batch.source.dtype == batch.target.dtype == batch.indices.dtype == np.int64
        for row, index in enumerate(batch.indices.tolist()):
            source, target = ([FIRST_TOKEN + index] * length for length in lengths[index])
            source_row, target_row = batch.source[row].tolist(), batch.target[row].tolist()
            padding = [PAD] * (len(source_row) - len(source) - 1)
            assert source_row == [*source, EOS, *padding]
            padding = [PAD] * (len(target_row) - len(target) - 2)
            assert target_row == [BOS, *target, EOS, *padding]


@settings(max_examples=20, deadline=None)
@given(some_corpora)
def test_updates_are_as_large_as_they_should_be_on_average(corpora: Corpora) -> None:
    lengths = [pair for _, pairs in corpora for pair in pairs]
    with tempfile.TemporaryDirectory() as directory:
        updates = one_epoch(build(Path(directory), corpora))
    sizes = [
        [sum(lengths[i][1] + 1 for i in batch.indices.tolist()) for batch in update.micro_batches]
        for update in updates
    ]
    largest, seen = max(max(tokens) for tokens in sizes), 0
    for update, tokens in zip(updates, sizes, strict=True):
        assert update.num_target_tokens == sum(tokens)
        seen += sum(tokens)
        if not update.ends_epoch:  # every 40 tokens a cut, to half a micro-batch
            assert min(seen % 40, -seen % 40) <= largest / 2
    assert len(updates) <= -(-seen // 40)


@settings(max_examples=15, deadline=None)
@given(some_corpora, st.integers(0, 60))
def test_updates_continue_from_any_position_as_if_never_stopped(
    corpora: Corpora, stop: int
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        batches = build(Path(directory), corpora)
        whole = list(islice(batches.updates(), stop + 6))
        resumed = list(islice(batches.updates(whole[stop].next_position), 5))
    assert [contents(update) for update in resumed] == [contents(u) for u in whole[stop + 1 :]]


def test_positions_count_the_updates_of_each_epoch(tmp_path: Path) -> None:
    batches = build(tmp_path, [(1.0, [(3, 10)] * 9)])
    number = batches.epoch(0).num_updates
    updates = list(islice(batches.updates(), number + 1))
    assert [u.position for u in updates[:-1]] == [Position(0, i) for i in range(number)]
    assert updates[-1].position == updates[-2].next_position == Position(1, 0)
    assert number > 1


def test_a_position_that_no_epoch_has_is_refused(tmp_path: Path) -> None:
    batches = build(tmp_path, [(1.0, [(3, 10)] * 9)])
    last = batches.epoch(4).num_updates
    with pytest.raises(ValueError, match=f"epoch 4 has {last} updates"):
        next(batches.updates(Position(4, last)))


def test_the_order_changes_with_the_epoch_and_with_the_seed(tmp_path: Path) -> None:
    corpora: Corpora = [(1.0, [(n % 12 + 1, (n + 2) % 12 + 1) for n in range(60)])]
    one, other = build(tmp_path / "1", corpora), build(tmp_path / "2", corpora, seed=2)
    orders = [b.epoch(e).pairs.tolist() for b, e in ((one, 0), (one, 1), (other, 0), (other, 1))]
    assert len(set(map(tuple, orders))) == 4
    assert one.epoch(1).pairs.tolist() == orders[1]


def test_a_random_half_is_another_half_in_another_epoch(tmp_path: Path) -> None:
    batches = build(tmp_path, [(0.5, [(3, 4)] * 80)])
    halves = [frozenset(batches.epoch(epoch).pairs.tolist()) for epoch in range(8)]
    assert {len(half) for half in halves} == {40}
    assert len(set(halves)) == 8
    assert frozenset().union(*halves) > halves[0]


def test_a_part_of_one_pair_is_seen_in_a_part_of_the_epochs(tmp_path: Path) -> None:
    batches = build(tmp_path, [(1.0, [(3, 4)] * 3), (0.25, [(5, 6)])])
    times = sum(3 in batches.epoch(epoch).pairs for epoch in range(200))
    assert 30 <= times <= 70


def test_micro_batches_of_all_lengths_are_mixed(tmp_path: Path) -> None:
    batches = build(tmp_path, [(1.0, [(1, 1)] * 160 + [(12, 12)] * 20)])
    widths = [b.source.shape[1] for u in one_epoch(batches) for b in u.micro_batches]
    assert sorted(set(widths)) == [2, 13]
    assert widths not in (sorted(widths), sorted(widths, reverse=True))


def test_only_the_last_micro_batch_of_a_shape_is_not_full(tmp_path: Path) -> None:
    batches = build(tmp_path, [(1.0, [(n % 12 + 1, n % 7 + 1) for n in range(90)])])
    sizes: dict[tuple[int, int], list[int]] = {}
    for batch in (b for u in one_epoch(batches) for b in u.micro_batches):
        key = batch.source.shape[1], batch.target.shape[1]
        sizes.setdefault(key, []).append(len(batch.indices))
    for rows in sizes.values():
        assert sorted(rows)[1:] == [max(rows)] * (len(rows) - 1)


def test_filled_up_only_micro_batches_of_the_longest_shapes_are_not_full(tmp_path: Path) -> None:
    lengths = [(n % 12 + 1, n % 7 + 1) for n in range(90)] + [(1, 12)] * 3
    build(tmp_path, [(1.0, lengths)])
    store = TokenStore.open(tmp_path, fingerprint="ours")
    shapes = (Shape(8, 5, 5), Shape(8, 3, 14), Shape(4, 8, 9), Shape(3, 13, 9))

    plan = Planner(store, shapes, BatchingConfig(fill_up=True)).plan(np.random.default_rng(1))

    full = np.array([shape.rows for shape in shapes])[plan.shapes]
    assert sorted(plan.shapes[plan.rows < full]) == [1, 3]
    assert plan.rows.sum() == len(lengths)
    for number, place in enumerate(plan.shapes.tolist()):
        source, target = np.array(lengths)[plan.micro_batch(number)].max(axis=0).tolist()
        assert source + 1 <= shapes[place].source_length
        assert target + 2 <= shapes[place].target_length


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        # The fifth goes to the next shape, and one of that shape to the longest.
        ([(1, 1)] * 5 + [(5, 5)] * 4 + [(9, 9)], [4, 4, 2]),
        # Three fill no micro-batch, and stay.
        ([(1, 1)] * 3 + [(5, 5)] * 5 + [(9, 9)], [3, 4, 2]),
    ],
)
def test_only_what_is_left_over_moves_and_no_further_than_it_must(
    tmp_path: Path, lengths: list[tuple[int, int]], expected: list[int]
) -> None:
    build(tmp_path, [(1.0, lengths)])
    store = TokenStore.open(tmp_path, fingerprint="ours")
    shapes = (Shape(4, 3, 4), Shape(4, 6, 7), Shape(4, 10, 11))

    plan = Planner(store, shapes, BatchingConfig(fill_up=True)).plan(np.random.default_rng(1))

    order = np.argsort(plan.shapes)
    assert plan.shapes[order].tolist() == [0, 1, 2]
    assert plan.rows[order].tolist() == expected
    assert all(lengths[index] > (1, 1) for index in plan.micro_batch(order[-1]).tolist())


REPORT = """
import sys
from pathlib import Path
from dragoman.corpora.batching import Batches
from dragoman.corpora.batching_config import BatchingConfig
from dragoman.corpora.token_store import TokenStore
from dragoman.tokenizers.tokenizer import SpecialIds
store = TokenStore.open(Path(sys.argv[1]), fingerprint="ours")
config = BatchingConfig(tokens_per_update=40, max_tokens_per_micro_batch=32, max_length=12,
                        max_shapes=4)
batches = Batches(store, config, seed=1, special=SpecialIds())
plan = batches.epoch(3)
print(batches.fingerprint, plan.pairs.tolist(), plan.begins.tolist(), plan.bounds.tolist())
"""


def test_another_process_makes_the_same_plan(tmp_path: Path) -> None:
    batches = build(tmp_path, [(1.5, [(n % 12 + 1, (n * 5) % 12 + 1) for n in range(50)])])
    plan = batches.epoch(3)
    ours = [plan.pairs.tolist(), plan.begins.tolist(), plan.bounds.tolist()]
    for hash_seed in ("1", "2"):
        theirs = subprocess.run(
            [sys.executable, "-c", REPORT, str(tmp_path)],
            env={
                **os.environ,
                "PYTHONHASHSEED": hash_seed,
                "PYTHONPATH": os.pathsep.join(sys.path),
            },
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        assert theirs == " ".join(map(str, [batches.fingerprint, *ours]))


def test_the_fingerprint_changes_with_all_that_decides_the_batches(tmp_path: Path) -> None:
    corpora: Corpora = [(1.0, [(3, 4), (5, 6)])]
    ours = build(tmp_path / "1", corpora)
    others = [
        build(tmp_path / "2", corpora, seed=2),
        build(tmp_path / "3", [(1.0, [(4, 3), (5, 6)])]),
        build(tmp_path / "4", [(2.0, [(3, 4), (5, 6)])]),
        build(tmp_path / "5", corpora, config=BatchingConfig(tokens_per_update=41)),
        build(tmp_path / "6", corpora, config=replace(SMALL, fill_up=True)),
        build(tmp_path / "7", corpora, config=replace(SMALL, max_tokens_per_micro_batch=24)),
    ]
    assert build(tmp_path / "8", corpora).fingerprint == ours.fingerprint
    assert len({ours.fingerprint, *(batches.fingerprint for batches in others)}) == 7


@pytest.mark.parametrize(
    ("mean", "spread", "noise"), [(2.5, 0.35, 0.2), (3.1, 0.6, 0.2), (3.1, 0.6, 0.25)]
)
def test_nine_cells_of_ten_hold_tokens_at_realistic_lengths(
    tmp_path: Path, mean: float, spread: float, noise: float
) -> None:
    random = np.random.default_rng(5)
    shared = random.normal(size=20_000)
    sides = [
        np.exp(mean + spread * shared + own * random.normal(size=20_000)) for own in (0.05, noise)
    ]
    lengths = np.clip(sides, 1, 256).astype(int)
    config = BatchingConfig()
    with TokenStoreWriter(tmp_path, vocab_size=9, fingerprint="f", max_length=256) as writer:
        writer.start_corpus("books", weight=1.0)
        writer.add(*([[4] * n for n in side] for side in lengths.tolist()))
    store = TokenStore.open(tmp_path, fingerprint="f")
    batches = Batches(store, config, seed=1, special=SPECIAL)
    made = [b for u in one_epoch(batches) for b in u.micro_batches]
    real = sum(int((b.source != PAD).sum() + (b.target[:, 1:] != PAD).sum()) for b in made)
    padded = sum(b.source.size + b.target[:, 1:].size for b in made)
    assert real / padded >= 0.90
    assert batches.epoch(0).fill() == pytest.approx(real / padded)


def test_lengths_are_counted_as_often_as_an_epoch_sees_them(tmp_path: Path) -> None:
    build(tmp_path, [(2.0, [(3, 4), (1, 2)]), (0.5, [(3, 4)])])
    histogram = length_histogram(TokenStore.open(tmp_path, fingerprint="ours"))
    expected = np.zeros((4, 5))
    expected[3, 4], expected[1, 2] = 2.5, 2.0
    np.testing.assert_array_equal(histogram, expected)


def rows_of(batch: Batch) -> list[tuple[int, list[int], list[int]]]:
    columns = batch.indices.tolist(), batch.source.tolist(), batch.target.tolist()
    return list(zip(*columns, strict=True))


Sampled = tuple[Sequence[Sentence], Sequence[Sentence]]


def sampler(calls: list[int], source_length: int, target_length: int = 1) -> Callable[..., Sampled]:
    def resample(sources: list[Tokens], targets: list[Tokens], seed: int) -> Sampled:
        calls.append(seed)
        assert all(
            set(s.tolist()) == set(t.tolist()) for s, t in zip(sources, targets, strict=True)
        )
        return (
            [s.tolist()[:1] * source_length for s in sources],
            [t.tolist()[:1] * target_length for t in targets],
        )

    return resample


def test_resampled_sentences_take_the_place_of_the_stored_ones(tmp_path: Path) -> None:
    corpora = [(1.0, [(n % 4 + 1, n % 3 + 5) for n in range(40)])]
    batches = build(tmp_path, corpora, resample=sampler([], 1))
    for update in islice(batches.updates(), 5):
        rows = 0
        for batch in update.micro_batches:
            rows += len(batch.indices)
            for index, source, target in rows_of(batch):
                token = FIRST_TOKEN + index
                assert source[:2] == [token, EOS]
                assert target[:3] == [BOS, token, EOS]
        assert update.num_target_tokens == 2 * rows


def test_a_batch_widens_to_a_multiple_of_eight_for_longer_sentences(tmp_path: Path) -> None:
    for length, width in ((4, 5), (5, 8), (7, 8), (8, 16)):
        resample = sampler([], length)
        batches = build(tmp_path / str(length), [(1.0, [(4, 5)] * 6)], resample=resample)
        batch = next(batches.updates()).micro_batches[0]
        assert batch.source.shape[1] == width
        assert batch.target.shape[1] == 7
        assert (batch.source[:, length] == EOS).all()
        assert (batch.source[:, length + 1 :] == PAD).all()


def test_a_target_has_room_for_its_beginning_and_its_end(tmp_path: Path) -> None:
    for length, width in ((5, 7), (6, 8), (7, 16)):
        resample = sampler([], 1, length)
        batches = build(tmp_path / str(length), [(1.0, [(4, 5)] * 6)], resample=resample)
        batch = next(batches.updates()).micro_batches[0]
        assert (batch.source.shape[1], batch.target.shape[1]) == (5, width)
        assert (batch.target[:, length + 1] == EOS).all()


def test_each_micro_batch_is_resampled_with_a_seed_that_survives_a_stop(tmp_path: Path) -> None:
    seeds: list[int] = []
    batches = build(tmp_path, [(1.0, [(4, 5)] * 60)], resample=sampler(seeds, 1))
    updates = list(islice(batches.updates(), 12))
    whole = seeds.copy()
    assert updates[-1].position.epoch > 0
    assert len(set(whole)) == len(whole)
    seeds.clear()
    list(islice(batches.updates(updates[4].next_position), 7))
    assert seeds == whole[-len(seeds) :]


def test_resampling_that_loses_a_sentence_is_refused(tmp_path: Path) -> None:
    batches = build(
        tmp_path, [(1.0, [(4, 5)] * 6)], resample=lambda sources, targets, _: (sources[1:], targets)
    )
    with pytest.raises(ValueError, match="re-sampling made"):
        next(batches.updates())


def changed_by_the_seed(sources: list[Tokens], targets: list[Tokens], seed: int) -> Sampled:
    return [[*s, seed % 7] for s in sources], [t[: 1 + seed % 3] for t in targets]


@settings(max_examples=20, deadline=None)
@given(some_corpora, st.integers(1, 9), st.integers(0, 5), st.booleans())
def test_any_number_of_processes_sees_the_same_pairs_in_the_same_order(
    corpora: Corpora, world_size: int, stop: int, resampled: bool
) -> None:
    resample = changed_by_the_seed if resampled else None
    with tempfile.TemporaryDirectory() as directory:
        batches = build(Path(directory), corpora, resample=resample)
        alone = list(islice(batches.updates(), 6))
        ranks = [
            list(
                islice(
                    batches.updates(
                        alone[stop].position, part=Part(rank=rank, world_size=world_size)
                    ),
                    6 - stop,
                )
            )
            for rank in range(world_size)
        ]
    for whole, *shards in zip(alone[stop:], *ranks, strict=True):
        whole_pairs = [batch.indices for batch in whole.micro_batches]
        assert whole.pairs.tolist() == np.concatenate(whole_pairs).tolist()
        for shard in shards:
            assert shard.pairs.tolist() == whole.pairs.tolist()
            assert shard.num_target_tokens == whole.num_target_tokens
        for number, batch in enumerate(whole.micro_batches):
            parts = [shard.micro_batches[number] for shard in shards]
            for row in range(len(batch.indices)):
                part, place = parts[row % world_size], row // world_size
                assert part.indices[place] == batch.indices[row]
                assert part.source[place].tolist() == batch.source[row].tolist()
                assert part.target[place].tolist() == batch.target[row].tolist()
            real = sum(np.count_nonzero(part.indices != FILLER) for part in parts)
            assert real == len(batch.indices)


def test_a_plan_is_the_same_if_lengths_are_read_in_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpora: Corpora = [(1.0, [(n % 12 + 1, n % 7 + 1) for n in range(25)]), (2.0, [(12, 12)] * 5)]
    whole = build(tmp_path / "whole", corpora)
    histogram = length_histogram(TokenStore.open(tmp_path / "whole", fingerprint="ours"))

    for module in (epoch_plan, shapes, token_store):
        monkeypatch.setattr(module, "_BLOCK", 3)

    in_blocks = build(tmp_path / "blocks", corpora)
    store = TokenStore.open(tmp_path / "blocks", fingerprint="ours")
    np.testing.assert_array_equal(length_histogram(store), histogram)
    assert in_blocks.epoch(0).pairs.tolist() == whole.epoch(0).pairs.tolist()
    assert in_blocks.epoch(0).shapes.tolist() == whole.epoch(0).shapes.tolist()
