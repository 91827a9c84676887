"""The page of mistakes says what is measured."""

import re

import pytest
from docs.measure_mistakes import MEASURED, MISTAKES, measure
from docs.write_mistakes import PAGE, checks, find, page
from tests.checking.mutations.mutation import together

A_TENTH = 0.1


def test_the_page_is_what_the_checks_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make docs`"


def test_every_check_has_its_heading() -> None:
    text = PAGE.read_text(encoding="utf-8")

    assert [name for name in checks() if f"\n### {name}\n" not in text] == []


def test_a_change_to_several_classes_is_shown_once() -> None:
    diffs = re.findall(r"^```diff\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)

    assert diffs
    for lines in map(str.splitlines, diffs):
        changed = [line for line in lines if line.strip("+- ")]
        assert len(set(changed)) == len(changed), changed


def test_a_mistake_that_is_not_found_is_named_with_what_was_not_checked() -> None:
    signature = "v: Tensor, mask: Tensor | None) -> Tensor:"
    other = signature.replace("mask", "shown")
    mutation = together("attention-mask", "MultiHeadAttention", "assembled", (signature, other))

    with pytest.raises(RuntimeError, match=r"attention-mask was not found .* checked: .*`shown`"):
        find(mutation)


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_costs_what_the_page_says(mistake: str) -> None:
    outcome = measure(mistake)
    loss, right = MEASURED[mistake]

    assert outcome.loss == pytest.approx(loss, abs=A_TENTH)
    if right in (0.0, 1.0):
        assert outcome.right == pytest.approx(right, abs=A_TENTH)
    else:  # half learnt: how much exactly hangs on the last bit of a product
        assert 0.0 < outcome.right < 1.0
