"""What is traced equals what NumPy computes from the weights."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.visualisation.numpy_transformer import NumpyTransformer, Seen
from tests.visualisation.small_model import save_small_model

from dragoman.decoding.config import SearchConfig
from dragoman.model_directory import ModelDirectory
from dragoman.tokenizers.tokenizer import BOS_ID, PAD_ID
from dragoman.visualisation.shown_sentence import ExplainError
from dragoman.visualisation.stream_trace import StackTrace
from dragoman.visualisation.trace import trace_translation

SENTENCE = "the black cat sees a dog"
SEARCH = SearchConfig(beam_size=3, max_length_ratio=1.0, max_length_extra=4)


def assert_close(actual: Any, expected: Any) -> None:
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)


def in_numpy(directory: ModelDirectory) -> NumpyTransformer:
    config = directory.description.model
    weights = directory.load_transformer().state_dict()
    return NumpyTransformer(
        {name: value.numpy() for name, value in weights.items()},
        **vars(config),
        epsilon=config.layer_norm_epsilon,
    )


def assert_equal_stacks(traced: StackTrace, expected: Seen) -> None:
    np.testing.assert_allclose(traced.embedded, expected.embedded)
    assert_close(traced.positions, expected.positions)
    assert_close(traced.output, expected.output)
    assert len(traced.layers) == len(expected.streams)
    for layer, streams, added, weights in zip(
        traced.layers, expected.streams, expected.added, expected.weights, strict=True
    ):
        assert_close([each.stream for each in layer], streams)
        assert_close([each.added for each in layer], added)
        maps = [each.weights for each in layer if each.weights is not None]
        for of_layer, expected_weights in zip(maps, weights, strict=True):
            assert_close(of_layer, expected_weights)


@pytest.mark.parametrize("positions", ["interleaved", "marian", "tensor2tensor", "rotary"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm", ["before", "after"])
def test_streams_maps_and_logits_equal_those_of_numpy(
    norm: str, activation: str, positions: str, tmp_path: Path
) -> None:
    directory = save_small_model(
        tmp_path, norm=norm, activation=activation, positional_encoding=positions
    )

    trace = trace_translation(directory, SENTENCE, SEARCH)

    source, target = list(trace.source.ids), list(trace.target.ids)
    encoder, decoder, logits = in_numpy(directory)(source, target)
    assert_equal_stacks(trace.streams.encoder, encoder)
    assert_equal_stacks(trace.streams.decoder, decoder)
    assert_close(trace.streams.logits, logits)
    expected = in_numpy(directory).log_probabilities(source, target)
    assert_close(trace.log_probabilities, expected)


def test_the_decoder_is_given_what_was_found_and_predicts_it(tmp_path: Path) -> None:
    directory = save_small_model(tmp_path)

    trace = trace_translation(directory, SENTENCE, SEARCH)

    best = trace.search.hypotheses[0]
    assert trace.target.ids == (BOS_ID, *trace.predicted.ids[:-1])
    assert trace.predicted.ids[: len(best.ids)] == best.ids
    of_tokens = [
        row[i] for row, i in zip(trace.log_probabilities, trace.predicted.ids, strict=True)
    ]
    assert_close(of_tokens, best.token_log_probabilities)
    assert math.fsum(of_tokens) == pytest.approx(best.log_probability, abs=1e-4)


def test_a_translation_that_was_cut_off_has_no_end(tmp_path: Path) -> None:
    directory = save_small_model(tmp_path, end_bias=-50.0)

    trace = trace_translation(directory, SENTENCE, SEARCH)

    assert not trace.search.hypotheses[0].finished
    assert len(trace.target.ids) == len(trace.predicted.ids) == trace.search.max_length
    assert trace.predicted.ids == trace.search.hypotheses[0].ids
    assert trace.target.ids == (BOS_ID, *trace.predicted.ids[:-1])


def test_greedy_search_has_no_candidates(tmp_path: Path) -> None:
    trace = trace_translation(save_small_model(tmp_path), SENTENCE, SearchConfig(beam_size=1))

    assert trace.search.steps == ()
    for row, token in zip(trace.log_probabilities, trace.predicted.ids, strict=True):
        row[[PAD_ID, BOS_ID]] = -math.inf
        assert row.argmax() == token


def test_what_cannot_be_shown_is_refused(tmp_path: Path) -> None:
    directory = save_small_model(tmp_path)

    with pytest.raises(ExplainError, match="the sentence is blank"):
        trace_translation(directory, "  ", SEARCH)
    with pytest.raises(ExplainError, match="13 tokens and the model has seen at most 12"):
        trace_translation(directory, "cat " * 13, SEARCH)
