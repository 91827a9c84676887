"""The dimensions of the residual stream can stand in any order."""

from typing import Any

import pytest
import torch

from dragoman.interop.residual_stream import reorder, sines_first
from dragoman.model.config import TransformerConfig
from dragoman.model.positional_encoding import sinusoids
from dragoman.model.transformer import Transformer


def build(convention: str, **changes: Any) -> Transformer:
    config = TransformerConfig(
        **{
            "d_model": 12,
            "d_ff": 20,
            "num_heads": 3,
            "num_encoder_layers": 2,
            "num_decoder_layers": 2,
            "positional_encoding": convention,
            **changes,
        }
    )
    sizes = {"source_vocab_size": 15, "target_vocab_size": 15, "padding_id": 0}
    model = Transformer(config, **sizes).eval()
    for name, parameter in model.named_parameters():
        if "norm" in name or name.endswith("bias"):
            torch.nn.init.normal_(parameter)
    return model


def test_the_order_turns_the_papers_sinusoids_into_marians() -> None:
    assert torch.equal(sinusoids(9, 12)[:, sines_first(12)], sinusoids(9, 12, "marian"))


@pytest.mark.parametrize("norm", ["before", "after"])
@pytest.mark.parametrize("tied", ["all", "target", "none"])
def test_in_another_order_a_model_computes_the_same(norm: str, tied: str) -> None:
    changes = {"norm": norm, "tied_embeddings": tied, "projection_bias": True}
    interleaved, marian = build("interleaved", **changes), build("marian", **changes)
    source, target = torch.randint(1, 15, (3, 7)), torch.randint(1, 15, (3, 5))

    marian.load_state_dict(reorder(interleaved.state_dict(), sines_first(12)))

    with torch.inference_mode():
        expected, actual = interleaved(source, target), marian(source, target)
    torch.testing.assert_close(actual, expected, atol=1e-5, rtol=0)


def test_the_order_can_be_taken_back() -> None:
    weights, order = build("interleaved").state_dict(), sines_first(12)

    back = reorder(reorder(weights, order), order.argsort())

    assert all(torch.equal(back[name], weight) for name, weight in weights.items())
