"""Input embeddings: of the same order as the sinusoids, and silent about padding."""

import math

import torch

from dragoman.model.embeddings import InputEmbeddings
from dragoman.model.initialization import initialize

VOCAB, D_MODEL, PADDING = 1000, 64, 3


def fresh() -> InputEmbeddings:
    embeddings = InputEmbeddings(VOCAB, D_MODEL, padding_id=PADDING)
    initialize(embeddings)
    return embeddings


def test_each_token_gets_its_row_times_the_root_of_d_model() -> None:
    embeddings = fresh()
    tokens = torch.tensor([[5, 9, 5], [999, 0, 1]])

    expected = embeddings.table.weight[tokens] * math.sqrt(D_MODEL)

    torch.testing.assert_close(embeddings(tokens), expected)


def test_what_is_looked_up_begins_with_unit_variance() -> None:
    vectors = fresh()(torch.arange(PADDING + 1, VOCAB)[None])

    assert abs(vectors.mean()) < 0.02
    assert 0.97 < vectors.std() < 1.03


def test_padding_is_zero_and_learns_nothing() -> None:
    embeddings = fresh()
    tokens = torch.tensor([[5, 6, PADDING], [7, PADDING, PADDING]])

    vectors = embeddings(tokens)
    vectors.sum().backward()

    assert (vectors[tokens == PADDING] == 0).all()
    gradient = embeddings.table.weight.grad
    assert gradient is not None
    assert gradient.any(dim=1).nonzero().flatten().tolist() == [5, 6, 7]
