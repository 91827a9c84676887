"""Blocks for the machines of a Ray cluster.

Ray Data gives each actor one block after another, starts another actor when one dies, and gives it
the block again. It moves no text: actors read the input and save what is finished themselves, so
the input, the model and the folder of the output must have the same paths on every machine.
"""

import contextlib
import json
import logging
import os
import socket
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dragoman.bulk.block_translator import BlockTranslator, Done
from dragoman.bulk.file_format import LINES_PER_BLOCK, Block, BulkError
from dragoman.bulk.files import Distribute
from dragoman.bulk.job import Job
from dragoman.bulk.partial_output import KeptParts
from dragoman.device import num_cpus
from dragoman.errors import DragomanError, UsageError

if TYPE_CHECKING:
    import numpy as np

PROCESSORS_OF_ACTOR = 0.5
"""What an actor reserves. With a whole one, Ray Data's own tasks starve on a small machine."""

OF_THE_CLUSTER = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal"}
"""Environment of the processes of a cluster that is started here: no telemetry, no chatter."""

SECONDS_TO_ANSWER = 10
"""How long a cluster may take to accept a connection."""


def on_cluster(address: str | None, count: int | None) -> Distribute:
    """Distribute the blocks of a job that is `on_processors` among actors.

    Args:
        address: Of the cluster; None starts one on this machine, which ends with the command.
        count: How many actors; None means one for each processor of the cluster.

    Raises:
        ModuleNotFoundError: Ray is not installed.
        BulkError: there is no cluster at the address.
    """
    if find_spec("ray") is None:
        raise ModuleNotFoundError("No module named 'ray'", name="ray")
    if address not in (None, "auto"):
        _reach(address)
    return partial(_distribute, address, count)


def _distribute(
    address: str | None,
    count: int | None,
    job: Job,
    parts: KeptParts,
    blocks: Sequence[Block],
) -> Iterator[Done]:
    """Have the blocks translated by a pool of actors.

    Raises:
        BulkError: the cluster cannot be reached, or an actor met an error that it cannot set aside.
    """
    _be_quiet()
    with _connected(address):
        import ray
        from ray.data import ActorPoolStrategy

        resources: dict[str, float] = ray.cluster_resources()
        actors = count or max(1, int(resources.get("CPU", 1)))
        rows = [{"block": json.dumps(asdict(block))} for block in blocks]
        answers = ray.data.from_items(rows, override_num_blocks=len(rows)).map_batches(
            _Actor,
            fn_constructor_args=(job, parts, Path.cwd()),
            batch_size=1,
            compute=ActorPoolStrategy(size=min(actors, len(rows))),
            num_cpus=PROCESSORS_OF_ACTOR,
        )
        for answer in answers.iter_rows():
            table = json.loads(answer["answer"])
            if "error" in table:
                raise BulkError(table["error"])
            yield Done(**table)


def on_processors(job: Job) -> Job:
    """Translate on CPUs, because all actors would take the one GPU that a machine may have.

    The device is part of the job's identity.

    Raises:
        UsageError: a GPU was asked for.
    """
    if job.translator.device not in ("auto", "cpu"):
        raise UsageError(
            f"--cluster translates on processors, not on {job.translator.device}; leave one out"
        )
    translator = replace(job.translator, device="cpu")
    lines_per_block = min(job.lines_per_block, LINES_PER_BLOCK)  # as a GPU may have asked for more
    return replace(job, translator=translator, lines_per_block=lines_per_block)


class _Actor:
    """A process of the cluster with a model of its own, on one thread."""

    def __init__(self, job: Job, parts: KeptParts, directory: Path) -> None:
        job = replace(job, translator=replace(job.translator, threads=1))
        self._translator = BlockTranslator(job, parts)
        self._directory = directory
        """Where the command runs: the paths that it was given may be relative to it."""

    def __call__(self, batch: dict[str, "np.ndarray[Any, Any]"]) -> dict[str, list[str]]:
        """Translate a block; return an error as an answer, because Ray would retry forever."""
        block = Block(**json.loads(batch["block"][0]))
        try:
            os.chdir(self._directory)
            return {"answer": [json.dumps(self._translator.translate(block)._asdict())]}
        except Exception as error:
            kind = "" if isinstance(error, DragomanError) else f"{type(error).__name__}: "
            return {"answer": [json.dumps({"error": f"{kind}{error}"})]}


@contextlib.contextmanager
def _connected(address: str | None) -> Iterator[None]:
    """Connect to a cluster, or start one that ends with this process and reports to nobody.

    Raises:
        BulkError: there is no cluster at the address.
    """
    import ray

    try:
        if address is not None:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        else:
            os.environ.update(OF_THE_CLUSTER)
            ray.init(
                address="local",
                num_cpus=num_cpus(),
                include_dashboard=False,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
    except Exception as error:  # Ray raises nothing narrower when its start takes too long
        raise BulkError(f"the Ray cluster {address or 'of this machine'}: {error}") from error
    try:
        yield
    finally:
        ray.shutdown()


def _reach(address: str) -> None:
    """Connect to HOST:PORT once: where nothing answers, Ray would try again for many minutes.

    Raises:
        BulkError: nothing answers.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), port), timeout=SECONDS_TO_ANSWER).close()
    except OSError as error:
        raise BulkError(
            f"the Ray cluster {address}: {error.strerror or error}; give the address of one that "
            "is running, or --cluster alone after the files"
        ) from None


def _be_quiet() -> None:
    """Keep Ray's progress bars and messages about itself from the user."""
    warnings.filterwarnings("ignore", category=DeprecationWarning, module=r"ray\.")
    from ray.data import DataContext

    context = DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
