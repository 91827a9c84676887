"""The projection: logits, from a table of its own or a shared one."""

import pytest
import torch
from torch import nn

from dragoman.model.projection import Projection

D_MODEL, VOCAB = 6, 11


def test_equals_a_product_with_the_table() -> None:
    projection = Projection(D_MODEL, VOCAB, bias=True)
    nn.init.normal_(projection.linear.bias)
    states = torch.randn(2, 5, D_MODEL)

    expected = states @ projection.linear.weight.T + projection.linear.bias

    torch.testing.assert_close(projection(states), expected, atol=1e-5, rtol=0)


def test_it_returns_logits_not_log_probabilities() -> None:
    logits = Projection(D_MODEL, VOCAB)(torch.randn(2, 5, D_MODEL))

    assert (logits.logsumexp(dim=-1).abs() > 0.1).any()


def test_tied_it_is_the_table_itself() -> None:
    table = nn.Embedding(VOCAB, D_MODEL)
    projection = Projection(D_MODEL, VOCAB)

    projection.tie(table)

    assert projection.linear.weight is table.weight


def test_it_has_a_bias_only_on_request() -> None:
    assert [name for name, _ in Projection(D_MODEL, VOCAB).named_parameters()] == ["linear.weight"]
    assert Projection(D_MODEL, VOCAB, bias=True).linear.bias.shape == (VOCAB,)


@pytest.mark.parametrize("bias", [False, True])
def test_narrowed_it_gives_the_logits_of_the_tokens_in_their_order(bias: bool) -> None:
    projection = Projection(D_MODEL, VOCAB, bias=bias)
    states, tokens = torch.randn(2, 5, D_MODEL), torch.tensor([7, 2, 10])

    found = projection.narrow(tokens)(states)

    torch.testing.assert_close(found, projection(states)[..., tokens])
