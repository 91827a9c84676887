"""Phrases with an engine that cannot be required to produce them."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import NamedTuple

from dragoman.batched import batched
from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.phrase import Phrase
from dragoman.engines.protocol import Engine

DRAFTS = 4
"""How many drafts of a sentence are finished after each phrase."""

MOST_PHRASES = 4
"""Of a sentence; each further one is tried at every place in every draft."""

SENTENCES_AT_ONCE = 64
"""A phrase is tried behind every word of each of them."""

WAYS = 32
"""Tokens that are tried behind a phrase if the most probable one would continue its last word."""


class _Draft(NamedTuple):
    """The beginning of a translation, which ends with a phrase once there is one."""

    sentence: int
    beginning: tuple[int, ...]
    missing: tuple[Phrase, ...]
    num_inserted: int = 0
    """Tokens of the phrase."""

    not_before: frozenset[int] = frozenset()
    """Tokens that may not follow."""

    def goes_on_well(self, found: Hypothesis) -> bool:
        """Tell whether a translation that begins like this leaves the phrase as it is."""
        return self.not_before.isdisjoint(found.ids[len(self.beginning) :][:1])


def search_with_drafts(
    engine: Engine,
    sources: Sequence[Sequence[int]],
    config: SearchConfig,
    required: Sequence[Sequence[Phrase]],
    prefixes: Sequence[Sequence[int]],
) -> list[list[Hypothesis]]:
    """Look for translations that have phrases, as an engine that knows phrases does.

    What the engine finds by itself is broken off wherever a missing phrase may stand. Where the
    phrase is most probable, it is written, and the engine goes on from there, greedily: a beam
    found no better translations and took twice as long (`benchmarks/terms.md`). Further phrases
    come behind it, but each of them is also tried as the first.

    Phrases end within the tokens that a translation may have, but for those that a search adds at
    the least behind what it is given, or within half of all.

    Returns:
        All that was found of each sentence, the best first; nothing if a phrase fits nowhere.
    """
    greedy = replace(config, beam_size=1, patience=1, n_best=1)
    found: list[list[Hypothesis]] = []
    for block in batched(zip(sources, required, prefixes, strict=True), SENTENCES_AT_ONCE):
        found += _search_block(engine, greedy, *zip(*block, strict=True))
    return found


def _search_block(
    engine: Engine,
    greedy: SearchConfig,
    sources: Sequence[Sequence[int]],
    required: Sequence[Sequence[Phrase]],
    prefixes: Sequence[Sequence[int]],
) -> list[list[Hypothesis]]:
    """Do so for a few sentences."""
    found: list[list[Hypothesis]] = [[] for _ in sources]
    lengths = [greedy.max_length(*map(len, pair)) for pair in zip(sources, prefixes, strict=True)]
    drafts = [
        _Draft(sentence, tuple(prefix), tuple(phrases[:MOST_PHRASES]))
        for sentence, (prefix, phrases) in enumerate(zip(prefixes, required, strict=True))
    ]
    while drafts:
        further: list[_Draft] = []
        for draft, best in zip(drafts, _finish(engine, sources, greedy, drafts), strict=True):
            missing = tuple(phrase for phrase in draft.missing if not _has(best.ids, phrase))
            if missing:
                length = lengths[draft.sentence]
                room = max(length // 2, length - greedy.max_length_extra)
                further += _insert(draft, best.ids, missing, room)
            else:
                found[draft.sentence].append(best)
        drafts = _most_probable(engine, sources, further)
    return [sorted(of_one, key=lambda each: -each.score) for of_one in found]


def _finish(
    engine: Engine,
    sources: Sequence[Sequence[int]],
    greedy: SearchConfig,
    drafts: Sequence[_Draft],
) -> Iterator[Hypothesis]:
    """Go on from each draft; if that continues the last word of its phrase, in another way."""
    of_drafts = [sources[draft.sentence] for draft in drafts]
    finished = engine.search(of_drafts, greedy, None, [draft.beginning for draft in drafts])
    for draft, source, (best, *_) in zip(drafts, of_drafts, finished, strict=True):
        if draft.goes_on_well(best):
            yield best
        else:
            ways = engine.continue_in_ways(source, draft.beginning, greedy, count=WAYS)
            yield next(filter(draft.goes_on_well, ways), best)


def _has(ids: tuple[int, ...], phrase: Phrase) -> bool:
    """Tell whether tokens have a phrase, and not only as part of a word."""
    return any(
        ids[start:end] == spelling.tokens
        and spelling.not_after.isdisjoint(ids[max(0, start - 1) : start])
        and phrase.not_before.isdisjoint(ids[end : end + 1])
        for spelling in phrase.spellings
        for start, end in enumerate(range(len(spelling.tokens), len(ids) + 1))
    )


def _insert(
    draft: _Draft, ids: tuple[int, ...], missing: tuple[Phrase, ...], room: int
) -> Iterator[_Draft]:
    """Write each missing phrase behind every beginning of a translation where it may stand.

    A phrase that stands behind that place is cut off, so it is required again.
    """
    given = len(draft.beginning)
    for phrase in dict.fromkeys(missing):
        others = list(draft.missing)
        others.remove(phrase)
        for end in range(given, len(ids) + 1):
            before = ids[max(0, end - 1) : end]
            if end > given and not phrase.only_behind.isdisjoint(before):
                break
            for spelling in phrase.spellings:
                beginning = (*ids[:end], *spelling.tokens)
                is_apart = spelling.not_after.isdisjoint(before) and (
                    end > given or spelling.tokens[0] not in draft.not_before
                )
                if is_apart and len(beginning) <= room:
                    yield _Draft(
                        draft.sentence,
                        beginning,
                        tuple(others),
                        num_inserted=len(spelling.tokens),
                        not_before=phrase.not_before,
                    )


def _most_probable(
    engine: Engine, sources: Sequence[Sequence[int]], drafts: Sequence[_Draft]
) -> list[_Draft]:
    """Keep a few drafts of each sentence: those where a phrase is most probable, of each in turn.

    Without turns, an easy phrase at the end would keep all others from standing before it.
    """
    judged = engine.log_probabilities(
        [sources[draft.sentence] for draft in drafts], [draft.beginning for draft in drafts]
    )
    of_phrase = {
        draft: sum(values[len(draft.beginning) - draft.num_inserted : len(draft.beginning)])
        for draft, values in zip(drafts, judged, strict=True)
    }
    num_kept: Counter[tuple[int, tuple[Phrase, ...]]] = Counter()
    ranked: defaultdict[int, list[tuple[int, _Draft]]] = defaultdict(list)
    for draft in sorted(of_phrase, key=of_phrase.__getitem__, reverse=True):
        turn = draft.sentence, draft.missing
        ranked[draft.sentence].append((num_kept[turn], draft))
        num_kept[turn] += 1
    return [
        draft
        for of_sentence in ranked.values()
        for _, draft in sorted(of_sentence, key=itemgetter(0))[:DRAFTS]
    ]
