"""Put a plan together: choose, rehearse, and fit the length of the training to the time."""

import hashlib
import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import tomli_w
import torch

from dragoman.config import from_table
from dragoman.corpora import held_out
from dragoman.corpora.clean_text import Say
from dragoman.corpora.config import CorporaConfig, CorpusConfig
from dragoman.corpora.parallel_text import read_pairs
from dragoman.counting import counted
from dragoman.device import choose_precision
from dragoman.memory import room_mib
from dragoman.planning.choice import (
    CHECKPOINTS,
    MOST_REPETITIONS,
    PARAMETERS_PER_TOKEN_OF_TEXT,
    SEARCHED,
    TOKENS_SEEN_PER_PARAMETER,
    VALIDATIONS,
    Candidate,
    Sections,
    candidates,
    fits,
    sections,
    tokens_per_update,
    values,
)
from dragoman.planning.machine import training_rate
from dragoman.planning.rehearsal import Rehearsal, RehearsalMemoryError, rehearse
from dragoman.planning.sample import SAMPLE_PAIRS
from dragoman.planning.shares import ALONE, Shares
from dragoman.planning.text import PlanError, TextMeasure, measure_text
from dragoman.training.distributed import device_of_process

SEAL = "# written by dragoman plan, all but this line with the checksum "
"""Precedes the checksum, in the last line of the comments above a recipe."""

SPARE = 0.03
"""Share of the time that is kept in reserve for the unforeseen."""

REHEARSED_SECONDS = 60.0
"""How long a rehearsal trains, by a guess that is low; never longer than the training. Models that
have seen much less write every translation up to its limit, and one such validation takes longer
than this (`docs/experiments.md`, 2026-11-25)."""

MOST_OF_GUESS = 1.6
"""How many times as fast as guessed a model may turn out to be: one that would then see enough is
rehearsed. One thread has trained `small` 1.5 times as fast."""

FEWEST_REHEARSED, MOST_REHEARSED = 6, 200
LEAST_LEFT_OVER = 120.0  # seconds that are worth a word
FEWEST_UPDATES = 100
CANDIDATES_AT_THE_END = 2  # the best weights and the mean of the last: each is validated
BYTES_PER_PAIR = 8
"""For its lengths and its shape; measured with a million pairs, like the next one."""

BYTES_PER_PAIR_OF_AN_EPOCH = 22
"""For the order of the pairs and what it is made from, while an epoch is planned."""

GROWTH = 0.025
"""Share by which the memory of a training run grows with twice as many updates, because freed
blocks do not fit what comes next (`benchmarks/planning.md`)."""

GROWN = 1000
"""Updates after which it hardly grows any more: batches of all shapes have followed each other."""

SHARE_OF_FORWARD_PASS = 1 / 3  # of the work of an update


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A recipe, and what it will take."""

    given: dict[str, Any]
    """What the recipe says by itself."""

    chosen: dict[str, Any]
    """The sections that complete it."""

    why: dict[str, str] = field(default_factory=dict)
    """The reason for each setting of these sections, as `section.key`. Plans that were kept by
    older releases have none."""

    minutes: float
    """Predicted, from the beginning of the training to the finished model; of several, all."""

    peak_mib: float
    """Predicted peak memory of what is trained at the same time; that of a GPU is not counted."""

    reasons: tuple[str, ...]

    @property
    def recipe(self) -> dict[str, Any]:
        """The whole recipe."""
        return overlay(self.chosen, self.given)

    @property
    def prediction(self) -> str:
        """What it will take, in words."""
        return f"predicted: {self.minutes:.1f} minutes, {self.peak_mib:,.0f} MiB of memory"

    def as_toml(self) -> str:
        """Write the recipe, with reasons above it and after each setting."""
        comments = "".join(f"# {line}\n" for line in (*self.reasons, self.prediction))
        section, lines = "", []
        for line in tomli_w.dumps(self.recipe).removesuffix("\n").split("\n"):
            if line.startswith("["):
                section = line.strip("[]")
            why = self.why.get(f"{section}.{line.partition(' = ')[0]}")
            lines.append(f"{line}  # {why}\n" if why else f"{line}\n")
        written = "".join(lines)
        return f"{comments}{SEAL}{_checksum(comments + written)}\n\n{written}"


def is_planned(path: Path) -> bool:
    """Tell whether a file is a recipe that a plan wrote and that nobody has changed since."""
    head, _, written = path.read_text("utf-8", errors="replace").partition("\n\n")
    comments, seal, checksum = head.partition(SEAL)
    return bool(seal) and checksum == _checksum(comments + written)


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def make_plan(given: dict[str, Any], minutes: float, say: Say, shares: Shares = ALONE) -> Plan:
    """Plan a training on this machine, or several with the same plan.

    Args:
        given: A recipe with languages and text at least, as nested tables; what it says stays.
        minutes: How long the whole training may take, not counting the planning; of several, all.
        say: Reports what is being done.
        shares: How several share the machine.

    Raises:
        CorpusError: a corpus cannot be read, or overlaps with the evaluation text.
        PlanError: there is no text to speak of, or not enough time.
    """
    corpora = from_table(CorporaConfig, given["corpora"])
    training = given.get("training", {})
    device = device_of_process(training.get("device", "auto"))
    with tempfile.TemporaryDirectory() as scratch:
        say("reading the text")
        languages = given["source_language"], given["target_language"]
        text = measure_text(corpora, languages, Path(scratch))
        for warning in text.warnings:
            say(f"warning: {warning}")
        task = _Task(
            given=given,
            device=device,
            dtype=choose_precision(training.get("precision", "auto"), device),
            minutes=minutes / shares.turns,
            room_mib=room_mib() / len(shares.devices),
            scratch=Path(scratch),
            text=text,
            validation=_count(corpora.validation, languages) or held_out.size(text.may_validate),
            test=_count(corpora.test, languages),
        )
        chosen = _choose(task, say)
    besides, updates = _seconds_besides(chosen.rehearsal, task), chosen.updates
    if updates < FEWEST_UPDATES:
        seconds_per_update = chosen.rehearsal.seconds_per_update * shares.turns
        raise PlanError(_too_short(minutes, besides * shares.turns, seconds_per_update))
    settings = chosen.decide(updates=updates)
    seconds = besides + updates * chosen.rehearsal.seconds_per_update
    seconds_left = task.minutes * 60 * (1 - SPARE) - seconds
    peak_mib = max(_training_mib(chosen, text), text.vocabulary_mib) * len(shares.devices)
    if peak_mib > (room := room_mib()):
        say(
            f"warning: the training will need about {peak_mib:,.0f} MiB of memory, and there are "
            f"{room:,.0f}; train with less text, or lower batching.max_tokens_per_micro_batch in "
            "what dragoman plan writes"
        )
    return Plan(
        given=given,
        chosen=values(settings),
        why={
            f"{section}.{key}": setting.why
            for section, of_section in settings.items()
            for key, setting in of_section.items()
            if key not in given.get(section, {})
        },
        minutes=seconds / 60 * shares.turns,
        peak_mib=peak_mib,
        reasons=_reasons(chosen, task, seconds_left=seconds_left * shares.turns),
    )


def _too_short(minutes: float, besides: float, seconds_per_update: float) -> str:
    """Say what takes longer than the time there is, and how much may do."""
    of_updates = FEWEST_UPDATES * seconds_per_update
    return (
        f"{counted(minutes, 'minute', 'g')} cannot be enough: {besides / 60:.1f} minutes go by "
        f"before and between the updates, and {FEWEST_UPDATES} updates take "
        f"{of_updates / 60:.1f} more; --minutes "
        f"{math.ceil((besides + of_updates) / 60 / (1 - SPARE))} may be enough"
    )


def overlay(chosen: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Complete nested tables with what was chosen; what is given stays, and comes first."""
    merged = dict(given)
    for key, value in chosen.items():
        if isinstance(value, dict):
            merged[key] = overlay(value, given.get(key, {}))
        else:
            merged.setdefault(key, value)
    return merged


def _count(corpora: Sequence[CorpusConfig], languages: tuple[str, str]) -> int:
    return sum(1 for corpus in corpora for _ in read_pairs(corpus, languages=languages))


@dataclass(frozen=True, kw_only=True)
class _Choice:
    """A model, and how its rehearsal went."""

    candidate: Candidate
    update_tokens: int
    rehearsal: Rehearsal
    rehearsed_updates: int

    updates: int
    """How many the time has room for."""

    decide: Callable[..., Sections]
    """Writes what the plan decides, for a number of updates."""

    too_large: str | None
    """The preset that memory was too small for, if there is one."""


@dataclass(frozen=True, kw_only=True)
class _Task:
    """What is planned, and where."""

    given: dict[str, Any]
    device: torch.device
    dtype: torch.dtype
    minutes: float
    """Of one training."""

    room_mib: float
    """Memory that it may have."""

    scratch: Path
    text: TextMeasure
    validation: int
    """Pairs that each validation goes through."""

    test: int
    """Pairs that are translated at the end."""


def _choose(task: _Task, say: Say) -> _Choice:
    """Rehearse the largest model that should fit, and a smaller one if it is too slow or large."""
    text = task.text
    possible = candidates(text.vocab_size)
    too_large = None
    for candidate in possible:
        guess = training_rate(candidate.parameters, task.device, task.dtype)
        is_smallest = candidate is possible[-1]
        if not (is_smallest or fits(candidate, text, MOST_OF_GUESS * guess * task.minutes * 60)):
            continue
        try:
            chosen = _rehearse(candidate, guess, task, too_large, say)
            is_enough = fits(candidate, text, chosen.updates * chosen.update_tokens)
            if is_enough and not is_smallest:
                _check_memory(chosen, task)
        except RehearsalMemoryError as error:
            if is_smallest:
                raise
            say(f"{error}; a smaller model may fit")
            too_large = candidate.preset
            continue
        if is_enough:
            break
        too_large = None  # this one lacks something other than memory, and the next may, too
    return chosen


def _rehearse(
    candidate: Candidate, guess: float, task: _Task, too_large: str | None, say: Say
) -> _Choice:
    """Rehearse a model, and count the updates that the time has room for.

    Args:
        candidate: The model.
        guess: How many target tokens a second it may learn from.
        task: What is planned.
        too_large: The preset that memory was too small for, if there is one.
        say: Reports what is being done.
    """
    text, seconds = task.text, task.minutes * 60
    useful = min(guess * seconds, MOST_REPETITIONS * text.effective_tokens)
    update_tokens = tokens_per_update(useful, most=4096 if task.device.type == "cpu" else 16_384)
    decide = partial(
        sections,
        candidate,
        text,
        update_tokens=update_tokens,
        keep_checkpoints=task.given.get("training", {}).get("keep_checkpoints", CHECKPOINTS),
        on_gpu=task.device.type == "cuda",
        too_large=too_large,
    )
    recipe = overlay(values(decide(updates=1)), task.given)
    rehearsed = round(min(REHEARSED_SECONDS, seconds) * guess / update_tokens)
    rehearsed = min(max(rehearsed, FEWEST_REHEARSED), MOST_REHEARSED)
    say(f"rehearsing {candidate.preset} for {rehearsed} updates, which takes a few minutes")
    rehearsal = rehearse(recipe, text.sample, task.scratch, updates=rehearsed, minutes=task.minutes)
    return _Choice(
        candidate=candidate,
        update_tokens=update_tokens,
        rehearsal=rehearsal,
        rehearsed_updates=rehearsed,
        updates=_updates_in(task, rehearsal, update_tokens),
        decide=decide,
        too_large=too_large,
    )


def _check_memory(chosen: _Choice, task: _Task) -> None:
    """Refuse a model whose training would outgrow the memory there is."""
    needed = _training_mib(chosen, task.text)
    if needed > task.room_mib:
        raise RehearsalMemoryError(
            f"{chosen.candidate.preset} needs {needed:,.0f} MiB of memory, and there are "
            f"{task.room_mib:,.0f}"
        )


def _updates_in(task: _Task, rehearsal: Rehearsal, update_tokens: int) -> int:
    """Count the updates that fit into the time and do not repeat the text too often."""
    text = task.text
    left = task.minutes * 60 * (1 - SPARE) - _seconds_besides(rehearsal, task)
    in_time = int(left / rehearsal.seconds_per_update)
    in_an_update = min(update_tokens, text.epoch_tokens)  # an update holds at most an epoch
    useful = max(FEWEST_UPDATES, int(MOST_REPETITIONS * text.effective_tokens / in_an_update))
    updates = min(in_time, useful)
    return updates - updates % VALIDATIONS  # the last validation comes after the last update


def _seconds_besides(rehearsal: Rehearsal, task: _Task) -> float:
    """Add up what is not an update: preparing the text, validations, checkpoints, the end.

    The test sets are translated with a beam, but by a model that knows when to stop: that takes
    about as long as greedy search with one that does not.
    """
    text = task.text
    # The rehearsal has prepared its sample; the rest is cleaned, and encoded in about as long.
    rest = 1 - min(1.0, SAMPLE_PAIRS / text.pairs)
    before = rehearsal.seconds_before + 2 * rest * text.cleaning_seconds
    before += text.further_vocabulary_seconds
    validated_tokens = task.validation * text.target_tokens / text.pairs
    losses = VALIDATIONS * validated_tokens * SHARE_OF_FORWARD_PASS / rehearsal.tokens_per_second
    translated = (VALIDATIONS / SEARCHED + CANDIDATES_AT_THE_END) * task.validation + task.test
    rehearsed = held_out.size(min(SAMPLE_PAIRS, text.pairs))
    searches = translated * rehearsal.seconds_per_validation / rehearsed
    return before + losses + searches + VALIDATIONS * rehearsal.seconds_per_checkpoint


def _training_mib(chosen: _Choice, text: TextMeasure) -> float:
    """Add what the other updates and the rest of the text take to what the rehearsal took."""
    rehearsal = chosen.rehearsal
    doublings = math.log2(max(1.0, min(chosen.updates, GROWN) / chosen.rehearsed_updates))
    rest = max(0, text.pairs - SAMPLE_PAIRS)
    taken = text.epoch_tokens / text.target_tokens  # of each pair, by an epoch
    bytes_per_pair = (
        rehearsal.stored_bytes_per_pair + BYTES_PER_PAIR + BYTES_PER_PAIR_OF_AN_EPOCH * taken
    )
    of_updates = rehearsal.peak_mib * (1 + GROWTH * doublings)
    return of_updates + rest * bytes_per_pair / 2**20


def _reasons(chosen: _Choice, task: _Task, *, seconds_left: float) -> tuple[str, ...]:
    """Say why the plan is as it is, one line per reason."""
    text, device = task.text, task.device
    candidate, rehearsal, updates = chosen.candidate, chosen.rehearsal, chosen.updates
    update_tokens = min(chosen.update_tokens, text.epoch_tokens)
    dtype = str(task.dtype).removeprefix("torch.")
    seen = updates * update_tokens
    weighs = text.epoch_tokens != text.target_tokens
    of_epoch = f", {text.epoch_tokens:,} an epoch with its weights" if weighs else ""
    return (
        f"text: {counted(text.pairs, 'pair')}, about {text.target_tokens:,} target tokens"
        f"{of_epoch}; "
        f"pairs with more than {text.max_length} are left out, {100 * text.share_too_long:.1f} %",
        f"machine: {device}, {counted(torch.get_num_threads(), 'thread')}, {dtype}; rehearsed at "
        f"{rehearsal.tokens_per_second:,.0f} target tokens a second, "
        f"{rehearsal.seconds_per_validation:.0f} s for a validation with translations"
        + ("; the memory below is that of the host" if device.type == "cuda" else ""),
        f"model: {candidate.preset}, {candidate.parameters:,} parameters; "
        f"{_why_no_larger(chosen, text, seen)}",
        f"length: {updates:,} updates of {update_tokens:,} target tokens, "
        f"{seen / text.effective_tokens:,.1f} times the text "
        f"(at most {MOST_REPETITIONS}, unless that is less than {FEWEST_UPDATES} updates)"
        + _what_is_left(seconds_left, chosen, task),
    )


def _what_is_left(seconds: float, chosen: _Choice, task: _Task) -> str:
    """Say that the time is longer than the text is worth, and what else it could be used for."""
    if seconds <= LEAST_LEFT_OVER:
        return ""
    of_another = _seconds_besides(chosen.rehearsal, task)
    of_another += chosen.updates * chosen.rehearsal.seconds_per_update
    use = ", which another model (train --ensemble) could use" if seconds > of_another else ""
    return f"; {seconds / 60:,.0f} minutes are left over{use}"


def _why_no_larger(chosen: _Choice, text: TextMeasure, tokens_seen: int) -> str:
    """Say what a larger model lacks, or even the smallest one."""
    if chosen.too_large:
        return f"memory is too small for {chosen.too_large}"
    candidate = chosen.candidate
    of_text, of_time = (
        candidate.parameters / text.effective_tokens,
        tokens_seen / candidate.parameters,
    )
    more_text = (
        f"more text (a target token for {PARAMETERS_PER_TOKEN_OF_TEXT:g} parameters; here "
        f"{of_text:,.1f})"
    )
    more_time = (
        f"more time ({TOKENS_SEEN_PER_PARAMETER:g} tokens seen for each parameter; here "
        f"{of_time:,.1f})"
    )
    if fits(candidate, text, tokens_seen):
        return f"a larger one would need {more_text} or {more_time}"
    lacks_text = of_text > PARAMETERS_PER_TOKEN_OF_TEXT
    return f"the smallest one, and even it needs {more_text if lacks_text else more_time}"
