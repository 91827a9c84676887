"""One translation, from its text to its search: what `dragoman explain` shows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.problem import SearchProblem
from dragoman.device import without_settings_of_caller
from dragoman.model.config import TransformerConfig
from dragoman.model_directory import ModelDirectory
from dragoman.tokenizers.tokenizer import Tokenizer
from dragoman.visualisation.search_trace import SearchTrace, trace_search
from dragoman.visualisation.shown_sentence import ExplainError, encode_whole
from dragoman.visualisation.stream_trace import Array, StreamTrace, trace_streams


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """A text as the model sees it."""

    text: str
    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    """The tokens as the vocabulary writes them."""


class Prediction(NamedTuple):
    """A token as the softmax sees it."""

    piece: str
    probability: float
    log_probability: float


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What could be chosen at a position of the translation."""

    chosen: Prediction
    place: int
    """Rank of the chosen token among all, by probability, from 1."""

    others: tuple[Prediction, ...]
    """The most probable others, the best first."""


@dataclass(frozen=True, kw_only=True)
class Trace:
    """One translation, and everything that was computed on the way to it."""

    languages: tuple[str, str]
    model: TransformerConfig

    source: Tokens
    """The sentence; it ends with EOS."""

    target: Tokens
    """What the decoder was given: BOS and the translation, without its end."""

    predicted: Tokens
    """What it had to predict at each of these positions: the translation, and its end if it has
    one."""

    streams: StreamTrace
    search: SearchTrace

    ended: tuple[str, ...]
    """The texts of the translations that ended in the search, the best first."""

    vocabulary: tuple[str, ...]
    """How the target vocabulary writes each id."""

    @property
    def log_probabilities(self) -> Array:
        """For every token after each target position, of shape (positions, vocabulary)."""
        logits = torch.from_numpy(self.streams.logits).double()
        log_probabilities: Array = logits.log_softmax(dim=-1).numpy()
        return log_probabilities

    def choices(self, count: int) -> list[Choice]:
        """List what was chosen at each position, and which others are among the first `count`."""
        return [
            self._choice(token, row, count)
            for token, row in zip(self.predicted.ids, self.log_probabilities, strict=True)
        ]

    def _choice(self, token: int, row: Array, count: int) -> Choice:
        order = np.argsort(-row, kind="stable")

        def predict(i: int) -> Prediction:
            return Prediction(self.vocabulary[i], float(np.exp(row[i])), float(row[i]))

        return Choice(
            chosen=predict(token),
            place=int(np.flatnonzero(order == token)[0]) + 1,
            others=tuple(predict(i) for i in order[:count] if i != token),
        )


@without_settings_of_caller(torch.device("cpu"))
def trace_translation(directory: ModelDirectory, sentence: str, config: SearchConfig) -> Trace:
    """Translate a sentence, and record how.

    First the search is recorded. Then the model computes the best translation once more, all
    positions at once as in training, while its modules are watched.

    Raises:
        ExplainError: there is nothing to translate, or more than the model has seen, or the
            search samples tokens.
    """
    if config.samples:
        raise ExplainError("the search of this model draws tokens; only a beam can be shown")
    description, tokenizers = directory.description, directory.load_tokenizers()
    transformer, special = directory.load_transformer(), description.special_ids
    content = encode_whole(sentence, tokenizers.source, description.max_length)
    source = [*content, special.eos]
    with torch.inference_mode():
        state = transformer.start(torch.tensor([source]))
    problem = SearchProblem(
        step=transformer.step,
        state=state,
        sources=[content],
        forced_prefixes=[()],
        bos=special.bos,
        eos=special.eos,
        forbidden=description.forbidden_ids,
        device=torch.device("cpu"),
    )
    search = trace_search(problem, config)
    best = search.hypotheses[0]
    given = [special.bos, *best.ids][: len(best.token_log_probabilities)]
    predicted = [*best.ids, special.eos][: len(given)]
    target = tokenizers.target
    return Trace(
        languages=description.languages,
        model=description.model,
        source=_tokens(sentence, source, tokenizers.source),
        target=_tokens(target.decode(best.ids), given, target),
        predicted=_tokens(target.decode(best.ids), predicted, target),
        streams=trace_streams(transformer, source, given),
        search=search,
        ended=tuple(target.decode(candidate.ids) for candidate in search.ended),
        vocabulary=tuple(target.pieces(range(target.vocab_size))),
    )


def _tokens(text: str, ids: Sequence[int], tokenizer: Tokenizer) -> Tokens:
    return Tokens(text=text, ids=tuple(ids), pieces=tuple(tokenizer.pieces(ids)))
