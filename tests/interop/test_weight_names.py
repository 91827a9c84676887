"""The table of names covers every weight of both sides exactly once."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file

from dragoman.interop.marian import load_marian
from dragoman.interop.weight_names import LOGITS_BIAS, marian_block_names, marian_table_names


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"share_encoder_decoder_embeddings": False},
        {"share_encoder_decoder_embeddings": False, "tie_word_embeddings": False},
    ],
    ids=json.dumps,
)
def test_no_weight_is_forgotten(
    save_marian: Callable[..., Any], tmp_path: Path, changes: dict[str, Any]
) -> None:
    save_marian(**changes)
    transformer = load_marian(tmp_path).transformer
    config = transformer.config
    blocks, tables = marian_block_names(config), marian_table_names(config)

    ours = {*blocks, *tables, "projection.linear.bias"}
    theirs = {*blocks.values(), *(name for names in tables.values() for name in names), LOGITS_BIAS}

    assert len(set(blocks.values())) == len(blocks)
    assert ours == set(transformer.state_dict())
    assert set(load_file(tmp_path / "model.safetensors")) <= theirs
