"""A plan fits into its time, and what it says can be trained."""

import json
import math
import os
import re
import subprocess
import tomllib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
import torch

from dragoman.cli import main
from dragoman.config import read_table
from dragoman.corpora.config import CorpusConfig
from dragoman.corpora.primer.corpus import generate
from dragoman.errors import OUT_OF_MEMORY
from dragoman.planning import plan
from dragoman.planning.choice import TOKENS_SEEN_PER_PARAMETER, Candidate
from dragoman.planning.plan import make_plan
from dragoman.planning.rehearsal import Rehearsal, RehearsalMemoryError, rehearse
from dragoman.planning.sample import SAMPLE_PAIRS
from dragoman.planning.shares import Shares
from dragoman.planning.text import PlanError, TextMeasure
from dragoman.recipe import recipe_from_table

PAIRS = 400
"""As many as most plans here are made for: to clean more takes most of the time of a test."""

REHEARSAL = Rehearsal(
    seconds_before=10.0,
    seconds_per_update=0.25,
    tokens_per_second=4096.0,
    seconds_per_validation=6.0,
    seconds_per_checkpoint=0.5,
    peak_mib=700.0,
    stored_bytes_per_pair=100.0,
)


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    lines = (f"{pair.source}\t{pair.target}\n" for pair in generate(PAIRS, seed=3))
    path.write_text("".join(lines), encoding="utf-8")
    return path


def given(pairs: Path) -> dict[str, Any]:
    """Give a recipe that says nothing but what must be said."""
    languages = {"source_language": "en", "target_language": "it"}
    return {**languages, "corpora": {"train": [{"path": str(pairs)}]}}


@pytest.fixture
def planned(pairs: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], plan.Plan]:
    """Plan with a rehearsal whose outcome is known."""
    monkeypatch.setattr(plan, "rehearse", lambda *_, **__: REHEARSAL)
    monkeypatch.setattr(plan, "training_rate", lambda parameters, *_: 1e10 / parameters)

    def make(minutes: float) -> plan.Plan:
        return make_plan(given(pairs), minutes, lambda message: None)

    return make


def test_a_short_time_is_filled_and_not_passed(planned: Callable[[float], plan.Plan]) -> None:
    made = planned(1.5)

    updates = made.recipe["training"]["updates"]
    searches = 2 + 2  # every fifth of ten validations, and two candidates at the end
    besides = 10.0 + searches * 6.0 + 10 * 0.5
    assert besides + updates * 0.25 < made.minutes * 60 < 90
    assert made.minutes * 60 > 82


def test_validation_and_test_text_that_are_named_take_time(
    pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "rehearse", lambda *_, **__: REHEARSAL)
    held_out = PAIRS // 20  # which the rehearsal translates in six seconds
    others = tmp_path / "others.tsv"
    others.write_text("A cat.\tUn gatto.\n" * 3 * held_out)
    table = given(pairs)

    def seconds_besides(**named: list[dict[str, str]]) -> float:
        recipe = {**table, "corpora": {**table["corpora"], **named}}
        made = make_plan(recipe, 60.0, lambda message: None)
        return made.minutes * 60 - made.recipe["training"]["updates"] * 0.25

    alone = seconds_besides()
    named = [{"path": str(others)}]
    assert seconds_besides(test=named) == pytest.approx(alone + 3 * 6.0, abs=0.5)
    searches = 4 * 3 * 6.0  # instead of four of six seconds each
    assert seconds_besides(validation=named) == pytest.approx(alone + searches - 24.0, rel=0.2)


def test_all_that_is_not_an_update_is_added_up() -> None:
    text = TextMeasure(
        pairs=2 * SAMPLE_PAIRS,
        may_validate=0,
        target_tokens=20 * SAMPLE_PAIRS,
        epoch_tokens=20 * SAMPLE_PAIRS,
        effective_tokens=20 * SAMPLE_PAIRS,
        max_length=48,
        share_too_long=0.0,
        vocab_size=6000,
        sample=(),
        warnings=(),
        cleaning_seconds=40.0,
        further_vocabulary_seconds=15.0,
        vocabulary_mib=80.0,
    )
    task = plan._Task(
        given={},
        device=torch.device("cpu"),
        dtype=torch.float32,
        minutes=60.0,
        room_mib=1024.0,
        scratch=Path(),
        text=text,
        validation=1000,
        test=2000,
    )

    seconds = plan._seconds_besides(replace(REHEARSAL, tokens_per_second=1000.0), task)

    before = 10 + 40 + 15  # half of the text was rehearsed; the rest is cleaned, and encoded
    losses = 10 * 1000 * 10 / 3 / 1000  # ten times a thousand pairs of ten tokens
    searches = (4 * 1000 + 2000) * 6 / 1000  # as many as the rehearsal holds out and translates
    assert seconds == pytest.approx(before + losses + searches + 10 * 0.5)


def test_text_of_which_nothing_is_held_out_validates_nothing(
    pairs: Path, tmp_path: Path, planned: Callable[[float], plan.Plan]
) -> None:
    more = tmp_path / "more.tsv"
    more.write_text("".join(f"the number {n}\til numero {n}\n" for n in range(PAIRS)))

    def seconds_besides(*, hold_out: bool) -> float:
        named = [{"path": str(pairs)}, {"path": str(more), "hold_out": hold_out}]
        made = make_plan({**given(pairs), "corpora": {"train": named}}, 60.0, lambda message: None)
        return made.minutes * 60 - made.recipe["training"]["updates"] * 0.25

    held_out_of_one, of_both = (seconds_besides(hold_out=each) for each in (False, True))
    # The rehearsal translates a tenth of the pairs of one in six seconds, and does so four times.
    assert of_both - held_out_of_one == pytest.approx(4 * 3.0, rel=0.3)


def test_the_device_of_the_recipe_is_planned_for(
    pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guessed = []

    def training_rate(parameters: int, device: torch.device, dtype: torch.dtype) -> float:
        guessed.append(device)
        return 1e10 / parameters

    monkeypatch.setattr(plan, "training_rate", training_rate)
    monkeypatch.setattr(plan, "rehearse", lambda *_, **__: REHEARSAL)
    monkeypatch.setattr(plan, "device_of_process", torch.device)

    made = make_plan({**given(pairs), "training": {"device": "meta"}}, 60.0, lambda message: None)

    assert set(guessed) == {torch.device("meta")}
    assert made.reasons[1].startswith("machine: meta,")


def test_no_more_checkpoints_are_averaged_than_are_kept(
    pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "rehearse", lambda *_, **__: REHEARSAL)

    for keep, averaged in ((2, 2), (5, 3)):
        recipe = {**given(pairs), "training": {"keep_checkpoints": keep}}
        training = recipe_from_table(make_plan(recipe, 60.0, lambda _: None).recipe).training
        assert (training.keep_checkpoints, training.average_checkpoints) == (keep, averaged)


def test_memory_counts_the_text_that_is_not_rehearsed(
    pairs: Path, planned: Callable[[float], plan.Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    twice = {**given(pairs), "corpora": {"train": [{"path": str(pairs), "weight": 2.0}]}}

    monkeypatch.setattr(plan, "GROWTH", 0.0)
    assert planned(60.0).peak_mib == 700
    monkeypatch.setattr(plan, "SAMPLE_PAIRS", 100)
    rest = (PAIRS - 100) / 2**20
    assert planned(60.0).peak_mib == pytest.approx(700 + rest * (100 + 8 + 22))
    made = make_plan(twice, 60.0, lambda message: None)
    assert made.peak_mib == pytest.approx(700 + rest * (100 + 8 + 2 * 22))


def test_memory_grows_with_each_doubling_of_the_updates_for_a_while(
    planned: Callable[[float], plan.Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "MOST_REHEARSED", 40)

    made = planned(60.0)

    updates = made.recipe["training"]["updates"]
    assert updates > 160
    assert made.peak_mib == pytest.approx(
        700 * (1 + plan.GROWTH * math.log2(min(updates, plan.GROWN) / 40))
    )
    monkeypatch.setattr(plan, "GROWN", 160)
    assert planned(60.0).peak_mib == pytest.approx(700 * (1 + 2 * plan.GROWTH))
    monkeypatch.setattr(plan, "MOST_REHEARSED", 2 * updates)
    monkeypatch.setattr(plan, "REHEARSED_SECONDS", 1e9)
    assert planned(60.0).peak_mib == 700


def test_the_weights_of_the_text_are_rehearsed(
    pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other.tsv"
    other.write_text("".join(f"the number {n}\til numero {n}\n" for n in range(300)))
    named = [{"path": str(other), "weight": 5.0}, {"path": str(pairs), "weight": 0.5}]
    trained_on: list[Any] = []

    def run(command: list[str], **_: Any) -> NoReturn:
        trained_on.extend(read_table(Path(command[command.index("train") + 1]))["corpora"]["train"])
        raise PlanError("enough")

    monkeypatch.setattr(subprocess, "Popen", run)
    with pytest.raises(PlanError, match="enough"):
        make_plan({**given(pairs), "corpora": {"train": named}}, 60.0, lambda message: None)

    assert [part["weight"] for part in trained_on] == [5.0, 0.5]


def test_a_long_time_is_not_filled_with_repetition(
    planned: Callable[[float], plan.Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = planned(6000.0)

    batching, training = made.recipe["batching"], made.recipe["training"]
    seen = training["updates"] * batching["tokens_per_update"]
    assert made.minutes < 6000
    # The updates are a multiple of ten: ten validations, all as many updates apart.
    assert "57.8 times the text (at most 60" in made.reasons[-1]
    left = f"{6000 * 0.97 - made.minutes:,.0f} minutes are left over"
    assert made.reasons[-1].endswith(f"{left}, which another model (train --ensemble) could use")
    monkeypatch.setattr(plan, "LEAST_LEFT_OVER", 10.0)
    too_few_for_another = planned(1.5 * made.minutes).reasons[-1]
    assert too_few_for_another.endswith("minutes are left over")
    assert "the smallest one, and even it needs more text (a target" in made.reasons[-2]
    assert "or more time" not in made.reasons[-2]
    assert made.why["model.preset"] == "the smallest"
    assert seen < 60 * PAIRS * 20


def test_several_trainings_share_the_time_and_the_memory(
    pairs: Path, planned: Callable[[float], plan.Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    three = Shares(("cpu", "cpu", "cpu"), turns=1.5)  # of three on two processors

    alone = planned(1.5)
    made = make_plan(given(pairs), 2.25, lambda message: None, three)

    assert made.recipe == alone.recipe
    assert made.minutes == pytest.approx(1.5 * alone.minutes)
    assert made.peak_mib == pytest.approx(3 * alone.peak_mib)
    possible = [Candidate("small", 10**4), Candidate("tiny", 10**3)]
    monkeypatch.setattr(plan, "candidates", lambda size: possible)
    monkeypatch.setattr(plan, "room_mib", lambda: 2 * made.peak_mib / 3)
    assert planned(1.5).recipe["model"]["preset"] == "small"
    made = make_plan(given(pairs), 2.25, lambda message: None, three)
    assert made.why["model.preset"] == "memory is too small for small"
    with pytest.raises(PlanError, match=r": 1\.0 minutes go by .* --minutes 2 may be enough$"):
        make_plan(given(pairs), 0.75, lambda message: None, three)


def test_too_short_a_time_says_what_it_would_take(planned: Callable[[float], plan.Plan]) -> None:
    expected = (
        r"0\.7 minutes go by before and between the updates, and 100 updates take 0\.4 more; "
        r"--minutes 2 may be enough$"
    )
    with pytest.raises(PlanError, match=r"^0\.5 minutes cannot be enough: " + expected):
        planned(0.5)


@pytest.mark.parametrize(("minutes", "updates"), [(0.5, 49), (6.0, 98)])
def test_a_rehearsal_is_not_longer_than_the_training(
    planned: Callable[[float], plan.Plan],
    monkeypatch: pytest.MonkeyPatch,
    minutes: float,
    updates: int,
) -> None:
    asked: list[dict[str, float]] = []

    def rehearse(*_: object, **limits: float) -> Rehearsal:
        asked.append(limits)
        return replace(REHEARSAL, seconds_before=0.0, seconds_per_update=0.001)

    monkeypatch.setattr(plan, "rehearse", rehearse)
    monkeypatch.setattr(plan, "training_rate", lambda *_: 1024 * 98 / 60)

    with suppress(PlanError):
        planned(minutes)

    assert asked == [{"updates": updates, "minutes": minutes}]


@pytest.mark.parametrize(("enough", "warned"), [(PAIRS // 2, 0), (2 * PAIRS, 1)])
def test_little_text_is_warned_of(
    planned: Callable[[float], plan.Plan],
    pairs: Path,
    monkeypatch: pytest.MonkeyPatch,
    enough: int,
    warned: int,
) -> None:
    monkeypatch.setattr("dragoman.planning.text.FEW_PAIRS", enough)
    said: list[str] = []

    make_plan(given(pairs), 60.0, said.append)

    assert sum("that is little, as" in line for line in said) == warned


def test_text_in_another_language_is_warned_of(
    planned: Callable[[float], plan.Plan], pairs: Path
) -> None:
    said: list[str] = []

    make_plan({**given(pairs), "source_language": "fr"}, 60.0, said.append)

    assert [line for line in said if "seems" in line] == [
        f"warning: {pairs}: the source should be French (fr) and seems to be English (en)"
    ]


@pytest.mark.slow
def test_what_is_planned_can_be_trained(
    pairs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(plan, "REHEARSED_SECONDS", 0.0)  # the fewest updates
    recipe = tmp_path / "my.toml"
    command = ["plan", str(pairs), "--languages", "en-it", "--minutes", "600", "-o", str(recipe)]
    (tmp_path / "secrets.py").write_text("raise RuntimeError('this is of whoever has the text')")
    monkeypatch.chdir(tmp_path)

    assert main([*command, "--json"]) == 0

    printed = json.loads(capsys.readouterr().out)
    assert printed["recipe"] == read_table(recipe)
    assert printed["peak_mib"] > 100
    assert recipe.read_text().startswith(f"# text: {PAIRS} pairs")
    shortened = ["--set", "training.updates=2", "--set", "training.validate_every=2"]
    shortened += ["--set", "search.max_length_ratio=0", "--set", "search.max_length_extra=2"]
    assert main(["train", str(recipe), "-o", str(tmp_path / "run"), *shortened]) == 0
    assert (tmp_path / "run" / "model.safetensors").exists()


def test_a_model_that_is_too_slow_gives_way_to_a_smaller_one(
    pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "PARAMETERS_PER_TOKEN_OF_TEXT", 1e9)
    monkeypatch.setattr("dragoman.planning.choice.PARAMETERS_PER_TOKEN_OF_TEXT", 1e9)
    monkeypatch.setattr(plan, "MOST_REPETITIONS", 10**6)
    monkeypatch.setattr(plan, "training_rate", lambda *_: 1e12)  # far from the rehearsal
    monkeypatch.setattr(plan, "rehearse", lambda *_, **__: REHEARSAL)
    monkeypatch.setattr(
        plan, "candidates", lambda size: [Candidate("small", 10**11), Candidate("tiny", 10**3)]
    )
    monkeypatch.setattr(plan, "room_mib", lambda: 512.0)  # too little as well, but not the reason
    said: list[str] = []

    made = make_plan(given(pairs), 600.0, said.append)

    assert made.why["model.preset"].startswith("the largest")
    rehearsed = [message.split()[1] for message in said if message.startswith("rehearsing")]
    assert rehearsed == ["small", "tiny"]
    assert made.recipe["model"]["preset"] == "tiny"


@pytest.mark.parametrize(
    ("times_too_slow", "rehearsed"), [(1.5, ["small", "tiny"]), (1.7, ["tiny"])]
)
def test_a_model_that_may_be_faster_than_guessed_is_rehearsed(
    times_too_slow: float, rehearsed: list[str], pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parameters, minutes = 10**11, 600.0
    monkeypatch.setattr(plan, "PARAMETERS_PER_TOKEN_OF_TEXT", 1e9)
    monkeypatch.setattr("dragoman.planning.choice.PARAMETERS_PER_TOKEN_OF_TEXT", 1e9)
    guess = TOKENS_SEEN_PER_PARAMETER * parameters / (60 * minutes) / times_too_slow
    monkeypatch.setattr(plan, "training_rate", lambda *_: guess)
    monkeypatch.setattr(plan, "rehearse", lambda *_, **__: REHEARSAL)
    monkeypatch.setattr(
        plan, "candidates", lambda size: [Candidate("small", parameters), Candidate("tiny", 10**3)]
    )
    said: list[str] = []

    make_plan(given(pairs), minutes, said.append)

    messages = [message.split() for message in said]
    assert [words[1] for words in messages if words[0] == "rehearsing"] == rehearsed


def test_a_model_that_memory_is_too_small_for_gives_way_to_a_smaller_one(
    pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rehearse(table: dict[str, Any], *_: object, **__: object) -> Rehearsal:
        if table["model"]["preset"] == "small":
            raise RehearsalMemoryError("the rehearsal failed: killed for lack of memory")
        return REHEARSAL

    possible = [Candidate("small", 10**4), Candidate("tiny", 10**3)]
    monkeypatch.setattr(plan, "candidates", lambda size: possible)
    monkeypatch.setattr(plan, "rehearse", rehearse)
    said: list[str] = []

    made = make_plan(given(pairs), 60.0, said.append)

    assert made.recipe["model"]["preset"] == "tiny"
    assert made.why["model.preset"] == "memory is too small for small"
    assert made.reasons[2].endswith("parameters; memory is too small for small")
    assert any("killed for lack of memory; a smaller model may fit" in line for line in said)
    monkeypatch.setattr(plan, "candidates", lambda size: possible[:1])
    with pytest.raises(RehearsalMemoryError, match="lack of memory"):
        make_plan(given(pairs), 60.0, said.append)


def test_a_model_whose_training_would_outgrow_the_memory_gives_way_to_a_smaller_one(
    pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rehearse(table: dict[str, Any], *_: object, **__: object) -> Rehearsal:
        return replace(REHEARSAL, peak_mib=7000.0 if table["model"]["preset"] == "small" else 700.0)

    possible = [Candidate("small", 10**4), Candidate("tiny", 10**3)]
    monkeypatch.setattr(plan, "candidates", lambda size: possible)
    monkeypatch.setattr(plan, "rehearse", rehearse)
    monkeypatch.setattr(plan, "room_mib", lambda: 2048.0)
    said: list[str] = []

    made = make_plan(given(pairs), 60.0, said.append)

    assert made.why["model.preset"] == "memory is too small for small"
    assert any(re.fullmatch("small needs 7,... MiB.* 2,048; a smaller.*", line) for line in said)
    assert not any("warning" in line and "memory" in line for line in said)
    monkeypatch.setattr(plan, "room_mib", lambda: 512.0)
    assert make_plan(given(pairs), 60.0, said.append).recipe["model"]["preset"] == "tiny"
    assert re.match("warning: the training will need about 7.. MiB.* there are 512;", said[-1])


def test_memory_is_not_the_reason_where_it_was_too_small_for_a_larger_one_alone(
    pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rehearse(table: dict[str, Any], *_: object, **__: object) -> Rehearsal:
        if table["model"]["preset"] == "base":
            raise RehearsalMemoryError("the rehearsal failed: killed for lack of memory")
        return REHEARSAL

    monkeypatch.setattr(plan, "rehearse", rehearse)
    monkeypatch.setattr(plan, "fits", lambda candidate, text, seen: seen > 1e9)  # by the guess
    monkeypatch.setattr(plan, "training_rate", lambda *_: 1e12)
    possible = [Candidate("base", 10**5), Candidate("small", 10**4), Candidate("tiny", 10**3)]
    monkeypatch.setattr(plan, "candidates", lambda size: possible)

    made = make_plan(given(pairs), 60.0, lambda message: None)

    assert made.recipe["model"]["preset"] == "tiny"
    assert "memory" not in made.reasons[2] + made.why["model.preset"]


@pytest.fixture
def sample(pairs: Path) -> list[CorpusConfig]:
    return [CorpusConfig(path=str(pairs))]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the path of what is started in the place of Python."""
    path = tmp_path / "python"
    path.touch(mode=0o755)
    monkeypatch.setattr("sys.executable", str(path))
    return path


def test_a_rehearsal_that_is_killed_has_lacked_memory(
    sample: list[CorpusConfig], tmp_path: Path, program: Path
) -> None:
    program.write_text("#!/bin/sh\nkill -9 $$\n")

    with pytest.raises(RehearsalMemoryError, match="killed by signal 9, probably for lack of"):
        rehearse({"training": {}}, sample, tmp_path, updates=2, minutes=1.0)


def test_a_rehearsal_that_fails_over_something_called_memory_has_not_lacked_any(
    sample: list[CorpusConfig], tmp_path: Path, program: Path
) -> None:
    program.write_text("#!/bin/sh\necho 'dragoman: translation-memory/x: no room' >&2\nexit 1\n")

    with pytest.raises(PlanError, match="translation-memory") as error:
        rehearse({"training": {}}, sample, tmp_path, updates=2, minutes=1.0)
    assert not isinstance(error.value, RehearsalMemoryError)


def test_a_rehearsal_that_takes_longer_than_the_training_may_is_given_up(
    sample: list[CorpusConfig], tmp_path: Path, program: Path
) -> None:
    program.write_text("#!/bin/sh\nexec sleep 60\n")

    with pytest.raises(
        PlanError, match=r"^a rehearsal of 7 updates alone takes 2 times as long as"
    ):
        rehearse({"training": {}}, sample, tmp_path, updates=7, minutes=0.01)


def test_a_rehearsal_that_fails_says_why(
    pairs: Path, sample: list[CorpusConfig], tmp_path: Path
) -> None:
    table: dict[str, Any] = {
        "source_language": "en",
        "target_language": "it",
        "corpora": {"train": [{"path": str(pairs)}]},
        "training": {"learning_rate": -1.0},
    }

    with pytest.raises(PlanError, match=r"rehearsal .* failed: /.*learning_rate = -1\.0 should be"):
        rehearse(table, sample, tmp_path, updates=2, minutes=1.0)


@pytest.mark.parametrize("folder", ["", "$CORPORA"])
def test_the_text_is_not_written_over(
    folder: str, pairs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = pairs.read_bytes()
    monkeypatch.setenv("CORPORA", str(pairs.parent))
    given = f"{folder or pairs.parent}/{pairs.name}"

    assert main(["plan", given, "--languages", "en-it", "-o", str(pairs)]) == 2

    assert "it is read already; name another file to write" in capsys.readouterr().err
    assert pairs.read_bytes() == before


def test_a_recipe_that_somebody_has_written_is_not_replaced(
    pairs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(plan, "rehearse", lambda *_, **__: REHEARSAL)
    output = pairs.with_name("my.toml")
    command = ["plan", str(pairs), "--languages", "en-it", "-o", str(output)]
    output.write_text('source_language = "en"\n')

    assert main(command) == 2

    refused = "it exists, and not as dragoman plan wrote it; name another file"
    assert refused in capsys.readouterr().err
    assert output.read_text() == 'source_language = "en"\n'
    output.unlink()
    assert main(command) == 0
    assert main([*command, "--minutes", "90"]) == 0  # its own may be
    written = output.read_text()
    for changed in (f"{written}[evaluation]\n", f"# the one that won\n{written}"):
        output.write_text(changed)
        assert main(command) == 2  # unless it was changed
        assert refused in capsys.readouterr().err
        assert output.read_text() == changed


def test_a_plan_validates_as_often_as_is_counted(planned: Callable[[float], plan.Plan]) -> None:
    """Ten times: one more, after a few last updates, would be neither counted nor of use."""
    for minutes in (7.0, 11.0, 23.0):
        training = planned(minutes).recipe["training"]
        assert training["updates"] == 10 * training["validate_every"]


def test_text_whose_name_a_recipe_cannot_hold_is_refused_before_it_is_read(
    pairs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    strange = pairs.rename(pairs.with_name(os.fsdecode(b"caf\xe9.tsv")))

    assert main(["plan", str(strange), "--languages", "en-it"]) == 2

    said = capsys.readouterr().err
    assert "is not UTF-8 and cannot be written down; change it, or rename the file" in said
    assert said.count("\n") == 1


def test_the_recipe_says_why_behind_each_setting_that_was_chosen(
    pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "rehearse", lambda *_, **__: REHEARSAL)
    monkeypatch.chdir(pairs.parent)  # a longer path would be written in another form
    own = {"training": {"label_smoothing": 0.2, "updates": 7}, "model": {"dropout": 0.25}}

    made = make_plan({**given(Path(pairs.name)), **own}, 60.0, lambda message: None)

    written = made.as_toml()
    assert tomllib.loads(written) == made.recipe
    settings = [line for line in written.splitlines() if " = " in line and line[0] not in "# "]
    without = {line.partition(" = ")[0] for line in settings if "  # " not in line}
    named = {"source_language", "target_language", "train", "label_smoothing", "updates", "dropout"}
    assert without == named
    assert 'positional_encoding = "rotary"  # learns faster than sinusoids\n' in written


def test_an_update_holds_an_epoch_at_most(
    planned: Callable[[float], plan.Plan], pairs: Path
) -> None:
    pairs.write_text("".join(pairs.read_text().splitlines(keepends=True)[:20]))

    made = planned(6000.0)

    text, *_, length = made.reasons
    tokens = text.partition("about ")[2].partition(" ")[0]
    assert length.startswith(f"length: 100 updates of {tokens} target tokens, 100.0 times")


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ("", "planned when it is trained: dragoman train 'my own.toml' --minutes 60"),
        ("[training]\ndevice = 'cpu'\n", "trained: dragoman train 'my own.toml' --minutes 60"),
        (
            "[model]\npreset = 'small'\n[training]\nupdates = 9\n",
            "as in dragoman plan TEXT --languages en-it; this recipe has sizes already (model, "
            "training.updates)\n",
        ),
    ],
)
def test_a_recipe_is_not_planned_for_but_trained_if_it_has_no_sizes(
    sizes: str,
    message: str,
    pairs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    languages = 'source_language = "en"\ntarget_language = "it"\n'
    text = f'corpora.train = [{{ path = "{pairs}" }}]\n'
    Path("my own.toml").write_text(languages + text + sizes, encoding="utf-8")

    assert main(["plan", "my own.toml"]) == 2

    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--languages", "en-it"], 2, "name the text to plan for"),
        (["my own.toml"], 1, "my own.toml: there is no such file"),
        (["x.tsv", "--languages", "english"], 2, "write two language codes"),
        (["x.tsv", "--languages", "en-italian"], 2, "italian is the name"),
        (["x.tsv", "--languages", "en-it", "--minutes", "inf"], 2, "<= 525600"),
        (["x.tsv", "--languages", "en-it", "--minutes", "1e300"], 2, "<= 525600"),
        (["x.tsv"], 1, "x.tsv: there is no such file"),
        (["/dev/null"], 1, "/dev/null: a pipe or a device can be read only once"),
        (["x.tsv", "--languages", "en-it", "-o", "no/where.toml"], 1, "no/where.toml: cannot be"),
    ],
)
def test_wrong_use_is_named(
    arguments: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", *arguments]) == code
    assert message in capsys.readouterr().err


def test_where_the_time_is_too_short_for_the_smallest_model_more_of_it_is_named(
    planned: Callable[[float], plan.Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "PARAMETERS_PER_TOKEN_OF_TEXT", 1e9)
    monkeypatch.setattr("dragoman.planning.choice.PARAMETERS_PER_TOKEN_OF_TEXT", 1e9)

    *_, model, _ = planned(2.0).reasons

    assert "the smallest one, and even it needs more time (1.25 tokens seen for each" in model


def test_memory_is_what_the_vocabulary_takes_if_that_is_more(
    planned: Callable[[float], plan.Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.planning.text.PROCESS_MIB", 9000.0)

    assert planned(60.0).peak_mib == pytest.approx(9000.0, rel=0.01)


@pytest.mark.parametrize(("device", "tokens"), [("cpu", 4096), ("meta", 16_384)])
def test_updates_are_larger_where_no_cpu_computes_them(
    pairs: Path, monkeypatch: pytest.MonkeyPatch, device: str, tokens: int
) -> None:
    monkeypatch.setattr(plan, "rehearse", lambda *_, **__: REHEARSAL)
    monkeypatch.setattr(plan, "training_rate", lambda *_: 1e10)
    monkeypatch.setattr(plan, "device_of_process", torch.device)
    monkeypatch.setattr("dragoman.planning.choice.UPDATES", 5)

    made = make_plan({**given(pairs), "training": {"device": device}}, 60.0, lambda message: None)

    assert made.recipe["batching"]["tokens_per_update"] == tokens


@pytest.mark.parametrize(("updates", "validate_every"), [(6, 3), (7, 4)])
def test_a_rehearsal_validates_twice_and_translates_no_longer_than_need_be(
    pairs: Path,
    sample: list[CorpusConfig],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    updates: int,
    validate_every: int,
) -> None:
    rehearsed: dict[str, Any] = {}

    def run(command: list[str], **_: Any) -> NoReturn:
        rehearsed.update(read_table(Path(command[command.index("train") + 1])))
        raise PlanError("enough")

    monkeypatch.setattr(subprocess, "Popen", run)
    search = {"length_penalty": 0.3, "max_length_ratio": 3.0}
    table = {**given(pairs), "training": {"validate_every": 99}, "search": search}

    with pytest.raises(PlanError, match="enough"):
        rehearse(table, sample, tmp_path, updates=updates, minutes=1.0)

    training = rehearsed["training"]
    assert (training["updates"], training["validate_every"]) == (updates, validate_every)
    assert rehearsed["search"] == {
        "length_penalty": 0.3,
        "max_length_ratio": 1.0,
        "max_length_extra": 10,
    }


def test_a_rehearsal_that_says_that_memory_is_too_small_has_lacked_it(
    sample: list[CorpusConfig], tmp_path: Path, program: Path
) -> None:
    program.write_text(f"#!/bin/sh\necho 'dragoman: {OUT_OF_MEMORY}' >&2\nexit 1\n")

    with pytest.raises(RehearsalMemoryError, match=f"failed: {OUT_OF_MEMORY}"):
        rehearse({"training": {}}, sample, tmp_path, updates=2, minutes=1.0)
