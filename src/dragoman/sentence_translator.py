"""Sentence to translations: search, check what was found, and search again."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock
from typing import NamedTuple, NoReturn

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import EMPTY, Hypothesis
from dragoman.engines.drafts import search_with_drafts
from dragoman.engines.protocol import Engine
from dragoman.faults import find_faults
from dragoman.terms.finder import TermFinder
from dragoman.terms.phrases import Speller
from dragoman.terms.protected import cut_around
from dragoman.terms.term import FAULT_OF_GLOSSARY, FAULT_OF_PROTECTED, Term, cut_at_terms
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.translation import Alternative, badness, different_texts, join

WIDTH_OF_SECOND_SEARCH = 8
"""Beam size of the second search, where the first has found something with a fault."""

WIDTH_FOR_PHRASES = 16
"""Beam size of a search for phrases, which is divided among groups; see `docs/terms.md`."""

FEWEST_OF_PHRASES = 3
"""Translations that a search for phrases looks for, as one of them may have another fault."""

MOST_PHRASES = 12
"""Most terms of a sentence that is searched like this: with more, time grows and quality falls."""

FAULTS_OF_TERMS = frozenset({FAULT_OF_PROTECTED, FAULT_OF_GLOSSARY})
FAULTS_OF_GLOSSARY = frozenset({FAULT_OF_GLOSSARY})


class Sentence(NamedTuple):
    """A unit of translation."""

    text: str
    ids: list[int]
    after: str = ""
    """What follows it, stays as it is and is not shown to the model."""


class SentenceTranslator:
    """Translates sentences, each with the terms that it must keep.

    The requested search comes first. Most translations are good after it, and keep their terms by
    themselves. Where the best one has a fault:

    1. If the fault is about terms, a search that must produce them follows, or, if there is no
       engine for that, one with drafts that have those of the glossary and, behind a given
       beginning, what must stay. For any other fault, and if that does not help, it is a wider
       search. The best scored translation without a fault is taken.
    2. If what must stay is still changed, because no search can produce what is not in the
       vocabulary, the text around it is translated and it is put in between. If that is not
       enough either, the sentence stays as it is.
    3. Any fault that is left is reported.

    Args:
        engine: Runs the searches.
        tokenizers: Those of its model.
        terms: Finds what translations must keep.
        load_second_engine: Loads an engine that can be required to produce phrases, and can draw
            tokens, where the first one cannot; it returns None if there is none. It is called only
            when needed.
    """

    def __init__(
        self,
        engine: Engine,
        tokenizers: TokenizerPair,
        terms: TermFinder,
        load_second_engine: Callable[[], Engine | None] = lambda: None,
    ) -> None:
        self.engine = engine
        self.tokenizers = tokenizers
        self._terms = terms
        self.load_second_engine = load_second_engine
        self._loading = Lock()
        self._speller = Speller(tokenizers.target, terms)

    def __reduce__(self) -> NoReturn:
        """Say what to do instead of sending a model to another process.

        Raises:
            TypeError: it is pickled, or copied with all that it holds.
        """
        raise TypeError(
            "a translator cannot be pickled or copied; give the path of its model, and load it "
            "there"
        )

    def translate(
        self, sentences: Sequence[Sentence], search: SearchConfig
    ) -> list[list[Alternative]]:
        """Return the translations of each sentence: those without a fault first, the best first.

        What is there several times, such as a word in the cells of a table, is searched for once.

        Where tokens are drawn, these are all samples in the order drawn, duplicates included; the
        k-th of one sentence has nothing to do with the k-th of another.
        """
        keys = [place if search.samples else s.text for place, s in enumerate(sentences)]
        distinct = dict(zip(keys, sentences, strict=True))
        task_of = {
            key: _Task(s.text, s.ids, self._terms.find(s.text)) for key, s in distinct.items()
        }
        tasks = list(task_of.values())
        engine = self._engine_for(search)
        self._look_at_all(tasks, engine.search([task.ids for task in tasks], search))
        if not search.samples:
            self._search_again(tasks, search)
            self._translate_around(tasks, search)
        return [task_of[key].found for key in keys]

    def complete(
        self, sentence: Sentence, prefix: Sequence[int], search: SearchConfig
    ) -> list[Alternative]:
        """Return the translations that begin with a prefix, as `translate` does."""
        task = _Task(sentence.text, sentence.ids, self._terms.find(sentence.text), tuple(prefix))
        engine = self._engine_for(search)
        self._look_at_all([task], engine.search([task.ids], search, None, [prefix]))
        if not search.samples:
            self._search_again([task], search, drafts_for=FAULTS_OF_TERMS)
        return task.found

    def continue_in_ways(
        self, sentence: Sentence, prefix: Sequence[int], search: SearchConfig, *, count: int
    ) -> list[Alternative]:
        """Return one translation for each of up to `count` tokens that could follow a prefix.

        Nothing is drawn, whatever the search settings say.

        Raises:
            ValueError: the count is not positive.
        """
        if count < 1:
            raise ValueError(f"count={count} should be 1 or more")
        search = search.without_sampling()
        text, ids = sentence.text, sentence.ids
        ways = self.engine.continue_in_ways(ids, prefix, search, count=count)
        terms = self._terms.find(text)
        tasks = [_Task(text, ids, terms, way.ids[: len(prefix) + 1]) for way in ways]
        self._look_at_all(tasks, [[way] for way in ways])
        self._search_again(tasks, search)
        return [task.best for task in tasks]

    def _look_at_all(self, tasks: list["_Task"], hypotheses: list[list[Hypothesis]]) -> None:
        """Decode all hypotheses into text, and look for faults in them."""
        for task, of_task in zip(tasks, hypotheses, strict=True):
            task.found = [self._look_at(task, hypothesis) for hypothesis in of_task or [EMPTY]]

    def _search_again(
        self,
        tasks: list["_Task"],
        search: SearchConfig,
        *,
        drafts_for: frozenset[str] = FAULTS_OF_GLOSSARY,
    ) -> None:
        """Search for other translations where the best one has a fault.

        Without an engine for phrases, drafts are written for those terms whose faults are named:
        what must stay is put in place in a fraction of the time, where it can be, and would take
        many ways to go on too long.
        """
        lacking = list(filter(self._asks_for_phrases, tasks))
        if lacking:
            self._search_for_phrases(lacking, search, drafts_for)
        if faulty := [task for task in tasks if task.best.faults]:
            width = max(search.beam_size, WIDTH_OF_SECOND_SEARCH)
            wider = replace(search, beam_size=width, n_best=width)
            others = self.engine.search(
                [task.ids for task in faulty], wider, None, [task.prefix for task in faulty]
            )
            self._add(faulty, others)
        for task in tasks:
            task.found = sorted(different_texts(task.found), key=badness)[: search.n_best]

    def _search_for_phrases(
        self, lacking: list["_Task"], search: SearchConfig, drafts_for: frozenset[str]
    ) -> None:
        """Require the terms that some translations lack, except those that their prefix has."""
        engine = self._engine_for_phrases()
        if engine is None:
            lacking = [task for task in lacking if not drafts_for.isdisjoint(task.best.faults)]
        ids, prefixes = [task.ids for task in lacking], [task.prefix for task in lacking]
        required = [
            [
                self._speller.spell(term, task.text)
                for term in self._still_missing(task)
                if engine is not None or self._lacks(task, term, drafts_for)
            ]
            for task in lacking
        ]
        if engine is None:
            others = search_with_drafts(self.engine, ids, search, required, prefixes)
        else:
            for_phrases = replace(
                search,
                beam_size=max(search.beam_size, WIDTH_FOR_PHRASES),
                n_best=max(search.n_best, FEWEST_OF_PHRASES),
            )
            others = engine.search(ids, for_phrases, required, prefixes)
        self._add(lacking, others)

    def _lacks(self, task: "_Task", term: Term, faults: frozenset[str]) -> bool:
        """Tell whether the best translation lacks a term, and that is one of the faults."""
        return not faults.isdisjoint(self._terms.find_faults([term], task.best.text))

    def _still_missing(self, task: "_Task") -> list[Term]:
        """List the terms that the prefix of a translation does not have yet."""
        begun = self.tokenizers.target.decode(task.prefix)
        written = Counter(term.key for term in self._terms.find_protected(begun))
        missing = []
        for term in task.terms:
            if written[term.key]:
                written[term.key] -= 1
            elif term.kind != "glossary" or FAULT_OF_GLOSSARY in self._terms.find_faults(
                [term], begun
            ):
                missing.append(term)
        return missing

    def _asks_for_phrases(self, task: "_Task") -> bool:
        """Tell whether a search for phrases may help without taking forever.

        A model that is forced to produce tokens that it has never read does not recover.
        """
        if FAULTS_OF_TERMS.isdisjoint(task.best.faults) or len(task.terms) > MOST_PHRASES:
            return False
        return not any(
            term.kind in ("foreign", "picture")
            or (term.kind in ("code", "sign") and not self._speller.knows(term))
            for term in task.terms
        )

    def _add(self, tasks: list["_Task"], others: list[list[Hypothesis]]) -> None:
        """Add translations to those that were found: each text once, the fewest faults first."""
        for task, hypotheses in zip(tasks, others, strict=True):
            looked_at = [self._look_at(task, hypothesis) for hypothesis in hypotheses]
            task.found = sorted(different_texts([*task.found, *looked_at]), key=badness)

    def _translate_around(self, tasks: list["_Task"], search: SearchConfig) -> None:
        """Put back the terms that are still changed, and translate the text between them."""
        chosen = [task for task in tasks if FAULT_OF_PROTECTED in task.best.faults]
        cut = [(task, cut_around(task.text, task.terms)) for task in chosen]
        cut = [(task, pieces) for task, pieces in cut if len(pieces) > 1]
        texts = [text for _, pieces in cut for text in pieces[::2] if _has_word(text)]
        encoded = self.tokenizers.source.encode_batch(texts)
        sentences = list(map(Sentence, texts, encoded))
        translations = iter(self.translate(sentences, search) if sentences else ())
        for task, pieces in cut:
            translated = [next(translations)[0] for text in pieces[::2] if _has_word(text)]
            joined = self._put_together(task, pieces, translated)
            beside = "".join(cut_at_terms(task.text, task.terms)[::2])
            if FAULT_OF_PROTECTED in joined.faults or (_has_word(beside) and not translated):
                joined = self._leave_as_it_is(task, search)
            task.found = [joined, *task.found][: search.n_best]

    def _put_together(
        self, task: "_Task", pieces: list[str], translated: list[Alternative]
    ) -> Alternative:
        """Replace pieces of a sentence by their translations."""
        texts = iter(piece.text for piece in translated)
        whole = "".join(
            text.replace(text.strip(), next(texts)) if place % 2 == 0 and _has_word(text) else text
            for place, text in enumerate(pieces)
        ).strip()
        joined = join(translated, whole)
        faults = (*joined.faults, *self._terms.find_faults(task.terms, whole))
        return replace(joined, parts=(whole,), faults=tuple(dict.fromkeys(faults)))

    def _leave_as_it_is(self, task: "_Task", search: SearchConfig) -> Alternative:
        """Give up, and score the sentence as its own translation.

        The model is asked about no more tokens than a translation may have.
        """
        text = task.text.strip()
        ids = self.tokenizers.target.encode(text)[: search.max_length(len(task.ids)) - 1]
        (values,) = self.engine.log_probabilities([task.ids], [ids])
        log_probability = math.fsum(values)
        return Alternative(
            text=text,
            parts=(text,),
            score=log_probability / search.penalty(len(values)),
            log_probability=log_probability,
            num_tokens=len(values),
            finished=True,
            faults=("copies the source",),
        )

    def _look_at(self, task: "_Task", hypothesis: Hypothesis) -> Alternative:
        """Decode a hypothesis into text, and look for faults in it."""
        text = self.tokenizers.target.decode(hypothesis.ids)
        faults = find_faults(
            task.text,
            text,
            source_ids=task.ids,
            translation_ids=hypothesis.ids,
            languages=self._terms.languages,
        )
        return Alternative(
            text=text,
            parts=(text,),
            score=hypothesis.score,
            log_probability=hypothesis.log_probability,
            num_tokens=len(hypothesis.ids) + hypothesis.finished,
            finished=hypothesis.finished,
            faults=faults + self._terms.find_faults(task.terms, text),
        )

    def _engine_for(self, search: SearchConfig) -> Engine:
        """Return an engine that can do what a search asks for, or the first one, which refuses."""
        if search.samples and not self.engine.samples:
            return self._get_second_engine() or self.engine
        return self.engine

    def _engine_for_phrases(self) -> Engine | None:
        """Return the engine that can be required to produce phrases, if there is one."""
        return self.engine if self.engine.knows_phrases else self._get_second_engine()

    def _get_second_engine(self) -> Engine | None:
        with self._loading:  # only one of several threads loads it
            return self._second_engine

    @cached_property
    def _second_engine(self) -> Engine | None:
        return self.load_second_engine()


@dataclass
class _Task:
    """A sentence, the terms that its translation must keep, and what was found so far."""

    text: str
    ids: list[int]
    terms: list[Term]
    prefix: tuple[int, ...] = ()
    """What its translation begins with."""

    found: list[Alternative] = field(default_factory=list)
    """At least one translation, once there was a search; the best one first."""

    @property
    def best(self) -> Alternative:
        return self.found[0]


def _has_word(text: str) -> bool:
    return any(map(str.isalpha, text))
