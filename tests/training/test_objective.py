"""The loss is computed in the number format that is asked for, and the weights stay in fp32."""

from typing import Any, Literal

import pytest
import torch
from torch import Tensor

from dragoman.device import set_up_to_train
from dragoman.model.config import TransformerConfig
from dragoman.model.transformer import Transformer
from dragoman.training import loss as loss_module
from dragoman.training.averaging import weights_of
from dragoman.training.config import TrainingConfig
from dragoman.training.objective import Loss, Objective, build_objective, for_validation

VOCAB, PAD = 40, 0
Tied = Literal["all", "target", "none"]


def objective(
    dtype: torch.dtype,
    *,
    tied: Tied = "all",
    bias: bool = False,
    dropout: float = 0.0,
    **settings: Any,
) -> Objective:
    torch.manual_seed(2)
    config = TransformerConfig(
        d_model=32,
        d_ff=48,
        num_heads=2,
        num_encoder_layers=2,
        num_decoder_layers=2,
        dropout=dropout,
        tied_embeddings=tied,
        projection_bias=bias,
    )
    model = Transformer(config, source_vocab_size=VOCAB, target_vocab_size=VOCAB, padding_id=PAD)
    return build_objective(model, TrainingConfig(**settings), dtype)


def sentences() -> tuple[Tensor, Tensor]:
    torch.manual_seed(3)
    source, target = torch.randint(4, VOCAB, (2, 6, 9))
    source[0, 5:] = PAD
    target[1, 4:] = PAD
    return source, target


@pytest.mark.parametrize("tied", ["all", "target", "none"])
def test_weights_are_what_they_were_before(tied: Tied) -> None:
    computing = objective(torch.bfloat16, tied=tied)
    before = dict(computing.named_parameters(remove_duplicate=False))

    computing(*sentences()).backward()

    after = dict(computing.named_parameters(remove_duplicate=False))
    assert all(after[name] is parameter for name, parameter in before.items())
    assert {parameter.dtype for parameter in after.values()} == {torch.float32}


@pytest.mark.parametrize("tied", ["all", "target", "none"])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("r_drop", [0.0, 5.0])
def test_bf16_stays_near_fp32_in_loss_and_gradients(tied: Tied, bias: bool, r_drop: float) -> None:
    exact, near = (
        objective(dtype, tied=tied, bias=bias, r_drop=r_drop)
        for dtype in (torch.float32, torch.bfloat16)
    )

    losses = [computing(*sentences()) for computing in (exact, near)]
    for loss in losses:
        loss.backward()

    torch.testing.assert_close(losses[1], losses[0], rtol=0.01, atol=0.0)
    gradients = [
        torch.cat([weight.grad.flatten() for weight in of.parameters() if weight.grad is not None])
        for of in (exact, near)
    ]
    assert gradients[1].dtype == torch.float32
    assert float((gradients[1] - gradients[0]).norm()) < 0.15 * float(gradients[0].norm())


def test_gradients_that_are_sums_of_thousands_are_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loss_module, "CHUNK_ROWS_IN_BF16", 2)  # so that the loss adds up, too
    often = torch.full((100, 50), 7)
    exact, near = (
        objective(dtype, tied="none", bias=True) for dtype in (torch.float32, torch.bfloat16)
    )

    for computing in (exact, near):
        computing(often, often).backward()

    wanted = ("table", "norm", "narrow.bias", "projection.linear")
    names = [name for name, _ in exact.named_parameters() if any(part in name for part in wanted)]
    assert len(names) == 2 + 2 * (2 * 2 + 2 * 3 + 2) + 4 + 2
    for name in names:
        one, other = exact.get_parameter(name).grad, near.get_parameter(name).grad
        assert one is not None
        assert other is not None
        assert float((other - one).norm()) < 0.1 * float(one.norm()) + 1e-2, name


def test_what_is_computed_in_bf16_is_bf16() -> None:
    computing = objective(torch.bfloat16)
    seen = []
    for block in (*computing.transformer.encoder.blocks, *computing.transformer.decoder.blocks):
        block.register_forward_hook(
            lambda _, arguments, output: seen.append(
                (arguments[0].dtype, (output[0] if isinstance(output, tuple) else output).dtype)
            )
        )

    computing(*sentences())

    assert seen == [(torch.bfloat16, torch.bfloat16)] * 4


def test_the_gradients_of_the_projection_are_not_rounded_to_bf16() -> None:
    computing = objective(torch.bfloat16, tied="none", bias=True)

    computing(*sentences()).backward()

    for name, weight in computing.transformer.projection.linear.named_parameters():
        assert weight.grad is not None
        assert not torch.equal(weight.grad, weight.grad.bfloat16().float()), name


@pytest.mark.parametrize("r_drop", [0.0, 1e-9])
def test_labels_are_smoothed_in_training_only_as_much_as_the_settings_say(r_drop: float) -> None:
    computing = objective(torch.float32, label_smoothing=0.3, r_drop=r_drop)
    source, target = sentences()
    logits = computing.transformer(source, target[:, :-1]).flatten(0, 1)
    expected = [
        loss_module.label_smoothed_cross_entropy(
            logits, target[:, 1:].flatten(), smoothing=smoothing, padding_id=PAD
        )
        for smoothing in (0.3, 0.0)
    ]

    trained, validated = computing.train()(source, target), computing.eval()(source, target)

    torch.testing.assert_close([trained, validated], expected)


@pytest.mark.parametrize("tied", ["all", "target", "none"])
def test_what_is_validated_is_a_copy_without_dropout(tied: Tied) -> None:
    trained = objective(torch.bfloat16, tied=tied, dropout=0.5, r_drop=1.0).train()
    own = {name: weight.clone() for name, weight in weights_of(trained.transformer).items()}
    other = {name: torch.randn_like(weight) for name, weight in own.items()}

    judged = for_validation(trained, other)

    assert torch.equal(judged(*sentences()), judged(*sentences()))
    found = weights_of(judged.transformer)
    assert (found.keys(), judged.dtype) == (other.keys(), torch.bfloat16)
    assert all(torch.equal(found[name], weight) for name, weight in other.items())
    assert all(torch.equal(w, own[name]) for name, w in weights_of(trained.transformer).items())
    assert trained.training


class SumOfLogits(Loss):
    """One of somebody's own, which projects by itself."""

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        return self.transformer.project(self.transformer.states(source, target).float()).sum()


@pytest.mark.parametrize("sharded", [False, True])
def test_the_projection_of_a_loss_of_ones_own_has_the_weights_of_this_update(
    monkeypatch: pytest.MonkeyPatch, sharded: bool
) -> None:
    monkeypatch.setattr("dragoman.training.objective.is_sharded", lambda module: sharded)
    computing = objective(torch.bfloat16, tied="none")
    computing.loss = SumOfLogits(computing.transformer, label_smoothing=0.0)

    with set_up_to_train(torch.device("cpu")):
        assert computing(*sentences()) != 0
        with torch.no_grad():  # as an update does
            computing.transformer.projection.linear.weight.zero_()
        assert computing(*sentences()) == 0
