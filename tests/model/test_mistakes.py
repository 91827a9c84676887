"""Mistakes that learners' guides and their models make, each put into ours and caught.

Each row of MISTAKES replaces one attribute of the model's code. The check that it names passes on
the code as it is and fails on the code with the mistake, so it would notice if we made it. The row
begins with where the mistake was seen: guide and line, or the code that learners copy most.
This file has the mistakes with the stacks, its neighbours those with their parts.

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

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from dragoman.model.config import TransformerConfig
from dragoman.model.decoder import DecoderBlock
from dragoman.model.dropout import Dropout
from dragoman.model.encoder import Encoder
from dragoman.model.projection import Projection
from dragoman.model.transformer import Transformer

Build = Callable[..., Transformer]
Check = Callable[[Build], None]

D_MODEL, VOCAB = 12, 23

SOURCE = torch.tensor([[4, 5, 6, 7, 8, 9, 3], [14, 5, 3, 0, 0, 0, 0]])
TARGET = torch.tensor([[2, 5, 6, 0, 0], [2, 5, 16, 7, 8]])


def differ(one: Tensor, other: Tensor) -> bool:
    return not torch.allclose(one, other, atol=1e-5, rtol=0)


def name_of(check: Check) -> str:
    return check.__name__


def check_the_decoder_reads_the_source(build: Build) -> None:
    model = build()
    assert differ(model(SOURCE, TARGET), model(SOURCE.flip(1), TARGET))


def check_a_misspelt_option_is_refused(build: Build) -> None:
    try:
        Encoder(TransformerConfig(), num_layer=6)  # type: ignore[call-arg]
    except TypeError:
        return
    raise AssertionError("a misspelt option passed")


def check_the_projection_takes_the_width_of_the_model(build: Build) -> None:
    assert Projection(D_MODEL, VOCAB).linear.in_features == D_MODEL


def check_the_model_gives_logits(build: Build) -> None:
    normalisers = build()(SOURCE, TARGET).logsumexp(dim=-1)
    assert differ(normalisers, torch.zeros_like(normalisers))


def check_evaluation_is_not_random(build: Build) -> None:
    model = build(dropout=0.5)
    assert not differ(model(SOURCE, TARGET), model(SOURCE, TARGET))


original_encoder = Encoder.__init__
original_projection = Projection.__init__


def any_option(self: Encoder, config: TransformerConfig, **_: Any) -> None:
    original_encoder(self, config)


def attend_to_the_target_twice(
    self: DecoderBlock, x: Tensor, state: Any, target_mask: Any, source_mask: Any
) -> tuple[Tensor, Any]:
    def attend(x: Tensor) -> Tensor:
        return self.cross_attention(x, self.cross_attention.project(x), target_mask)

    x = self.around_self_attention(x, attend)
    x = self.around_cross_attention(x, attend)
    return self.around_feed_forward(x, self.feed_forward), state


def global_width(self: Projection, d_model: int, vocab_size: int, **_: bool) -> None:
    original_projection(self, 6, vocab_size)


def log_softmax_inside(self: Projection, states: Tensor) -> Tensor:
    return self.linear(states).log_softmax(dim=-1)


def always_dropping(self: Dropout, x: Tensor) -> Tensor:
    return F.dropout(x, self.rate, training=True)


MISTAKES: list[tuple[str, Any, str, Any, Check]] = [
    (
        "keys and values from the target, not the source",
        DecoderBlock,
        "forward",
        attend_to_the_target_twice,
        check_the_decoder_reads_the_source,
    ),
    (
        "guide 004:494, unknown options are swallowed",
        Encoder,
        "__init__",
        any_option,
        check_a_misspelt_option_is_refused,
    ),
    (
        "guide 004:584-591, a global width",
        Projection,
        "__init__",
        global_width,
        check_the_projection_takes_the_width_of_the_model,
    ),
    (
        "guide 004:598, log-softmax in the model",
        Projection,
        "forward",
        log_softmax_inside,
        check_the_model_gives_logits,
    ),
    (
        "Akshay model.py:181, the same",
        Projection,
        "forward",
        log_softmax_inside,
        check_the_model_gives_logits,
    ),
    (
        "guide 004:140 and 295, demonstrated with dropout",
        Dropout,
        "forward",
        always_dropping,
        check_evaluation_is_not_random,
    ),
]


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
