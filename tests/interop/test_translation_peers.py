"""The other toolkits of `benchmarks/translation_speed.py` hold our weights, or refuse to."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from dragoman.decoding.config import SearchConfig
from dragoman.interop.proof import LoadedModel, draw_sentences
from dragoman.model_directory import ModelDirectory

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
Save = Callable[..., ModelDirectory]


@pytest.fixture
def peers(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import what is no package."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("translation_peers")


def load(save: Save, **changes: Any) -> LoadedModel:
    preset = {"tied_embeddings": "all", "projection_bias": False, **changes}
    return LoadedModel.load(save(**preset).path)


def test_hugging_face_translates_greedily_as_we_do(save: Save, peers: Any) -> None:
    loaded = load(save)
    sources = list(draw_sentences(loaded.tokenizers.source))

    config = SearchConfig(beam_size=1)
    found = peers.prepare("huggingface", loaded)(sources, config)

    limits = [config.max_length(len(source)) for source in sources]
    for ours, theirs, limit in zip(
        loaded.in_pytorch.translate(sources), found, limits, strict=True
    ):
        shared = min(limit, 40)  # where our proof ends
        assert list(theirs[:shared]) == ours[:shared]
    assert any(found)


def test_other_weights_are_refused(save: Save, peers: Any) -> None:
    loaded = load(save)
    peer = peers.HuggingFace(loaded)
    bias = loaded.transformer.get_parameter("decoder.blocks.2.feed_forward.narrow.bias")
    with torch.no_grad():
        bias[0] += 0.1

    with pytest.raises(peers.PeerError, match="it is another model: its logits differ"):
        peers.prove(peer, loaded)


def test_a_model_that_is_like_no_preset_is_refused(save: Save, peers: Any) -> None:
    with pytest.raises(peers.PeerError, match="norm is 'after', not 'before'"):
        peers.prepare("huggingface", load(save, norm="after"))
