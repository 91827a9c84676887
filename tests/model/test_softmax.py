import math
from typing import Any

import pytest
import torch

from dragoman.model.softmax import REGISTER, softmax


@pytest.mark.parametrize("length", [1, 2, REGISTER - 1, REGISTER, REGISTER + 1, 31, 32, 33, 70])
def test_it_is_the_softmax_and_has_its_gradient(length: int) -> None:
    scores = torch.randn(3, 2, 5, length, dtype=torch.float32)
    scores[0, 0, :, length // 2 + 1 :] = -math.inf  # hidden by a mask
    given = torch.randn_like(scores)
    ours, plain = (scores.clone().requires_grad_() for _ in range(2))

    found, expected = softmax(ours), plain.softmax(dim=-1)
    found.backward(given)
    expected.backward(given)

    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(ours.grad, plain.grad)


@pytest.mark.parametrize("length", [5, REGISTER - 1])
@pytest.mark.parametrize("exporting", [False, True])
def test_short_rows_are_filled_up_but_not_in_a_graph_of_any_length(
    monkeypatch: pytest.MonkeyPatch, exporting: bool, length: int
) -> None:
    seen: list[tuple[int, torch.dtype]] = []
    plain = torch.Tensor.softmax

    def watched(scores: torch.Tensor, **options: Any) -> torch.Tensor:
        seen.append((scores.size(-1), options["dtype"]))
        return plain(scores, **options)

    monkeypatch.setattr(torch.Tensor, "softmax", watched)
    monkeypatch.setattr(torch.compiler, "is_exporting", lambda: exporting)

    assert softmax(torch.randn(2, length).bfloat16()).shape == (2, length)
    assert seen == [(length if exporting else REGISTER, torch.float32)]


@pytest.mark.parametrize("length", [7, 20, 40])
def test_in_bf16_it_is_rounded_once(length: int) -> None:
    scores = torch.randn(4, 6, length).bfloat16()

    found = softmax(scores)

    assert found.dtype == torch.bfloat16
    assert torch.equal(found, scores.float().softmax(dim=-1).bfloat16())
