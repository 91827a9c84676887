import pytest
import torch
from torch import nn
from torch.nn import functional as F

from dragoman.model.linear import FEW_ROWS, Linear, linear_relu

by_mkl = pytest.mark.skipif(
    not torch.backends.mkl.is_available(), reason="other libraries add up in ways of their own"
)


@pytest.mark.parametrize("num_threads", [1, 2])
@pytest.mark.parametrize(("inputs", "outputs"), [(32, 48), (128, 256), (1024, 256)])
@by_mkl
def test_a_row_is_the_same_to_the_bit_among_any_others(
    inputs: int, outputs: int, num_threads: int
) -> None:
    linear, rows = Linear(inputs, outputs), torch.randn(3 * FEW_ROWS, inputs)
    before = torch.get_num_threads()
    torch.set_num_threads(num_threads)
    try:
        together = linear(rows)
        for count in range(1, len(rows)):
            assert torch.equal(linear(rows[:count]), together[:count]), f"{count} rows"
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("shape", [(5,), (1, 5), (3, 5), (2, 3, 5), (2, 2, 5), (0, 5), (90, 5)])
@pytest.mark.parametrize("bias", [True, False])
def test_it_is_the_linear_layer_of_pytorch_and_has_its_gradient(
    shape: tuple[int, ...], bias: bool
) -> None:
    plain = nn.Linear(5, 7, bias=bias)
    ours = Linear(5, 7, bias=bias)
    ours.load_state_dict(plain.state_dict())
    x, the_same = (torch.randn(shape).requires_grad_() for _ in range(2))
    the_same.data.copy_(x.data)
    found, expected = ours(x), plain(the_same)
    torch.testing.assert_close(found, expected)
    given = torch.randn_like(found)
    found.backward(given)
    expected.backward(given)
    torch.testing.assert_close(x.grad, the_same.grad)
    for mine, theirs in zip(ours.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, theirs.grad)


def test_a_graph_that_is_exported_takes_any_number_of_rows() -> None:
    rows = torch.export.Dim("rows", min=1, max=100)
    linear = Linear(5, 7)
    exported = torch.export.export(linear, (torch.randn(6, 5),), dynamic_shapes=({0: rows},))
    for count in (1, 3, 50):
        x = torch.randn(count, 5)
        torch.testing.assert_close(exported.module()(x), linear(x))


@pytest.mark.parametrize("shape", [(3, 5), (2, 3, 5)])
def test_a_product_that_ends_with_relu_has_its_gradients(shape: tuple[int, ...]) -> None:
    x, weight, bias = (
        torch.randn(size, dtype=torch.float64, requires_grad=True) for size in (shape, (7, 5), (7,))
    )
    weighing = torch.randn(*shape[:-1], 7, dtype=torch.float64)

    found = linear_relu(x, weight, bias)
    gradients = torch.autograd.grad((found * weighing).sum(), (x, weight, bias))

    expected = F.linear(x, weight, bias).relu()
    wanted = torch.autograd.grad((expected * weighing).sum(), (x, weight, bias))
    torch.testing.assert_close((found, *gradients), (expected, *wanted))


@pytest.mark.filterwarnings("ignore:The .grad attribute")  # which PyTorch's own check reads
def test_a_compiler_is_told_the_truth_about_it() -> None:
    tensors = [torch.randn(size, requires_grad=True) for size in ((2, 3, 5), (7, 5), (7,))]

    torch.library.opcheck(linear_relu, tuple(tensors))
