"""Weights that are cast together are cast as each would be, and so are their gradients."""

import pytest
import torch

from dragoman.training import casting
from dragoman.training.casting import cast


@pytest.mark.parametrize("at_once", [2, 3])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_all_at_once_equals_one_by_one(
    dtype: torch.dtype, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(casting, "AT_ONCE", at_once)
    weights = [torch.randn(shape, requires_grad=True) for shape in ((3, 4), (4,), (2, 3))]
    weighing = [torch.randn(weight.shape, dtype=dtype) for weight in weights]

    def gradients_through(copies: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        loss = torch.stack([(c * w).sum() for c, w in zip(copies, weighing, strict=True)]).sum()
        return torch.autograd.grad(loss, weights)

    found = list(cast(weights, dtype))
    expected = [weight.to(dtype) for weight in weights]

    assert all(torch.equal(one, other) for one, other in zip(found, expected, strict=True))
    for one, other in zip(gradients_through(found), gradients_through(expected), strict=True):
        assert one.dtype == torch.float32
        assert torch.equal(one, other)


def test_a_weight_that_nothing_uses_has_no_gradient_but_zero() -> None:
    used, unused = (torch.randn(3, requires_grad=True) for _ in range(2))

    first, _ = cast([used, unused], torch.bfloat16)
    first.sum().backward()

    assert used.grad is not None
    assert torch.equal(used.grad, torch.ones(3))
    assert unused.grad is None or not unused.grad.any()
