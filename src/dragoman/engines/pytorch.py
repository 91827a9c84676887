"""Running a model with PyTorch, on a CPU or a GPU."""

import copy
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from threading import Lock
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import EMPTY, Hypothesis
from dragoman.decoding.phrase import Phrase
from dragoman.decoding.problem import SearchProblem
from dragoman.decoding.search import search
from dragoman.decoding.shortlisted import search_listed
from dragoman.decoding.top_tokens import top_tokens
from dragoman.device import count_threads, without_settings_of_caller
from dragoman.engines.grouping import even_budget, group_by_length
from dragoman.engines.protocol import TEXTS_AT_ONCE, TEXTS_AT_ONCE_ON_GPU
from dragoman.engines.recorded_steps import ALONE, Compute, RecordedSteps, Recorder
from dragoman.engines.threads import for_each
from dragoman.model.decoder_state import DecoderState
from dragoman.model.ensemble import Ensemble
from dragoman.model.linear import ROWS_AT_ONCE
from dragoman.model.projection import Project, Projection
from dragoman.model.softmax import REGISTER
from dragoman.model.transformer import Transformer
from dragoman.shortlist.shortlist import Shortlist
from dragoman.tokenizers.tokenizer import SpecialIds

TOKENS_PER_BATCH = 2**13
"""Source tokens decoded together, padding and the beam's copies included."""

MOST_TIMES_AS_MANY = 4
"""A CPU takes up to so many times as many, as steps with few rows take longer for each..."""

CACHE = 3 * 2**23
"""...as long as the keys and values of the sources, which every step reads, take no more bytes."""

CACHES_PER_TOKEN = 12
"""A GPU decodes together as many tokens as its memory would hold if each took so many times the
keys and values of a position: with a `base` model in bf16 some 580,000 with 80 GB. They take about
a third of it: on an H200 a greedy search took four times as much as keys and values, one with a
beam of 4 two and a half times."""

PLACES = REGISTER
"""Sources are padded to at least this many tokens. Attention to fewer is computed by other kernels,
and a translation would depend on the other sentences in its batch."""

STATES_JUDGED_AT_ONCE = 256
"""Each has a logit for every token of the vocabulary."""

_SEARCHES: Counter[nn.Module] = Counter()
"""How many threads search with a model that is in training."""

_IN_TRAINING: dict[nn.Module, list[nn.Module]] = {}
"""The parts of each such model that were in training; others may be frozen."""

_CHANGING = Lock()
"""Whoever changes these two holds it."""

Result = TypeVar("Result")


@runtime_checkable
class Step(Protocol):
    """`Transformer.step`, or what does the same."""

    def __call__(
        self, tokens: Tensor, state: DecoderState, project: Project | None = None
    ) -> tuple[Tensor, DecoderState]:
        """Compute the logits of the tokens that follow these."""
        ...


class PyTorchEngine:
    """Searches with a `Transformer`, or with several that decide together."""

    knows_phrases = True
    samples = True
    searches_at_once = 1
    """A batch takes all processors."""

    def __init__(
        self,
        transformer: Transformer | Ensemble,
        special_ids: SpecialIds,
        *,
        dtype: torch.dtype | None = None,
        forbidden_ids: Sequence[int] | None = None,
        tokens_per_batch: int | None = None,
        shortlist: Shortlist | None = None,
    ) -> None:
        """Prepare a model for searching; the model itself is left as it is.

        Args:
            transformer: The model, which computes on the device where it is. If `dtype` asks for a
                change, a copy is made.
            special_ids: Those of its tokenizers.
            dtype: Number format of the weights and of all computation except probabilities; if not
                given, that of the model.
            forbidden_ids: Tokens that are never produced; if not given, padding, beginning and
                unknown. A vocabulary of whole words may need the unknown one.
            tokens_per_batch: More are faster and need more memory; if not given, the device
                decides.
            shortlist: Which tokens a search may produce; if not given, the whole vocabulary. It
                does not affect how given translations are scored, nor which ways to continue are
                tried.
        """
        weight = next(transformer.parameters())
        self.device = weight.device
        if dtype not in (None, weight.dtype):
            transformer = copy.deepcopy(transformer).to(dtype)
        self._transformer = transformer
        self._special_ids = special_ids
        self._alone = ALONE if self.device.type == "cuda" else nullcontext()
        self._forbidden = (
            (special_ids.pad, special_ids.bos, special_ids.unk)
            if forbidden_ids is None
            else tuple(forbidden_ids)
        )
        self._shortlist = shortlist
        self._tokens_per_batch = tokens_per_batch or _tokens_per_batch(transformer)
        device_decides = tokens_per_batch is None and self.device.type == "cpu"
        self._tokens_in_cache = CACHE // _bytes_in_cache(transformer) if device_decides else 0

    @property
    def name(self) -> str:
        """What computes, for reports."""
        dtype = str(next(self._transformer.parameters()).dtype).removeprefix("torch.")
        return f"PyTorch {torch.__version__} on {self.device}, {dtype}"

    @property
    def texts_at_once(self) -> int:
        """How many texts are worth reading ahead."""
        return TEXTS_AT_ONCE_ON_GPU if self.device.type == "cuda" else TEXTS_AT_ONCE

    def search(
        self,
        sources: Sequence[Sequence[int]],
        config: SearchConfig,
        required: Sequence[Sequence[Phrase]] | None = None,
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Hypothesis]]:
        """Translate sentences, given as tokens without EOS; the results keep their order.

        Sentences of similar length share a batch, the longest first, so that what does not fit
        into memory fails right away. Those whose prefixes differ in length do not share one. A
        batch for which a GPU has too little memory, as when others use it, is searched in halves.
        """
        budget = self._tokens_per_batch // config.width
        budget = max(budget, min(MOST_TIMES_AS_MANY * budget, self._tokens_in_cache))
        prefixes = prefixes or [()] * len(sources)

        def search_batch(batch: list[int]) -> list[list[Hypothesis]]:
            of_batch = None if required is None else [required[i] for i in batch]
            with self._alone:  # until all that was recorded is gone, too
                return self._search_batch(
                    [sources[i] for i in batch], [prefixes[i] for i in batch], of_batch, config
                )

        results: list[list[Hypothesis]] = [[EMPTY] for _ in sources]
        num_workers = count_threads() if self.device.type == "cpu" else 1
        batches = list(_batches(sources, prefixes, budget, num_workers))
        with _evaluating(self._transformer):
            found = for_each(batches, partial(_in_halves, search_batch), self.device)
            for batch, of_batch in zip(batches, found, strict=True):
                for i, hypotheses in zip(batch, of_batch, strict=True):
                    results[i] = hypotheses
        return results

    def continue_in_ways(
        self, source: Sequence[int], prefix: Sequence[int], config: SearchConfig, *, count: int
    ) -> list[Hypothesis]:
        """Translate a sentence in up to `count` ways that diverge right after a prefix."""
        if not source:
            return [EMPTY]
        with torch.inference_mode(), _evaluating(self._transformer), self._alone:
            problem = self._pose([source], [prefix], self._transformer.step)
            beginning = problem.begin(1)
            logits, _ = problem.step(beginning.tokens[..., -1], beginning.state)
            log_probabilities = problem.log_probabilities(logits)[0, 0]
            log_probabilities[problem.eos] = -math.inf
            count = min(count, int(log_probabilities.isfinite().sum()))
            _, tokens = top_tokens(log_probabilities, count)
        found = self.search(
            [source] * count, config, prefixes=[(*prefix, token) for token in tokens.tolist()]
        )
        return [hypotheses[0] for hypotheses in found]

    def log_probabilities(
        self, sources: Sequence[Sequence[int]], translations: Sequence[Sequence[int]]
    ) -> list[tuple[float, ...]]:
        """Score given translations: one value for each token, and one for the end.

        A batch for which a GPU has too little memory is scored in halves.
        """
        results: list[tuple[float, ...]] = [()] * len(sources)
        bos, eos = self._special_ids.bos, self._special_ids.eos
        lengths = [1 + max(map(len, pair)) for pair in zip(sources, translations, strict=True)]

        def judge_batch(batch: list[int]) -> list[list[float]]:
            with self._alone:
                source = self._pad([(*sources[i], eos) for i in batch])
                target = self._pad([(bos, *translations[i]) for i in batch])
                following = self._pad([(*translations[i], eos) for i in batch])
                return self._judge(self._transformer.states(source, target), following).tolist()

        with torch.inference_mode(), _evaluating(self._transformer):
            for batch in group_by_length(lengths, self._tokens_per_batch // 4):
                for i, row in zip(batch, _in_halves(judge_batch, batch), strict=True):
                    results[i] = tuple(row[: len(translations[i]) + 1])
        return results

    def _judge(
        self, states: Float[Tensor, "batch target d_model"], tokens: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target"]:
        """Return the log-probability of the token that follows each state.

        Only some states are projected at a time: all of them may have hundreds of millions of
        logits.
        """
        values = [
            self._transformer.project(part).log_softmax(dim=-1, dtype=torch.float32).gather(1, of)
            for part, of in zip(
                states.flatten(end_dim=1).split(STATES_JUDGED_AT_ONCE),
                tokens.reshape(-1, 1).split(STATES_JUDGED_AT_ONCE),
                strict=True,
            )
        ]
        return torch.cat(values).view_as(tokens)

    def _search_batch(
        self,
        sources: Sequence[Sequence[int]],
        prefixes: Sequence[Sequence[int]],
        required: Sequence[Sequence[Phrase]] | None,
        config: SearchConfig,
    ) -> list[list[Hypothesis]]:
        """Search for the translations of a batch, on the shortlist if there is one."""
        step = self._steps()
        problem = self._pose(sources, prefixes, step)
        if self._shortlist is None:
            return search(problem, config, required)
        # A model of whole words may write the unknown one, which CTranslate2 puts on every list.
        listed = [[self._special_ids.unk, *self._shortlist.tokens(source)] for source in sources]
        projection = self._transformer.projection
        assert isinstance(projection, Projection)  # an ensemble has no shortlist
        return search_listed(problem, listed, step, projection.narrow, config, required)

    def _pose(
        self, sources: Sequence[Sequence[int]], prefixes: Sequence[Sequence[int]], step: Step
    ) -> SearchProblem[DecoderState]:
        """Prepare to search for the translations of a batch of sentences."""
        return SearchProblem(
            step=step,
            state=self._transformer.start(
                self._pad([(*source, self._special_ids.eos) for source in sources])
            ),
            sources=sources,
            forced_prefixes=prefixes,
            bos=self._special_ids.bos,
            eos=self._special_ids.eos,
            forbidden=self._forbidden,
            device=self.device,
        )

    def _steps(self) -> Step:
        """Return what computes the steps of a batch."""
        if self.device.type != "cuda":
            return self._transformer.step
        return RecordedSteps(self._transformer, self._record)

    def _record(self, step: Compute) -> Compute:
        """Record a step; where even the recorder lacks memory, it is made when there is more."""
        return Recorder.of(self.device)(step)

    def _pad(self, sequences: Sequence[Sequence[int]]) -> Int[Tensor, "batch length"]:
        """Pad sequences to a multiple of `ROWS_AT_ONCE` tokens, and to at least `PLACES`."""
        longest = max(map(len, sequences))
        length = max(PLACES, longest + -longest % ROWS_AT_ONCE)
        padded = np.full((len(sequences), length), self._special_ids.pad, dtype=np.int64)
        for row, sequence in zip(padded, sequences, strict=True):
            row[: len(sequence)] = sequence
        return torch.from_numpy(padded).to(self.device)


def _tokens_per_batch(transformer: Transformer | Ensemble) -> int:
    """Choose how many tokens are decoded together."""
    device = next(transformer.parameters()).device
    if device.type != "cuda":
        return TOKENS_PER_BATCH
    memory = torch.cuda.get_device_properties(device).total_memory
    return memory // (CACHES_PER_TOKEN * _bytes_in_cache(transformer))


def _bytes_in_cache(transformer: Transformer | Ensemble) -> int:
    """Tell how much memory the keys and values of a position take."""
    config = transformer.config
    numbers = 2 * config.num_decoder_layers * config.d_model
    members = len(transformer.members) if isinstance(transformer, Ensemble) else 1
    return members * numbers * next(transformer.parameters()).element_size()


def _batches(
    sources: Sequence[Sequence[int]],
    prefixes: Sequence[Sequence[int]],
    budget: int,
    num_workers: int,
) -> Iterator[list[int]]:
    """Group the sentences that can be searched together, for some workers."""
    for length in sorted({len(prefix) for prefix in prefixes}):
        chosen = [i for i, prefix in enumerate(prefixes) if len(prefix) == length]
        # What has no source has no length, and so no place in a batch.
        lengths = [len(sources[i]) + length if sources[i] else 0 for i in chosen]
        for batch in group_by_length(lengths, even_budget(lengths, budget, num_workers)):
            yield [chosen[place] for place in batch]


def _in_halves(work: Callable[[list[int]], list[Result]], batch: list[int]) -> list[Result]:
    """Do some work on a batch, or on each half of it if a GPU has too little memory for all."""
    try:
        return work(batch)
    except torch.OutOfMemoryError:
        if len(batch) == 1:
            raise
    middle = len(batch) // 2  # here, as the error holds on to what was computed
    return _in_halves(work, batch[:middle]) + _in_halves(work, batch[middle:])


@contextmanager
def _evaluating(model: nn.Module) -> Iterator[None]:
    """Switch dropout off, and what the caller has set in PyTorch.

    If dropout was on, the last of several threads switches it back on.
    """
    with _CHANGING:
        if model.training:
            _IN_TRAINING[model] = [part for part in model.modules() if part.training]
            model.eval()
        learns = model in _IN_TRAINING
        if learns:
            _SEARCHES[model] += 1
    try:
        with without_settings_of_caller(next(model.parameters()).device):
            yield
    finally:
        if learns:
            with _CHANGING:
                _SEARCHES[model] -= 1
                if _SEARCHES[model] == 0:
                    del _SEARCHES[model]
                    for part in _IN_TRAINING.pop(model):
                        part.training = True
