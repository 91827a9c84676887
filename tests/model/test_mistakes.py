"""Mistakes that learners' guides and their models make, each put into ours and caught.

Each row of MISTAKES replaces one attribute of the model's code. The check that it names passes on
the code as it is and fails on the code with the mistake, so it would notice if we made it. The row
begins with where the mistake was seen: guide and line, or the code that learners copy most.
The mistakes and their checks stand in mistakes/, a file a part of the model.

Mistakes that do not compute anything wrong because they do not run at all (a method that is not
called `forward`, a float that is called as a module, a misspelt name) are caught by any test.

Mistakes outside the model, and the tests that catch them:

    search          raw logits are summed as if they were log-probabilities   tests/decoding
                    finished hypotheses are dropped, or expanded further      tests/decoding
                    no length normalisation, one sentence at a time           tests/decoding
                    the prefix is computed again at every step                tests/decoding
                    translating with another mask than in training            tests/decoding, here
    training        padding id of the source on the labels of the target      tests/training
                    three definitions of label smoothing                      tests/training
                    accumulated gradients: stepping too early, no division,
                    a schedule that advances each micro-batch                 tests/training
                    a constant learning rate; unsaved count of steps          tests/training
                    the newest checkpoint chosen by the alphabet              tests/training
                    averaging that does not run                               tests/training
    data            an unseeded split that changes on resuming                tests/corpora
                    tokenizers trained on the validation text                 tests/corpora
                    validation text that is also in the training text         tests/corpora
                    one long sentence ends the run                            tests/corpora
                    every pair padded to the longest possible                 tests/corpora
                    a validation loop that begins again at every step         tests/corpora
    evaluation      BLEU on two random sentences, not on the corpus           tests/evaluation
                    attention drawn under the wrong tokens, rows and columns
                    exchanged                                                 tests/visualisation
"""

from typing import Any

import pytest
from tests.model.mistakes import attention, embeddings, masks, norms, positions, stacks
from tests.model.mistakes.shared import Build, Check

MISTAKES = [
    row
    for part in (embeddings, positions, attention, masks, norms, stacks)
    for row in part.MISTAKES
]


def name_of(check: Check) -> str:
    return check.__name__


@pytest.mark.parametrize("check", dict.fromkeys(row[-1] for row in MISTAKES), ids=name_of)
def test_a_check_passes_on_the_model_as_it_is(check: Check, build: Build) -> None:
    check(build)


@pytest.mark.parametrize(
    ("owner", "attribute", "mistake", "check"),
    [row[1:] for row in MISTAKES],
    ids=[row[0] for row in MISTAKES],
)
def test_a_check_fails_on_the_model_with_the_mistake(
    owner: Any,
    attribute: str,
    mistake: Any,
    check: Check,
    build: Build,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(owner, attribute, mistake)

    with pytest.raises(AssertionError):
        check(build)
