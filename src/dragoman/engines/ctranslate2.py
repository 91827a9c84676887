"""Running a model with CTranslate2, on a CPU, without PyTorch."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import ctranslate2

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import EMPTY, Hypothesis, build_hypothesis
from dragoman.decoding.phrase import Phrase
from dragoman.device import num_cpus
from dragoman.engines.ctranslate2_copy import COPY_NAME, NUM_POSITIONS, read_config, verify
from dragoman.engines.grouping import group_by_length
from dragoman.engines.protocol import TEXTS_AT_ONCE, EngineError
from dragoman.engines.vocabulary_map import beside, mixes_up, write_vocabulary_map
from dragoman.errors import UsageError
from dragoman.model_directory import CHECKSUMS, ModelDirectory
from dragoman.tokenizers.pair import TokenizerPair

if TYPE_CHECKING:
    from dragoman.shortlist.shortlist import Shortlist

TOKENS_PER_BATCH = 1024
"""Source tokens translated together, or tokens of the longer side judged together, padding
included; more is not faster."""

_IMPOSSIBLE = -1e30  # below it are the scores of what has a token of no probability

_LENGTH_PENALTY = 1e-3  # next to none, as we rank; with 0 it would stop when the best prefix ends


class CTranslate2Engine:
    """Searches with the copy of a model that `dragoman export` has written.

    The searches are those of the PyTorch engine, so the translations are the same up to rounding:
    the copy usually has 8-bit weights. There are three differences. Forbidden tokens are removed
    before probabilities are normalised, so scores are better by the little that these had. Where
    more than `patience * beam` translations end, or reach the length limit, it chooses among the
    most probable ones. There is no sampling, because a batch would share its random numbers.

    With a shortlist sentences are translated one by one: CTranslate2 merges the lists of a batch.
    So it pays where lists are much shorter than the vocabulary. What begins with a given prefix is
    looked for in the whole vocabulary: the library confuses a prefix with tokens of other lists.
    """

    knows_phrases = False
    samples = False
    texts_at_once = TEXTS_AT_ONCE

    def __init__(
        self,
        directory: ModelDirectory,
        tokenizers: TokenizerPair,
        *,
        copy: Path | None = None,
        threads: int | None = None,
        shortlist: "Shortlist | None" = None,
    ) -> None:
        """Load the copy.

        Args:
            directory: The model.
            tokenizers: The model's own; a copy knows tokens by their spelling.
            copy: Where the copy is, if not in the model's directory.
            threads: How many compute, each on batches of its own; if not given, all processors.
            shortlist: To which tokens each translation is limited; if not given, to none.

        Raises:
            EngineError: there is no copy, or it is damaged, or it was made from other weights; or
                CTranslate2 cannot read such a shortlist.
        """
        path, description = copy or directory.path / COPY_NAME, directory.description
        config = read_config(directory, path)
        if shortlist is not None and mixes_up(description.special_ids):
            raise EngineError(
                "CTranslate2 would mix up tokens on the shortlists of a vocabulary that does not "
                "begin with its special tokens; take engine pytorch"
            )
        verify(path, config.get(CHECKSUMS, {}))
        target = tokenizers.target
        self._source_pieces = tokenizers.source.pieces(range(tokenizers.source.vocab_size))
        self._target_pieces = target.pieces(range(target.vocab_size))
        self._target_ids = {piece: i for i, piece in enumerate(self._target_pieces)}
        self._eos = description.special_ids.eos
        self._forbidden = [[piece] for piece in target.pieces(description.forbidden_ids)]
        # Tokens that may follow, the end aside; if asked for more, the library repeats some.
        self._num_ways = target.vocab_size - len({*description.forbidden_ids, self._eos})
        self._num_positions: int = config[NUM_POSITIONS]
        self._has_lists = shortlist is not None
        self.searches_at_once = threads or num_cpus()
        """Each batch is computed by one thread."""
        try:
            self._translator = self._load(path, shortlist)
        except (OSError, RuntimeError, ValueError) as error:
            raise EngineError(f"{path}: cannot be read by CTranslate2: {error}") from error

    def _load(self, copy: Path, shortlist: "Shortlist | None") -> ctranslate2.Translator:
        """Load the copy, with a shortlist if there is one.

        It is done in a thread of its own: the library tells OpenMP to give one processor to
        whatever this thread computes from then on, with PyTorch, too.
        """
        load = partial(ctranslate2.Translator, inter_threads=self.searches_at_once, intra_threads=1)
        with ThreadPoolExecutor(1) as thread:
            if shortlist is None:
                return thread.submit(load, str(copy)).result()
            listed = write_vocabulary_map(shortlist, self._source_pieces, self._target_pieces)
            with beside(copy, listed) as folder:
                return thread.submit(load, str(folder)).result()

    @property
    def name(self) -> str:
        """What computes, for reports."""
        return f"CTranslate2 {ctranslate2.__version__}, {self._translator.compute_type}, on the CPU"

    def search(
        self,
        sources: Sequence[Sequence[int]],
        config: SearchConfig,
        required: Sequence[Sequence[Phrase]] | None = None,
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Hypothesis]]:
        """Translate sentences, given as tokens without EOS; the results keep their order.

        Raises:
            UsageError: sampling is requested.
            EngineError: phrases are required, or a translation could be too long for the copy.
        """
        if required is not None:
            raise EngineError("CTranslate2 cannot be made to use given words")
        if config.samples:
            raise UsageError("CTranslate2 does not sample as Dragoman does; take engine pytorch")
        results: list[list[Hypothesis]] = [[EMPTY] for _ in sources]
        of_all = list(map(_Task, sources, prefixes or [()] * len(sources)))
        budget = 1 if self._has_lists else TOKENS_PER_BATCH
        batches = list(group_by_length([len(source) for source in sources], budget))
        running = [self._start([of_all[i] for i in batch], config) for batch in batches]
        for batch, translations in zip(batches, running, strict=True):
            for i, translation in zip(batch, translations, strict=True):
                results[i] = self._rank(of_all[i], translation.result(), config)
        return results

    def continue_in_ways(
        self, source: Sequence[int], prefix: Sequence[int], config: SearchConfig, *, count: int
    ) -> list[Hypothesis]:
        """Translate a sentence in up to `count` ways that diverge right after a prefix.

        With a beam, the library chooses how each way goes on without our length penalty.
        """
        if not source:
            return [EMPTY]
        task = _Task(source, prefix)
        (running,) = self._start(
            [task],
            config,
            num_hypotheses=min(count, self._num_ways),
            return_alternatives=True,
            use_vmap=False,
            # As in our search, to which the first token of each way belongs to its prefix.
            max_decoding_length=config.max_length(len(source), len(prefix) + 1),
        )
        return self._judge(task, running.result().hypotheses, config)

    def log_probabilities(
        self, sources: Sequence[Sequence[int]], translations: Sequence[Sequence[int]]
    ) -> list[tuple[float, ...]]:
        """Score given translations: one value for each token, and one for the end.

        Raises:
            EngineError: one is too long for the copy.
        """
        lengths = [1 + max(map(len, pair)) for pair in zip(sources, translations, strict=True)]
        self._check_positions(max(lengths, default=0))
        batches = list(group_by_length(lengths, TOKENS_PER_BATCH))  # its own see only sources
        running = [
            self._translator.score_batch(
                [self._write_source(sources[i]) for i in batch],
                [self._write(translations[i]) for i in batch],
                max_input_length=0,
                asynchronous=True,
            )
            for batch in batches
        ]
        results: list[tuple[float, ...]] = [()] * len(sources)
        for batch, judged in zip(batches, running, strict=True):
            for i, scored in zip(batch, judged, strict=True):
                results[i] = tuple(scored.result().log_probs)
        return results

    def _start(self, tasks: Sequence["_Task"], config: SearchConfig, **changed: Any) -> list[Any]:
        """Start translating a batch; its longest sentence decides how long the others may get."""
        options: dict[str, Any] = {
            "beam_size": config.beam_size,
            "patience": config.patience,
            "num_hypotheses": config.patience * config.beam_size if config.beam_size > 1 else 1,
            "length_penalty": _LENGTH_PENALTY,
            "max_input_length": 0,
            "max_decoding_length": max(_limit(task, config) for task in tasks),
            "min_decoding_length": 0,
            "suppress_sequences": self._forbidden,
            "use_vmap": self._has_lists and not any(task.prefix for task in tasks),
            "return_scores": True,
            "return_end_token": True,
            **changed,
        }
        longest_source = max(len(task.source) + 1 for task in tasks)
        self._check_positions(max(options["max_decoding_length"], longest_source))
        found: list[Any] = self._translator.translate_batch(
            [self._write_source(task.source) for task in tasks],
            [self._write(task.prefix) for task in tasks],
            asynchronous=True,
            **options,
        )
        return found

    def _check_positions(self, needed: int) -> None:
        if needed > self._num_positions:
            raise EngineError(
                f"{needed} positions may be needed, but the CTranslate2 copy has only "
                f"{self._num_positions}; take engine pytorch"
            )

    def _rank(self, task: "_Task", result: Any, config: SearchConfig) -> list[Hypothesis]:
        """Score what was found as we do; search again if the sentence's own limit is shorter."""
        if any(len(pieces) > _limit(task, config) for pieces in result.hypotheses):
            result = self._start([task], config)[0].result()
        # Where a beam has more places than there are tokens, the library repeats translations, and
        # adds some with forbidden tokens.
        possible: dict[tuple[str, ...], float] = {}
        for pieces, score in zip(result.hypotheses, result.scores, strict=True):
            if not score < _IMPOSSIBLE:
                possible.setdefault(tuple(pieces), score)
        if task.prefix:  # whose probability the library's score leaves out
            hypotheses = self._judge(task, list(possible), config)
            hypotheses += self._end_at_once(task, hypotheses, config)
        else:
            hypotheses = [
                self._score(self._read(pieces), score, config) for pieces, score in possible.items()
            ]
        hypotheses.sort(key=lambda found: (not found.finished, -found.score))
        return hypotheses[: config.n_best]

    def _judge(
        self, task: "_Task", translations: Sequence[Sequence[str]], config: SearchConfig
    ) -> list[Hypothesis]:
        """Score translations by the probability of each token, the prefix included."""
        found = list(map(self._read, translations))
        judged = self.log_probabilities(
            [task.source] * len(found), [[i for i in ids if i != self._eos] for ids in found]
        )
        return [
            build_hypothesis(ids, values[: len(ids)], eos=self._eos, config=config)
            for ids, values in zip(found, judged, strict=True)
        ]

    def _end_at_once(
        self, task: "_Task", found: Sequence[Hypothesis], config: SearchConfig
    ) -> list[Hypothesis]:
        """Return the prefix as a translation, where our search finds it and the library does not.

        Right after a prefix, the library lets a beam end only if nothing is more probable; we do if
        the end is among the first `beam_size` tokens.
        """
        prefix = tuple(task.prefix)
        if config.beam_size == 1 or any(hypothesis.ids == prefix for hypothesis in found):
            return []
        (values,) = self.log_probabilities([task.source], [prefix])
        (running,) = self._start(
            [task],
            config,
            beam_size=1,
            num_hypotheses=min(config.beam_size, self._num_ways),
            return_alternatives=True,
            max_decoding_length=len(prefix) + 1,
        )
        # Of the tokens that may follow, so the end is none of them.
        rivals = [self._read(pieces)[: len(prefix) + 1] for pieces in running.result().hypotheses]
        judged = self.log_probabilities([task.source] * len(rivals), rivals)
        if sum(of_rival[len(prefix)] > values[-1] for of_rival in judged) >= config.beam_size:
            return []
        return [build_hypothesis((*prefix, self._eos), values, eos=self._eos, config=config)]

    def _write_source(self, ids: Sequence[int]) -> list[str]:
        return [self._source_pieces[i] for i in ids]

    def _write(self, ids: Sequence[int]) -> list[str]:
        return [self._target_pieces[i] for i in ids]

    def _read(self, pieces: Sequence[str]) -> list[int]:
        try:
            return [self._target_ids[piece] for piece in pieces]
        except KeyError as error:
            raise EngineError(
                f"the copy for CTranslate2 writes {error}, which is not in the model's vocabulary; "
                "export it again"
            ) from None

    def _score(self, ids: Sequence[int], score: float, config: SearchConfig) -> Hypothesis:
        """Turn the score of the library, which divides by another penalty, into ours."""
        total = score * len(ids) ** _LENGTH_PENALTY
        found = build_hypothesis(ids, [total], eos=self._eos, config=config)
        return replace(found, token_log_probabilities=())


class _Task(NamedTuple):
    """A sentence, and what its translation begins with."""

    source: Sequence[int]
    prefix: Sequence[int]


def _limit(task: _Task, config: SearchConfig) -> int:
    """Compute how many tokens a translation may have, its end included."""
    return config.max_length(len(task.source), len(task.prefix))
