"""A training run whose recipe names no sizes: they are planned, and the plan kept with the run."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dragoman.config import from_table, read_table
from dragoman.corpora.clean_text import Say
from dragoman.corpora.config import CorporaConfig
from dragoman.corpora.fingerprint import fingerprint_files
from dragoman.durable import write_atomically
from dragoman.errors import UsageError
from dragoman.pipeline.run_directory import (
    MAY_CHANGE,
    RECIPE_FILE,
    RunError,
    check_free,
    has_weights,
    make_directory,
    named_when_unwritable,
    only_one,
)
from dragoman.planning.plan import Plan, make_plan, overlay
from dragoman.planning.shares import ALONE, Shares
from dragoman.recipe import Recipe, recipe_from_table
from dragoman.training.distributed import rank, world_size

SIZES = ("tokenizer", "cleaning", "batching", "model", "training")
"""Sections of a recipe that a plan decides, or measures the text with."""

FREE = {name.removeprefix("training.") for name in MAY_CHANGE} | {"precision"}
"""Settings of `training` that a recipe may have all the same: the plan is made for them."""

PLAN_FILE = "plan.json"
USUAL_MINUTES = 60.0


@dataclass(frozen=True, kw_only=True)
class _KeptPlan:
    """What was planned, and for what."""

    for_minutes: float
    turns: float = 1.0
    """How many trainings of one share were to take these minutes, one after another."""

    text: dict[str, str]
    """Checksums of the files."""

    plan: Plan


def sizes_of(given: dict[str, Any]) -> list[str]:
    """List what a recipe sets that a plan would decide: sections, and settings of `training`."""
    sections = [name for name in SIZES if name in given and name != "training"]
    return sections + [f"training.{key}" for key in given.get("training", {}) if key not in FREE]


def plan_run(
    given: dict[str, Any],
    directory: Path,
    minutes: float | None,
    say: Say,
    shares: Shares = ALONE,
) -> Recipe:
    """Complete a recipe for this machine and a time, or as it was when its run began.

    Args:
        given: The recipe, as nested tables; what it says stays as it is.
        directory: Of the run; the plan is kept there.
        minutes: How long the training may take; by default, as long as an earlier call said, or
            else `USUAL_MINUTES`.
        say: Reports what is being done, why the plan is as it is, and what it predicts.
        shares: How several trainings with this plan share the machine.

    Raises:
        UsageError: several processes are to plan, or the run was planned for another time.
        RunError: the directory holds something else, a plan that cannot be read, or the training of
            another process; or it cannot be written.
        PlanError: there is no text to speak of, or not enough time.
    """
    check_free(directory)
    if has_weights(directory):
        kept = _read(directory / PLAN_FILE)
        if minutes is not None and (kept is None or minutes != kept.for_minutes):
            was = "not planned" if kept is None else f"planned for {kept.for_minutes:g}"
            raise UsageError(
                f"--minutes {minutes:g}: the run in {directory} was {was}; "
                "leave it out, or name another directory with -o"
            )
        if kept is None:  # it began with a release that did not plan, or the plan is lost
            begun = read_table(directory / RECIPE_FILE)
            chosen = {name: begun[name] for name in (*SIZES, "search") if name in begun}
            return recipe_from_table(overlay(chosen, given))
    else:
        kept = _plan(given, directory, minutes, say, shares)
    if rank() == 0:
        for line in (*kept.plan.reasons, kept.plan.prediction):
            say(line)
    return recipe_from_table(overlay(kept.plan.chosen, given))


def _plan(
    given: dict[str, Any], directory: Path, minutes: float | None, say: Say, shares: Shares
) -> _KeptPlan:
    """Plan, unless the same recipe was planned before for the same text and time."""
    text = fingerprint_files(from_table(CorporaConfig, given["corpora"]))
    kept = _read(directory / PLAN_FILE)
    if (
        kept
        and (kept.plan.given, kept.text, kept.turns) == (given, text, shares.turns)
        and minutes in (None, kept.for_minutes)
    ):
        return kept
    if world_size() > 1:  # they would get in each other's way
        raise UsageError(
            f"the recipe has none of the sections {', '.join(SIZES)}, and several processes "
            "cannot plan them; write a recipe with dragoman plan first"
        )
    make_directory(directory)
    minutes = minutes or (kept.for_minutes if kept else USUAL_MINUTES)
    with named_when_unwritable(directory), only_one(directory):
        made = make_plan(given, minutes, say, shares)
        kept = _KeptPlan(for_minutes=minutes, turns=shares.turns, text=text, plan=made)
        write_atomically(directory / PLAN_FILE, json.dumps(asdict(kept), indent=1) + "\n")
    return kept


def _read(path: Path) -> _KeptPlan | None:
    """Read the plan of an earlier call; None if there is none."""
    if not path.exists():
        return None
    try:
        kept = json.loads(path.read_bytes())
        return _KeptPlan(**{**kept, "plan": Plan(**kept["plan"])})
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RunError(f"{path}: not a plan that training wrote; delete it") from error
