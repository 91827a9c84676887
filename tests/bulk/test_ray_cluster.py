"""A real Ray cluster on this machine, with actors that die."""

import json
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from dragoman.bulk.file_format import LINES_PER_BLOCK, LINES_PER_BLOCK_ON_GPU, BulkError
from dragoman.bulk.files import rejections_path
from dragoman.bulk.job import Job
from dragoman.bulk.ray_cluster import on_cluster, on_processors
from dragoman.errors import UsageError

from .conftest import LINES, POISON, Start, result_of


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_cluster_delivers_everything_though_an_actor_is_killed_and_a_line_is_poison(
    job: Job, text: Path, start: Start
) -> None:
    source = text.with_suffix(".jsonl")
    lines = [*LINES[:40], "w1 w19", *LINES[41:99], "w1 poison w2", *LINES[100:]]
    source.write_text("".join(json.dumps({"id": i, "t": t}) + "\n" for i, t in enumerate(lines)))

    rejected, _ = result_of(start("ray", source=source, field="t", injected=POISON), timeout=220)

    assert rejected == 1
    assert (text.parent / "injected" / "already").exists()  # so an actor has died there, too
    records = [json.loads(line) for line in source.with_name("out.jsonl").read_text().splitlines()]
    assert [record["id"] for record in records] == list(range(150))
    translations = job.translator.load()(lines)
    assert [record["translation"] for record in records] == [
        None if record["id"] == 99 else translations[record["id"]] for record in records
    ]
    assert "died: 2 times" in rejections_path(source.with_name("out.jsonl")).read_text()


def test_a_cluster_that_is_not_there_is_told_at_once() -> None:
    with socket.create_server(("localhost", 0)) as closed:
        address = f"localhost:{closed.getsockname()[1]}"

    with pytest.raises(BulkError, match=f"^the Ray cluster {address}: Connection refused; give"):
        on_cluster(address, 1)


def test_a_cluster_translates_on_processors_in_blocks_for_these(job: Job) -> None:
    on_gpu = replace(job, lines_per_block=LINES_PER_BLOCK_ON_GPU)
    asked_for = replace(job, translator=replace(job.translator, device="cuda"))

    assert on_processors(job).lines_per_block == job.lines_per_block
    assert on_processors(on_gpu).lines_per_block == LINES_PER_BLOCK
    assert on_processors(job).translator.device == "cpu"
    with pytest.raises(UsageError, match="--cluster translates on processors, not on cuda; leave"):
        on_processors(asked_for)
