"""What a rehearsal has taken is read from its journal."""

from pathlib import Path

import pytest

from dragoman.cli.options import MOST_MINUTES
from dragoman.corpora.store_description import StoreDescription, StoredFile
from dragoman.planning import rehearsal
from dragoman.planning.rehearsal import Rehearsal
from dragoman.planning.text import PlanError

JOURNAL = [
    {"event": "start", "time": 110.0},
    {"event": "update", "time": 120.0, "update": 1, "tokens": 90},
    {"event": "update", "time": 121.0, "update": 2, "tokens": 200},
    {"event": "validation", "time": 127.0, "update": 2},
    {"event": "checkpoint", "time": 129.0, "peak_mib": 500.0},
    {"event": "update", "time": 130.0, "update": 3, "tokens": 300},
    {"event": "update", "time": 131.5, "update": 4, "tokens": 420},
    {"event": "update", "time": 132.0, "update": 5, "tokens": 540},
    {"event": "validation", "time": 138.0, "update": 5},
    {"event": "checkpoint", "time": 139.0, "peak_mib": 600.0},
]

STORE = StoreDescription(
    format_version=1,
    fingerprint="f",
    max_length=9,
    pairs=10,
    corpora=(),
    files=(
        StoredFile(name="source.tokens", dtype="<u2", count=50, sha256=""),
        StoredFile(name="source.offsets", dtype="<i8", count=11, sha256=""),
    ),
)


def test_times_are_those_between_the_events_after_the_first_validation() -> None:
    assert rehearsal._read(JOURNAL, 100.0, STORE) == Rehearsal(
        seconds_before=10.0,
        seconds_per_update=1.0,  # two from the third to the fifth, in two seconds
        tokens_per_second=120.0,
        seconds_per_validation=6.0,
        seconds_per_checkpoint=2.0,  # three until the next update, of which it takes one itself
        peak_mib=600.0,
        stored_bytes_per_pair=18.8,
    )


def test_a_training_may_last_longer_than_a_process_can_be_waited_for(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"^the rehearsal of the training failed: .*language"):
        rehearsal.rehearse({"training": {}}, (), tmp_path, updates=1, minutes=MOST_MINUTES)
