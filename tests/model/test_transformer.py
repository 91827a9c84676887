"""The whole model: what it may see, what must not matter, and where dropout acts."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dragoman.model.attention import ScaledDotProductAttention
from dragoman.model.config import TransformerConfig
from dragoman.model.residual import ResidualConnection
from dragoman.model.transformer import Transformer

Build = Callable[..., Transformer]

PADDING, BOS, EOS, VOCAB = 0, 2, 3, 23
SOURCE = torch.tensor([[4, 5, 6, 7, 8, 9, 3], [14, 5, 3, 0, 0, 0, 0], [5, 16, 7, 18, 3, 0, 0]])
TARGET = torch.tensor([[2, 5, 6, 0, 0], [2, 5, 16, 7, 8], [2, 4, 0, 0, 0]])


def close(actual: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(actual, expected, atol=1e-5, rtol=0)


@pytest.fixture(params=["before", "after"])
def model(request: pytest.FixtureRequest, build: Build) -> Transformer:
    return build(norm=request.param)


@pytest.mark.parametrize("norm", ["before", "after"])
def test_equals_the_transformer_of_pytorch(
    build: Build, norm: str, twin: Callable[[nn.Module, TransformerConfig], nn.Module]
) -> None:
    model = build(norm=norm)
    table = model.source_embeddings.table.weight

    def embed(tokens: Tensor) -> Tensor:
        return model.positions(table[tokens] * math.sqrt(12))

    memory = twin(model.encoder, model.config)(embed(SOURCE), src_key_padding_mask=SOURCE == 0)
    states = twin(model.decoder, model.config)(
        embed(TARGET),
        memory,
        tgt_mask=torch.ones(5, 5, dtype=torch.bool).triu(diagonal=1),
        tgt_key_padding_mask=TARGET == 0,
        memory_key_padding_mask=SOURCE == 0,
    )

    close(model(SOURCE, TARGET), states @ table.T)


def test_the_future_is_invisible(model: Transformer) -> None:
    for position in range(1, 5):
        changed = TARGET.clone()
        changed[:, position:] = 21

        before, after = model(SOURCE, TARGET), model(SOURCE, changed)

        assert torch.equal(before[:, :position], after[:, :position])
        assert not torch.allclose(before[:, position], after[:, position])


def test_every_position_of_the_source_is_visible_to_every_other(model: Transformer) -> None:
    tokens = SOURCE[:1].clone()
    x = model.source_embeddings(tokens).detach().requires_grad_()
    mask = torch.ones(1, 1, 1, 7, dtype=torch.bool)

    model.encoder(x, mask)[0, 0, 0].backward()

    assert x.grad is not None
    assert x.grad[0].any(dim=-1).all()


def test_the_length_of_the_padding_does_not_matter(model: Transformer) -> None:
    longer = model(F.pad(SOURCE, (0, 4)), F.pad(TARGET, (0, 3)))

    close(longer[:, :5], model(SOURCE, TARGET))


def test_the_content_of_the_padding_does_not_matter(model: Transformer) -> None:
    expected = model(SOURCE, TARGET)
    with torch.no_grad():
        model.source_embeddings.table.weight[PADDING] += 10

    visible = TARGET != PADDING
    actual = model.states(SOURCE, TARGET) @ model.projection.linear.weight.T
    close(actual[visible][:, 1:], expected[visible][:, 1:])


def test_a_sentence_does_not_depend_on_its_batch_mates(model: Transformer) -> None:
    together = model(SOURCE, TARGET)

    for row, (source, target) in enumerate(zip(SOURCE, TARGET, strict=True)):
        source, target = source[source != PADDING], target[target != PADDING]  # noqa: PLW2901
        alone = model(source[None], target[None])
        close(together[row : row + 1, : len(target)], alone)


@pytest.mark.parametrize(
    "positional_encoding", ["interleaved", "marian", "tensor2tensor", "rotary"]
)
def test_token_by_token_equals_all_at_once(build: Build, positional_encoding: str) -> None:
    model = build(positional_encoding=positional_encoding)
    target = TARGET[:, :].masked_fill(TARGET == PADDING, 11)

    state = model.start(SOURCE)
    for position, expected in enumerate(model(SOURCE, target).unbind(dim=1)):
        logits, state = model.step(target[:, [position]], state)
        close(logits[:, 0], expected)


@pytest.mark.parametrize("widths", [[4] * 14, [1] * 20, [3] * 14, [1, *[4] * 6, *[2] * 12]])
def test_prefixes_branch_as_a_beam_asks(build: Build, widths: list[int]) -> None:
    check_branches(build(), widths)


class NearerIsBetter(nn.Module):
    """It needs distances, which it counts by the keys that a query sees."""

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
        seen = mask.cumsum(dim=-1)
        scores = queries @ keys.transpose(-2, -1) - (seen[..., -1:] - seen) ** 2
        return scores.masked_fill(~mask, -math.inf).softmax(dim=-1) @ values


def test_visible_slots_are_in_the_order_of_positions_for_an_attention_that_needs_them(
    build: Build,
) -> None:
    model = build()
    for block in model.decoder.blocks:
        block.get_submodule("self_attention").attention = NearerIsBetter()

    check_branches(model, [4] * 14)


def check_branches(model: Transformer, widths: list[int]) -> None:
    """Decode random prefixes, as many as `widths` says at each position, and compare."""
    sentences = torch.tensor([2, 0])
    generator = torch.Generator().manual_seed(1)
    state = model.start(SOURCE)
    state = state.reorder(torch.zeros(3, widths[0], dtype=torch.long))
    prefixes = torch.empty(3, widths[0], 0, dtype=torch.long)
    for position, (width, next_width) in enumerate(zip(widths, [*widths[1:], 1], strict=True)):
        if position == 3:  # one sentence is complete, the others change places
            prefixes, state = prefixes[sentences], state.select(sentences)
        tokens = torch.randint(3, 12, prefixes.shape[:2], generator=generator)
        logits, state = model.step(tokens, state)
        prefixes = torch.cat([prefixes, tokens[:, :, None]], dim=2)
        sources = SOURCE if position < 3 else SOURCE[sentences]
        expected = model(sources.repeat_interleave(width, dim=0), prefixes.flatten(0, 1))[:, -1]
        close(logits.flatten(0, 1), expected)
        parents = torch.randint(width, (len(prefixes), next_width), generator=generator)
        prefixes = prefixes.take_along_dim(parents[:, :, None], dim=1)
        state = state.reorder(parents)


def test_when_decoding_begins_with_the_padding_token_it_stays_visible(model: Transformer) -> None:
    target = torch.tensor([[PADDING, 5, 6]]).expand(3, 3)
    with torch.no_grad():
        model.target_embeddings.table.weight[PADDING] += 1.0

    logits, state = model.step(target[:, [0]], model.start(SOURCE))
    second, _ = model.step(target[:, [1]], state)

    close(torch.cat([logits, second], dim=1), model(SOURCE, target)[:, :2])


def test_sentences_may_be_longer_than_any_before(model: Transformer) -> None:
    source = torch.randint(4, VOCAB, (1, 300))

    logits = model(source, source)

    changed = source.clone()
    changed[0, 299] = (source[0, 299] + 1 - 4) % (VOCAB - 4) + 4
    assert logits.isfinite().all()
    assert not torch.allclose(model(changed, source), logits)


def loss(model: Transformer, source: Tensor, target: Tensor) -> Tensor:
    logits = model(source, target[:, :-1]).flatten(0, 1)
    return F.cross_entropy(logits, target[:, 1:].flatten(), ignore_index=PADDING, reduction="sum")


def test_gradients_do_not_depend_on_micro_batches(model: Transformer) -> None:
    num_tokens = (TARGET[:, 1:] != PADDING).sum()
    (loss(model, SOURCE, TARGET) / num_tokens).backward()
    expected = [parameter.grad for parameter in model.parameters()]

    model.zero_grad()
    for rows in ([0], [1, 2]):
        (loss(model, SOURCE[rows], TARGET[rows]) / num_tokens).backward()

    for parameter, gradient in zip(model.parameters(), expected, strict=True):
        assert parameter.grad is not None
        assert gradient is not None
        close(parameter.grad, gradient)


def test_gradients_are_finite_when_a_row_is_all_padding(model: Transformer) -> None:
    source, target = SOURCE.clone(), TARGET.clone()
    source[1], target[1] = PADDING, PADDING

    loss(model, source, target).backward()

    for parameter in model.parameters():
        assert parameter.grad is not None
        assert parameter.grad.isfinite().all()


def test_every_parameter_learns(model: Transformer) -> None:
    """A key bias moves all the scores of a query alike, so its gradient is zero in theory."""
    loss(model, SOURCE, TARGET).backward()

    for name, parameter in model.named_parameters():
        if not name.endswith("key_projection.bias"):
            assert parameter.grad is not None, name
            assert parameter.grad.any(), name


@pytest.mark.parametrize(("tied", "num_tables"), [("all", 1), ("target", 2), ("none", 3)])
def test_tied_tables_are_one_parameter(build: Build, tied: str, num_tables: int) -> None:
    model = build(tied_embeddings=tied)
    tables = {
        id(model.source_embeddings.table.weight),
        id(model.target_embeddings.table.weight),
        id(model.projection.linear.weight),
    }

    assert len(tables) == num_tables
    assert sum(p.shape == (VOCAB, 12) for p in model.parameters()) == num_tables


@pytest.mark.parametrize("tied", ["all", "target", "none"])
def test_a_functional_call_leaves_the_weights_as_they_were(build: Build, tied: str) -> None:
    model = build(tied_embeddings=tied)
    before = dict(model.named_parameters(remove_duplicate=False))
    other = {name: parameter + 1 for name, parameter in model.named_parameters()}

    torch.func.functional_call(model, other, (SOURCE, TARGET))

    after = dict(model.named_parameters(remove_duplicate=False))
    assert {name: id(p) for name, p in after.items()} == {name: id(p) for name, p in before.items()}


def test_vocabularies_of_different_sizes_cannot_share_a_table() -> None:
    config = TransformerConfig(d_model=12, num_heads=2, d_ff=20)

    with pytest.raises(ValueError, match=r"source \(7\) and target \(8\) vocabularies differ"):
        Transformer(config, source_vocab_size=7, target_vocab_size=8, padding_id=0)


def test_the_positions_are_not_in_the_saved_weights(model: Transformer) -> None:
    model(torch.randint(4, VOCAB, (1, 300)), TARGET[:1])

    saved = model.state_dict()

    assert not [name for name in saved if "positions" in name]
    model.load_state_dict(saved)


def share_of_dropped(model: Transformer, part: nn.Module) -> float:
    """Embed padding alone, so that what enters a stack is positions, never zero, after dropout."""
    entered: list[Tensor] = []
    handle = part.register_forward_pre_hook(lambda _, inputs: entered.append(inputs[0]))
    tokens = torch.full((30, 40), PADDING)
    model.train()(tokens, tokens)
    handle.remove()
    return (entered[0] == 0).float().mean().item()


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_dropout_acts_on_embeddings_plus_positions(build: Build, stack: str) -> None:
    model = build(dropout=0.5, scrambled=False)
    with torch.no_grad():
        model.source_embeddings.table.weight[PADDING] = 5.0  # far from minus a sinusoid

    assert 0.48 < share_of_dropped(model, model.get_submodule(stack)) < 0.52


def test_dropout_acts_on_every_sublayer(build: Build) -> None:
    model = build(dropout=0.5, norm="before")
    added: list[Tensor] = []
    for module in model.modules():
        if isinstance(module, ResidualConnection):
            module.register_forward_hook(lambda _, inputs, x: added.append(x - inputs[0]))

    model.train()(SOURCE.repeat(40, 1), TARGET.repeat(40, 1))

    assert len(added) == 2 * 2 + 3 * 3
    for difference in added:
        assert 0.45 < (difference == 0).float().mean() < 0.55


@pytest.mark.parametrize("where", ["attention_dropout", "feed_forward_dropout"])
def test_the_other_rates_reach_every_block(build: Build, where: str) -> None:
    model = build(**{where: 0.25})
    rates = {
        name: module.rate
        for name, module in model.named_modules()
        if name.endswith("dropout") and hasattr(module, "rate")
    }
    part = {"attention_dropout": "attention.dropout", "feed_forward_dropout": "feed_forward."}
    inside = [name for name in rates if part[where] in name and "around" not in name]

    assert len(inside) == {"attention_dropout": 2 + 3 * 2, "feed_forward_dropout": 2 + 3}[where]
    assert {name for name, rate in rates.items() if rate == 0.25} == set(inside)


def test_training_is_random_and_evaluation_is_not(build: Build) -> None:
    model = build(dropout=0.3, attention_dropout=0.3, feed_forward_dropout=0.3)

    assert torch.equal(model(SOURCE, TARGET), model(SOURCE, TARGET))
    model.train()
    assert not torch.allclose(model(SOURCE, TARGET), model(SOURCE, TARGET))


def test_a_hook_sees_every_attention_of_the_model(model: Transformer) -> None:
    shapes: list[Any] = []
    for module in model.modules():
        if isinstance(module, ScaledDotProductAttention):
            module.register_forward_hook(
                lambda _, inputs, __: shapes.append((inputs[0].size(2), inputs[1].size(2)))
            )

    model(SOURCE, TARGET)

    assert sorted(shapes) == sorted([(7, 7)] * 2 + [(5, 5), (5, 7)] * 3)
