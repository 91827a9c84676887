"""The PyTorch engine: a real model, searched in batches."""

import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from threading import Event, current_thread
from typing import Any

import numpy as np
import pytest
import torch

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import EMPTY
from dragoman.device import choose_device
from dragoman.engines import pytorch as engine_module
from dragoman.engines.protocol import TEXTS_AT_ONCE, TEXTS_AT_ONCE_ON_GPU
from dragoman.engines.pytorch import PyTorchEngine
from dragoman.errors import DragomanError, UsageError
from dragoman.model.config import TransformerConfig
from dragoman.model.ensemble import Ensemble
from dragoman.model.transformer import Transformer
from dragoman.shortlist.shortlist import Shortlist
from dragoman.tokenizers.tokenizer import SpecialIds
from dragoman.training import distributed

SPECIAL = SpecialIds()
VOCAB = 37
SOURCES = [[9, 10], [11] * 17, [], [5], [30, 31, 32, 33, 34, 35, 36], [6, 7, 8], [12, 4] * 5]

SHORT: dict[str, Any] = {"max_length_ratio": 0.3, "max_length_extra": 3}
SEARCHES = [
    SearchConfig(beam_size=1, **SHORT),
    SearchConfig(beam_size=3, n_best=2, **SHORT),
    SearchConfig(sampling_temperature=1.0, n_best=2, **SHORT),
]
LONG = SearchConfig(beam_size=4, n_best=2, max_length_ratio=1.5, max_length_extra=25)
"""So long that what is seen is copied several times, and some of it left behind."""


@pytest.fixture
def transformer() -> Transformer:
    config = TransformerConfig(
        d_model=12, d_ff=20, num_heads=2, num_encoder_layers=1, num_decoder_layers=2
    )
    model = Transformer(config, source_vocab_size=VOCAB, target_vocab_size=VOCAB, padding_id=0)
    with torch.no_grad():  # wide enough apart that rounding decides nothing, and with an end
        model.projection.linear.weight.mul_(3.0)
        model.projection.linear.weight[SPECIAL.eos] += 0.3
    return model


@pytest.mark.parametrize("config", [*SEARCHES, LONG])
def test_a_sentence_is_translated_alike_in_every_batch(
    transformer: Transformer, config: SearchConfig
) -> None:
    engine = PyTorchEngine(transformer, SPECIAL)
    order = [3, 6, 0, 2, 5, 1, 4]

    together = engine.search(SOURCES, config)
    reordered = engine.search([SOURCES[i] for i in order], config)
    crowded = PyTorchEngine(transformer, SPECIAL, tokens_per_batch=60).search(SOURCES, config)

    for place, i in enumerate(order):
        alone = engine.search([SOURCES[i]], config)[0]
        for found in (together[i], reordered[place], crowded[i]):
            assert [h.ids for h in found] == [h.ids for h in alone]
            assert [h.score for h in found] == pytest.approx([h.score for h in alone], abs=1e-5)
    assert len({h.ids for found in together for h in found}) > 4


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize("config", SEARCHES)
def test_batches_that_are_searched_at_once_are_translated_as_one_after_the_other(
    transformer: Transformer, config: SearchConfig
) -> None:
    engine = PyTorchEngine(transformer, SPECIAL, tokens_per_batch=60)
    sources = SOURCES * 5

    at_once = engine.search(sources, config)
    torch.set_num_threads(1)
    one_after_the_other = engine.search(sources, config)

    assert at_once == one_after_the_other


@pytest.mark.usefixtures("two_threads")
def test_a_failure_in_one_of_the_batches_searched_at_once_is_told(transformer: Transformer) -> None:
    engine = PyTorchEngine(transformer, SPECIAL, tokens_per_batch=60)

    with pytest.raises(IndexError):
        engine.search([*SOURCES, [VOCAB + 1]], SearchConfig())


@pytest.mark.parametrize("config", SEARCHES[:2])
def test_a_translation_goes_on_from_its_own_prefix_as_it_did(
    transformer: Transformer, config: SearchConfig
) -> None:
    """Prefixes of different lengths, also of nothing, in one call.

    What was stopped at the length limit may have more room behind a prefix.
    """
    engine = PyTorchEngine(transformer, SPECIAL)
    config = replace(config, n_best=1)
    best = [found[0] for found in engine.search(SOURCES, config)]
    prefixes = [hypothesis.ids[: i % 3] for i, hypothesis in enumerate(best)]

    continued = engine.search(SOURCES, config, prefixes=prefixes)

    for expected, (actual, *_) in zip(best, continued, strict=True):
        assert actual.score >= expected.score - 1e-5  # a beam may find a better one
        if config.beam_size == 1:
            length = len(expected.token_log_probabilities)
            assert actual.ids[:length] == expected.ids
            assert actual.token_log_probabilities[:length] == pytest.approx(
                expected.token_log_probabilities, abs=1e-5
            )
            assert actual.finished or not expected.finished


def test_a_prefix_that_the_model_would_not_choose_is_kept_and_judged(
    transformer: Transformer,
) -> None:
    engine, config = PyTorchEngine(transformer, SPECIAL), SEARCHES[1]
    ((best, *_),) = engine.search([[9, 10]], config, prefixes=[(33, 34, 35, 36)])
    assert best.ids[:4] == (33, 34, 35, 36)
    (judged,) = engine.log_probabilities([[9, 10]], [best.ids])
    assert best.token_log_probabilities == pytest.approx(
        judged[: len(best.token_log_probabilities)], abs=1e-4
    )


def shortlist(num_translations: int, vocab_size: int = VOCAB) -> Shortlist:
    """Call for the tokens that follow each token in the vocabulary."""
    following = np.arange(vocab_size)[:, None] + np.arange(num_translations)
    return Shortlist(
        frequent=np.array([SPECIAL.eos, 20, 21], dtype=np.int32),
        translations=np.where(following < vocab_size, following, SPECIAL.eos).astype(np.int32),
    )


@pytest.mark.parametrize("config", SEARCHES)
def test_a_shortlisted_sentence_is_translated_alike_in_every_batch(
    transformer: Transformer, config: SearchConfig
) -> None:
    few = shortlist(4)
    engine = PyTorchEngine(transformer, SPECIAL, shortlist=few)
    together = engine.search(SOURCES, config)
    small = PyTorchEngine(transformer, SPECIAL, shortlist=few, tokens_per_batch=60)
    crowded = small.search(SOURCES, config)

    free = PyTorchEngine(transformer, SPECIAL).search(SOURCES, config)
    assert [[h.ids for h in found] for found in together] != [[h.ids for h in f] for f in free]
    for i, source in enumerate(SOURCES):
        alone = engine.search([source], config)[0]
        for found in (together[i], crowded[i]):
            assert [h.ids for h in found] == [h.ids for h in alone]
            assert [h.score for h in found] == pytest.approx([h.score for h in alone], abs=1e-5)
        for hypothesis in alone:
            assert set(hypothesis.ids) <= set(few.tokens(source))


@pytest.fixture(scope="module")
def usual_transformer() -> Transformer:
    """Heads as wide as those of the presets; smaller products are computed in another way."""
    config = TransformerConfig(
        d_model=64, d_ff=96, num_heads=2, num_encoder_layers=2, num_decoder_layers=2
    )
    model = Transformer(config, source_vocab_size=300, target_vocab_size=300, padding_id=0)
    with torch.no_grad():
        model.projection.linear.weight.mul_(3.0)
        model.projection.linear.weight[SPECIAL.eos] += 0.3
    return model


def of_many_lengths() -> list[list[int]]:
    chance = random.Random(7)
    return [[chance.randrange(4, 300) for _ in range(n)] for n in (*range(1, 40, 5), 2, 3, 1)]


@pytest.mark.skipif(
    not torch.backends.mkl.is_available(), reason="other libraries add up in ways of their own"
)
@pytest.mark.parametrize("rows_together", [None, 20, 128])
@pytest.mark.parametrize("config", [*SEARCHES, replace(LONG, beam_size=5, max_length_ratio=0.5)])
def test_in_single_precision_scores_are_the_same_to_the_bit_in_every_batch(
    monkeypatch: pytest.MonkeyPatch,
    usual_transformer: Transformer,
    config: SearchConfig,
    rows_together: int | None,
) -> None:
    """Without a shortlist, and with one."""
    monkeypatch.setattr("dragoman.decoding.shortlisted.ROWS_TOGETHER", rows_together)
    few = None if rows_together is None else shortlist(25, vocab_size=300)
    engine = PyTorchEngine(usual_transformer, SPECIAL, shortlist=few)
    sources = of_many_lengths()
    alone = [engine.search([source], config)[0] for source in sources]
    chance = random.Random(1)
    for size in (2, 5, 16):
        order = chance.sample(range(len(sources)), len(sources))
        for begin in range(0, len(order), size):
            group = order[begin : begin + size]
            together = engine.search([sources[i] for i in group], config)
            assert together == [alone[i] for i in group]


@pytest.mark.skipif(
    not torch.backends.mkl.is_available(), reason="other libraries add up in ways of their own"
)
def test_in_single_precision_translations_are_judged_the_same_to_the_bit_in_every_batch(
    usual_transformer: Transformer,
) -> None:
    engine, sources = PyTorchEngine(usual_transformer, SPECIAL), of_many_lengths()
    targets = sources[::-1]
    together = engine.log_probabilities(sources, targets)
    for i in range(len(sources)):
        assert engine.log_probabilities([sources[i]], [targets[i]]) == [together[i]]


@pytest.mark.parametrize("bias", [False, True])
def test_a_shortlist_of_the_whole_vocabulary_changes_nothing(bias: bool) -> None:
    config = TransformerConfig(
        d_model=12,
        d_ff=20,
        num_heads=2,
        num_encoder_layers=1,
        num_decoder_layers=1,
        projection_bias=bias,
        tied_embeddings="none",
    )
    model = Transformer(config, source_vocab_size=VOCAB, target_vocab_size=VOCAB, padding_id=0)
    if bias:
        torch.nn.init.normal_(model.projection.linear.bias)
    everything = PyTorchEngine(model, SPECIAL, shortlist=shortlist(VOCAB))
    sources = [[4, 5, 6], [4] * 9]
    for config_of_search in SEARCHES:
        found = everything.search(sources, config_of_search)
        expected = PyTorchEngine(model, SPECIAL).search(sources, config_of_search)
        for ours, theirs in zip(found, expected, strict=True):
            assert [h.ids for h in ours] == [h.ids for h in theirs]
            assert [h.score for h in ours] == pytest.approx([h.score for h in theirs], abs=1e-5)


def test_ways_to_go_on_are_those_of_the_whole_vocabulary(transformer: Transformer) -> None:
    """Each is demanded then, and goes on with tokens of the list."""
    few = shortlist(1)
    engine = PyTorchEngine(transformer, SPECIAL, shortlist=few)
    config, prefix = SEARCHES[0], (33,)
    ways = engine.continue_in_ways([9, 10], prefix, config, count=5)
    free = PyTorchEngine(transformer, SPECIAL).continue_in_ways([9, 10], prefix, config, count=5)
    assert [way.ids[:2] for way in ways] == [way.ids[:2] for way in free]
    for way in ways:
        assert set(way.ids[2:]) <= {*few.tokens([9, 10]), *way.ids[:2]}


@pytest.mark.parametrize("config", SEARCHES[:2])
def test_the_ways_to_go_on_begin_with_the_most_probable_tokens(
    transformer: Transformer, config: SearchConfig
) -> None:
    engine, prefix = PyTorchEngine(transformer, SPECIAL), (33,)
    ways = engine.continue_in_ways([9, 10], prefix, config, count=4)

    transformer.eval()
    logits = transformer(torch.tensor([[9, 10, SPECIAL.eos]]), torch.tensor([[SPECIAL.bos, 33]]))
    order = logits[0, -1].argsort(descending=True).tolist()
    allowed = [token for token in order if token > max(SPECIAL.eos, SPECIAL.unk)]
    assert [way.ids[:2] for way in ways] == [(33, token) for token in allowed[:4]]
    for way in ways:
        ((again, *_),) = engine.search([[9, 10]], config, prefixes=[way.ids[:2]])
        assert again.ids == way.ids
        assert again.score == pytest.approx(way.score, abs=1e-5)


def test_there_are_no_more_ways_to_go_on_than_tokens(transformer: Transformer) -> None:
    engine = PyTorchEngine(transformer, SPECIAL)

    ways = engine.continue_in_ways([9, 10], (33,), SEARCHES[0], count=10_000)

    assert (
        1
        < len({way.ids[1] for way in ways})
        == len(ways)
        < len(transformer.target_embeddings.table.weight)
    )


@pytest.mark.parametrize("config", SEARCHES)
def test_the_reported_probability_is_that_of_the_whole_model_at_once(
    transformer: Transformer, config: SearchConfig
) -> None:
    found = PyTorchEngine(transformer, SPECIAL).search(SOURCES, config)

    transformer.eval()
    for source, hypotheses in zip(SOURCES, found, strict=True):
        if not source:
            continue
        for hypothesis in hypotheses:
            target = [*hypothesis.ids, *[SPECIAL.eos] * hypothesis.finished]
            logits = transformer(
                torch.tensor([[*source, SPECIAL.eos]]), torch.tensor([[SPECIAL.bos, *target[:-1]]])
            )
            expected = logits[0].log_softmax(-1)[range(len(target)), target]
            assert hypothesis.token_log_probabilities == pytest.approx(expected.tolist(), abs=1e-4)
            assert hypothesis.log_probability == pytest.approx(expected.sum().item(), abs=1e-4)
            (judged,) = PyTorchEngine(transformer, SPECIAL).log_probabilities(
                [source], [hypothesis.ids]
            )
            assert judged[: len(target)] == pytest.approx(expected.tolist(), abs=1e-4)
            assert len(judged) == len(hypothesis.ids) + 1


def test_many_states_are_judged_as_few_are(
    transformer: Transformer, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = PyTorchEngine(transformer, SPECIAL)
    targets = [[4 + i % 5] * (i + 1) for i in range(len(SOURCES))]
    at_once = engine.log_probabilities(SOURCES, targets)

    monkeypatch.setattr("dragoman.engines.pytorch.STATES_JUDGED_AT_ONCE", 3)
    for few, many in zip(engine.log_probabilities(SOURCES, targets), at_once, strict=True):
        assert few == pytest.approx(many, abs=1e-5)


def test_in_half_precision_a_translation_is_judged_in_single_precision(
    transformer: Transformer,
) -> None:
    engine = PyTorchEngine(transformer, SPECIAL, dtype=torch.bfloat16)
    (judged,) = engine.log_probabilities([[9, 10]], [[5, 6, 7]])

    values = torch.tensor(judged)
    assert not torch.equal(values.bfloat16().float(), values)


def test_a_sentence_without_tokens_gets_an_empty_translation(transformer: Transformer) -> None:
    engine = PyTorchEngine(transformer, SPECIAL)

    assert engine.search([[], []], SearchConfig()) == [[EMPTY], [EMPTY]]
    assert engine.search([], SearchConfig()) == []
    assert engine.continue_in_ways([], (6,), SEARCHES[0], count=3) == [EMPTY]
    assert EMPTY.finished
    assert EMPTY.score == EMPTY.log_probability == 0.0
    assert engine.search(SOURCES, SEARCHES[1])[SOURCES.index([])] == [EMPTY]
    begun = engine.search([[], [5]], SEARCHES[1], prefixes=[(6,), (6,)])
    assert begun[0] == [EMPTY]
    assert begun[1][0].ids[0] == 6


def test_nothing_as_the_translation_of_nothing_is_judged_by_its_end(
    transformer: Transformer,
) -> None:
    engine = PyTorchEngine(transformer, SPECIAL)

    (nothing,) = engine.log_probabilities([[]], [[]])

    assert [value < 0 for value in nothing] == [True]


def test_the_length_limit_is_each_sentences_own(transformer: Transformer) -> None:
    with torch.no_grad():
        transformer.projection.linear.weight[SPECIAL.eos] = 0.0
        transformer.projection.linear.weight.mul_(10.0)
    config = SearchConfig(beam_size=2, max_length_ratio=1.0, max_length_extra=3)

    found = PyTorchEngine(transformer, SPECIAL).search(SOURCES, config)

    for source, (hypothesis,) in zip(SOURCES, found, strict=True):
        if not hypothesis.finished:
            assert len(hypothesis.ids) == len(source) + 3
    assert not all(hypothesis.finished for (hypothesis,) in found)


def test_searching_leaves_a_model_in_training_as_it_was(transformer: Transformer) -> None:
    transformer.train()
    transformer.encoder.eval()  # as one that is frozen
    weights = [parameter.clone() for parameter in transformer.parameters()]
    engine = PyTorchEngine(transformer, SPECIAL, dtype=torch.bfloat16)

    engine.search(SOURCES, SEARCHES[1])
    PyTorchEngine(transformer, SPECIAL).search(SOURCES, SEARCHES[1])

    # What is in there is kept in memory.
    assert not engine_module._SEARCHES
    assert not engine_module._IN_TRAINING
    assert all(part.training for part in transformer.decoder.modules())
    assert not any(part.training for part in transformer.encoder.modules())
    assert transformer.training
    assert all(
        before.dtype == after.dtype and torch.equal(before, after)
        for before, after in zip(weights, transformer.parameters(), strict=True)
    )


def test_a_thread_that_is_done_does_not_switch_dropout_on_for_another(
    transformer: Transformer,
) -> None:
    engine, this_thread = PyTorchEngine(transformer.train(), SPECIAL), current_thread()
    begun, this_is_done = Event(), Event()
    running: list[Future[Any]] = []
    has_dropout: list[bool] = []

    def look(*_: object) -> None:
        if current_thread() is this_thread:
            running.append(beside.submit(engine.search, SOURCES[:1], SEARCHES[0]))
            assert begun.wait(60)
        else:
            begun.set()
            assert this_is_done.wait(60)
            has_dropout.append(transformer.training)

    transformer.encoder.register_forward_pre_hook(look)
    with ThreadPoolExecutor(1) as beside:
        engine.search(SOURCES[:1], SEARCHES[0])
        this_is_done.set()
        running[0].result()

    assert has_dropout == [False]
    assert transformer.training


def test_dropout_is_off_while_a_model_in_training_is_searched(transformer: Transformer) -> None:
    expected = PyTorchEngine(transformer.eval(), SPECIAL).search(SOURCES, SEARCHES[1])

    transformer.train()

    assert PyTorchEngine(transformer, SPECIAL).search(SOURCES, SEARCHES[1]) == expected


def test_tokens_that_are_not_forbidden_may_be_produced(transformer: Transformer) -> None:
    with torch.no_grad():
        transformer.projection.linear.weight[SPECIAL.unk] = (
            100 * transformer.projection.linear.weight[20]
        )
    free = PyTorchEngine(transformer, SPECIAL, forbidden_ids=(SPECIAL.pad, SPECIAL.bos))
    strict = PyTorchEngine(transformer, SPECIAL)

    def produced(engine: PyTorchEngine) -> set[int]:
        found = engine.search(SOURCES, SearchConfig(beam_size=4, n_best=4, **SHORT))
        return {token for hypotheses in found for h in hypotheses for token in h.ids}

    assert SPECIAL.unk in produced(free)
    assert not {SPECIAL.pad, SPECIAL.bos, SPECIAL.unk} & produced(strict)


def test_an_unknown_word_is_on_every_shortlist_unless_it_is_forbidden(
    transformer: Transformer,
) -> None:
    with torch.no_grad():
        transformer.projection.linear.weight[SPECIAL.unk] = (
            100 * transformer.projection.linear.weight[20]
        )
    few, forbidden = shortlist(1), (SPECIAL.pad, SPECIAL.bos)
    engine = PyTorchEngine(transformer, SPECIAL, forbidden_ids=forbidden, shortlist=few)

    found = engine.search(SOURCES, SearchConfig(beam_size=4, n_best=4, **SHORT))

    assert all(SPECIAL.unk not in few.tokens(source) for source in SOURCES)
    assert SPECIAL.unk in {token for hypotheses in found for h in hypotheses for token in h.ids}


def test_a_device_that_is_not_there_is_named() -> None:
    assert choose_device("cpu") == torch.device("cpu")
    with pytest.raises(UsageError, match="device 'toaster': write auto, cpu, cuda or cuda:N"):
        choose_device("toaster")
    with pytest.raises(DragomanError, match="device 'cuda:99': PyTorch finds no"):
        choose_device("cuda:99")


def test_training_and_translating_refuse_a_device_in_the_same_words() -> None:
    def refusal(choose: Callable[[str], torch.device], name: str) -> str:
        with pytest.raises(DragomanError) as refused:
            choose(name)
        return str(refused.value)

    names = ["toaster"] if torch.cuda.is_available() else ["toaster", "cuda", "cuda:3"]
    for name in names:
        assert refusal(choose_device, name) == refusal(distributed.device_of_process, name)


def test_a_gpu_is_given_more_texts_at_once(transformer: Transformer) -> None:
    engine = PyTorchEngine(transformer, SpecialIds())
    assert engine.texts_at_once == TEXTS_AT_ONCE
    engine.device = torch.device("cuda", 1)  # as if it were there
    assert engine.texts_at_once == TEXTS_AT_ONCE_ON_GPU


@pytest.mark.parametrize(
    ("config", "given", "in_cache", "expected"),
    [
        (SearchConfig(beam_size=1), None, 2**13, 2**13),
        (SearchConfig(beam_size=1), None, 2**10, 2**13),  # as ever, though not all stay there
        (SearchConfig(), None, 2**10, 2**11),
        (SearchConfig(), None, 2**12, 2**12),
        (SearchConfig(), None, 2**16, 2**13),
        (SearchConfig(beam_size=8), None, 2**16, 2**12),
        (SearchConfig(sampling_temperature=1.0, n_best=8), None, 2**16, 2**12),
        (SearchConfig(), 2**10, 2**16, 2**8),  # no more than was asked for
    ],
)
def test_a_cpu_has_more_sentences_at_once_if_its_cache_holds_them(
    transformer: Transformer,
    monkeypatch: pytest.MonkeyPatch,
    config: SearchConfig,
    given: int | None,
    in_cache: int,
    expected: int,
) -> None:
    bytes_per_token = 2 * 2 * 12 * 4  # keys and values, blocks, d_model, float32
    monkeypatch.setattr(engine_module, "CACHE", in_cache * bytes_per_token)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)  # several share what there is
    engine, asked = PyTorchEngine(transformer, SPECIAL, tokens_per_batch=given), []

    def pose(sources: Sequence[Sequence[int]], *rest: object) -> object:
        asked.append(sum(len(source) + 1 for source in sources))
        raise ValueError("it is known how many are searched at once")

    monkeypatch.setattr(engine, "_pose", pose)
    with pytest.raises(ValueError, match="how many are searched at once"):
        engine.search([[5] * 31] * 20 * (expected // 32), config)

    assert asked == [expected]


def test_each_member_of_an_ensemble_keeps_keys_and_values_of_its_own(
    transformer: Transformer,
) -> None:
    of_one = PyTorchEngine(transformer, SPECIAL)._tokens_in_cache

    assert PyTorchEngine(Ensemble([transformer] * 2), SPECIAL)._tokens_in_cache == of_one // 2


def test_a_batch_that_does_not_fit_into_the_memory_of_a_gpu_is_searched_in_halves(
    transformer: Transformer, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = PyTorchEngine(transformer, SPECIAL)
    sources = [[5, 6, 7], [8], [], [9, 5], [6], [7, 7]]
    expected = engine.search(sources, LONG)
    pose, asked = engine._pose, []

    def pose_two(sources: Sequence[Sequence[int]], *rest: Any) -> object:
        asked.append(len(sources))
        if len(sources) > most:
            raise torch.OutOfMemoryError
        return pose(sources, *rest)

    monkeypatch.setattr(engine, "_pose", pose_two)
    most = 2
    assert engine.search(sources, LONG) == expected
    assert max(asked) == 5
    most = 1
    assert engine.search(sources, LONG) == expected
    most = 0
    with pytest.raises(torch.OutOfMemoryError):
        engine.search(sources, LONG)


def test_given_translations_that_do_not_fit_into_the_memory_of_a_gpu_are_scored_in_halves(
    transformer: Transformer, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = PyTorchEngine(transformer, SPECIAL)
    sources = [[5, 6, 7], [8] * 40, [], [9, 5], [6]]
    translations = [[7], [], [4] * 50, [9, 5, 8], [6, 6]]
    expected = engine.log_probabilities(sources, translations)
    states, asked = transformer.states, []

    def states_of_two(source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        asked.append(len(source))
        if len(source) > most:
            raise torch.OutOfMemoryError
        return states(source, target)

    monkeypatch.setattr(transformer, "states", states_of_two)
    most = 2
    found = engine.log_probabilities(sources, translations)
    for values, before in zip(found, expected, strict=True):
        assert values == pytest.approx(before, abs=1e-5)
    assert max(asked) == 5
    most = 0
    with pytest.raises(torch.OutOfMemoryError):
        engine.log_probabilities(sources, translations)
