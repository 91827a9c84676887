"""Mistakes with embeddings, and the checks that notice them."""

import math

import torch
from tests.model.mistakes.shared import Build, Mistake
from torch import nn

from dragoman.model import transformer
from dragoman.model.embeddings import InputEmbeddings
from dragoman.model.projection import Projection

D_MODEL, VOCAB, PADDING = 12, 23, 0


def check_embeddings_have_unit_variance(build: Build) -> None:
    embeddings = build(d_model=96, scrambled=False).source_embeddings
    assert 0.9 < embeddings(torch.arange(1, VOCAB)[None]).std() < 1.1


def check_padding_embeds_to_zero_and_learns_nothing(build: Build) -> None:
    embeddings = build(scrambled=False).source_embeddings
    vectors = embeddings(torch.tensor([[PADDING, 5]]))
    (vectors + 1).square().sum().backward()
    gradient = embeddings.table.weight.grad
    assert gradient is not None
    assert (vectors[0, 0] == 0).all()
    assert (gradient[PADDING] == 0).all()
    assert gradient[5].any()


def check_tied_tables_are_one_parameter(build: Build) -> None:
    model = build(tied_embeddings="all")
    assert model.projection.linear.weight is model.source_embeddings.table.weight
    assert model.target_embeddings.table.weight is model.source_embeddings.table.weight


def trained_padding(self: InputEmbeddings, vocab_size: int, d_model: int, **_: int) -> None:
    nn.Module.__init__(self)
    self.scale = math.sqrt(d_model)
    self.table = nn.Embedding(vocab_size, d_model)


def leave_alone(_: nn.Module) -> None:
    """Keep PyTorch's own initial values."""


def xavier_everywhere(model: nn.Module) -> None:
    for parameter in model.parameters():
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter)


def copy_of_the_table(self: Projection, table: nn.Embedding) -> None:
    self.linear.weight = nn.Parameter(table.weight.detach().clone())


MISTAKES: list[Mistake] = [
    (
        "guide 004:30, no sqrt(d_model)",
        InputEmbeddings,
        "forward",
        lambda self, tokens: self.table(tokens),
        check_embeddings_have_unit_variance,
    ),
    (
        "guide 000:34, initial values of variance 1",
        transformer,
        "initialize",
        leave_alone,
        check_embeddings_have_unit_variance,
    ),
    (
        "initial values that depend on the vocabulary",
        transformer,
        "initialize",
        xavier_everywhere,
        check_embeddings_have_unit_variance,
    ),
    (
        "guide 004:36-53, padding with a meaning",
        InputEmbeddings,
        "__init__",
        trained_padding,
        check_padding_embeds_to_zero_and_learns_nothing,
    ),
    (
        "Annotated Transformer:1803, not tied",
        Projection,
        "tie",
        lambda self, table: None,
        check_tied_tables_are_one_parameter,
    ),
    ("tied by copying", Projection, "tie", copy_of_the_table, check_tied_tables_are_one_parameter),
]
