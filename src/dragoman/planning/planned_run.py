"""A training whose recipe names no sizes: they are planned, and kept beside what is trained."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dragoman.config import UsageError
from dragoman.durable import write_atomically
from dragoman.pipeline.claim import RunError, check_free, has_trained
from dragoman.planning.plan import Plan, Say, make_plan, overlay
from dragoman.recipe import Recipe, recipe_from_table

SIZES = ("batching", "model", "training")
"""Sections of a recipe; whoever writes one of them has sizes in mind, and gets no others."""

PLAN_FILE = "plan.json"
USUAL_MINUTES = 60.0


@dataclass(frozen=True, kw_only=True)
class _KeptPlan:
    """What was planned, and for what."""

    given: dict[str, Any]
    for_minutes: float
    plan: Plan


def names_sizes(given: dict[str, Any]) -> bool:
    """Tell whether a recipe says how large something is, so that nothing is planned."""
    return any(section in given for section in SIZES)


def plan_run(given: dict[str, Any], directory: Path, minutes: float | None, say: Say) -> Recipe:
    """Complete a recipe for this machine and a time, or as it was when its run began.

    Args:
        given: The recipe, as nested tables; what it says stays as it is.
        directory: Of the run; the plan is kept there.
        minutes: How long the whole training may take; `USUAL_MINUTES` if nothing is said.
        say: Is told what is done, why the plan is as it is, and what it predicts.

    Raises:
        UsageError: several processes are to plan, or the run was planned for another time.
        RunError: the directory holds something else, or a plan that cannot be read.
        PlanError: there is no text to speak of, or not enough time.
    """
    check_free(directory)
    kept = _read(directory / PLAN_FILE)
    if has_trained(directory):
        if kept is None:  # it began before this release planned anything
            return recipe_from_table(given)
        if minutes not in (None, kept.for_minutes):
            raise UsageError(
                f"--minutes {minutes:g}: the run in {directory} was planned for "
                f"{kept.for_minutes:g}; leave it out, or name another directory with -o"
            )
    else:
        minutes = minutes or USUAL_MINUTES
        if kept is None or (kept.given, kept.for_minutes) != (given, minutes):
            kept = _KeptPlan(given=given, for_minutes=minutes, plan=_plan(given, minutes, say))
            directory.mkdir(parents=True, exist_ok=True)
            write_atomically(directory / PLAN_FILE, json.dumps(asdict(kept), indent=1) + "\n")
    if os.environ.get("RANK", "0") == "0":
        for line in (*kept.plan.reasons, kept.plan.prediction):
            say(line)
    return recipe_from_table(overlay(kept.plan.recipe, given))


def _plan(given: dict[str, Any], minutes: float, say: Say) -> Plan:
    """Plan in the only process, as others would be in the way of the rehearsal."""
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise UsageError(
            f"the recipe has none of the sections {', '.join(SIZES)}, and several processes "
            "cannot plan them; write a recipe with dragoman plan first"
        )
    return make_plan(given, minutes, say)


def _read(path: Path) -> _KeptPlan | None:
    """Read the plan of an earlier call; None if there is none."""
    if not path.exists():
        return None
    try:
        kept = json.loads(path.read_bytes())
        return _KeptPlan(**{**kept, "plan": Plan(**kept["plan"])})
    except (ValueError, KeyError, TypeError) as error:
        raise RunError(f"{path}: not a plan that training wrote; delete it") from error
