"""Run an ONNX export as others would, with onnxruntime and numpy."""

import json
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from dragoman.device import num_cpus
from dragoman.interop.onnx_graphs import DECODER_NAME, ENCODER_NAME
from dragoman.interop.proof import LENGTH_LIMIT, Pair, pick
from dragoman.interop.staging import CONFIG_NAME

Array = np.ndarray[Any, Any]


class OnnxCopy:
    """A `Copy` that onnxruntime runs, with nothing but what is in its directory."""

    def __init__(self, directory: Path) -> None:
        config = json.loads((directory / CONFIG_NAME).read_bytes())
        self._special: dict[str, int] = config["special_ids"]
        self._forbidden: list[int] = config["forbidden_ids"]
        self._cache_shape = (config["num_layers"], config["num_heads"], config["d_k"])
        self._encoder, self._decoder = (
            onnxruntime.InferenceSession(directory / name, _options())
            for name in (ENCODER_NAME, DECODER_NAME)
        )

    def translate(self, sources: Sequence[Sequence[int]]) -> list[list[int]]:
        """Decode all in one batch, token by token."""
        source = self._pad([[*source, self._special["eos"]] for source in sources])
        memory = self._encoder.run(None, {"source": source})
        past = self._nothing(len(sources))
        tokens = [np.full(len(sources), self._special["bos"])]
        for _ in range(LENGTH_LIMIT):
            log_probabilities, *past = self._step(tokens[-1][:, None], source, memory, past)
            log_probabilities[:, :, self._forbidden] = -np.inf
            tokens.append(log_probabilities[:, -1].argmax(axis=-1))
        eos = self._special["eos"]
        return [
            list(takewhile(lambda token: token != eos, row))
            for row in np.stack(tokens[1:], axis=1).tolist()
        ]

    def score(self, pairs: Sequence[Pair]) -> list[list[float]]:
        """Score one pair after the other, each translation in one step."""
        scores = []
        for sentence, target in pairs:
            source = np.array([[*sentence, self._special["eos"]]])
            prefix = np.array([[self._special["bos"], *target]])
            memory = self._encoder.run(None, {"source": source})
            log_probabilities, *_ = self._step(prefix, source, memory, self._nothing(1))
            scores.append(pick(log_probabilities[0], [*target, self._special["eos"]]))
        return scores

    def _step(
        self, tokens: Array, source: Array, memory: Sequence[Array], past: Sequence[Array]
    ) -> list[Array]:
        """Return log-probabilities, keys and values."""
        outputs: list[Array] = self._decoder.run(
            None,
            {
                "tokens": tokens,
                "source": source,
                **dict(zip(("source_keys", "source_values"), memory, strict=True)),
                **dict(zip(("past_keys", "past_values"), past, strict=True)),
            },
        )
        return outputs

    def _nothing(self, batch: int) -> list[Array]:
        """Make the empty past of a translation that has not begun."""
        num_layers, num_heads, d_k = self._cache_shape
        return 2 * [np.zeros((num_layers, batch, num_heads, 0, d_k), np.float32)]

    def _pad(self, rows: Sequence[Sequence[int]]) -> Array:
        longest = max(map(len, rows))
        return np.array([[*row, *[self._special["pad"]] * (longest - len(row))] for row in rows])


def _options() -> Any:
    """Use no more threads than there are processors for us."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = num_cpus()
    return options
