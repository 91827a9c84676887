import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.corpora.batch import Batch, Part, pad

PAD, BOS, EOS = 0, 2, 3


def rows_of(batch: Batch) -> list[tuple[int, list[int], list[int]]]:
    columns = batch.indices.tolist(), batch.source.tolist(), batch.target.tolist()
    return list(zip(*columns, strict=True))


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 9), st.integers(1, 6))
def test_the_shards_of_all_ranks_are_the_batch(rows: int, world_size: int) -> None:
    tokens, lengths = np.arange(4, 4 + 2 * rows), np.full(rows, 2)
    batch = Batch(
        source=pad(tokens, lengths, width=5, pad_id=PAD, eos_id=EOS),
        target=pad(tokens + 50, lengths, width=6, pad_id=PAD, eos_id=EOS, bos_id=BOS),
        indices=np.arange(7, 7 + rows),
        pad_id=PAD,
    )
    shards = [batch.shard(Part(rank=rank, world_size=world_size)) for rank in range(world_size)]
    assert all(len(shard.indices) == len(shard.source) == len(shard.target) for shard in shards)
    real = [row for shard in shards for row in rows_of(shard) if row[0] != -1]
    assert sorted(real) == rows_of(batch)
    assert sum(shard.num_target_tokens for shard in shards) == batch.num_target_tokens == 3 * rows
    assert max(len(shard.indices) for shard in shards) == -(-rows // world_size)
    for shard in shards[rows:]:
        assert shard.indices.tolist() == [-1]
        assert shard.target.tolist() == [[BOS] + [PAD] * 5]
        assert (shard.source[0] != PAD).any()


def test_a_rank_beyond_the_last_is_refused() -> None:
    for rank in (-1, 2):
        with pytest.raises(ValueError, match="between 0 and 1"):
            Part(rank=rank, world_size=2)
