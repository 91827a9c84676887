"""Blocks for the machines of a Ray cluster.

Ray Data gives each actor one block after the other, starts another actor where one dies, and gives
it the block again. It moves no text: actors read the input and keep what is finished themselves, so
the input, the model and the folder of the output must have the same paths on every machine.
"""

import contextlib
import json
import logging
import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from dragoman.bulk.block_translator import BlockTranslator
from dragoman.bulk.file_format import Block, BulkError
from dragoman.bulk.files import Distribute, Done
from dragoman.bulk.job import Job
from dragoman.bulk.kept import KeptParts
from dragoman.config import DragomanError
from dragoman.device import num_cpus

if TYPE_CHECKING:
    import numpy as np

PROCESSORS_OF_ACTOR = 0.5
"""What an actor reserves. With a whole one, Ray Data's own tasks starve on a small machine."""

TELEMETRY = "RAY_USAGE_STATS_ENABLED"


def on_cluster(address: str | None, count: int | None) -> Distribute:
    """Distribute blocks among actors.

    Args:
        address: Of the cluster; None starts one on this machine, and ends it with the command.
        count: How many actors; None is one for each processor of the cluster.

    Raises:
        ModuleNotFoundError: Ray is not installed.
    """
    if find_spec("ray") is None:
        raise ModuleNotFoundError("No module named 'ray'", name="ray")
    return partial(_distribute, address, count)


def _distribute(
    address: str | None,
    count: int | None,
    job: Job,
    parts: KeptParts,
    run: str,
    blocks: Sequence[Block],
) -> Iterator[Done]:
    """Have the blocks translated by a pool of actors.

    Raises:
        BulkError: the cluster cannot be reached, or an actor has met what it could not set aside.
    """
    with _quiet(), _connected(address):
        import ray
        from ray.data import ActorPoolStrategy

        resources: dict[str, float] = ray.cluster_resources()
        actors = count or max(1, int(resources.get("CPU", 1)))
        rows = [{"block": json.dumps(asdict(block))} for block in blocks]
        answers = ray.data.from_items(rows, override_num_blocks=len(rows)).map_batches(
            _Actor,
            fn_constructor_args=(job, parts, run),
            batch_size=1,
            compute=ActorPoolStrategy(size=min(actors, len(rows))),
            num_cpus=PROCESSORS_OF_ACTOR,
        )
        for answer in answers.iter_rows():
            table = json.loads(answer["answer"])
            if "error" in table:
                raise BulkError(table["error"])
            yield Done(**table)


class _Actor:
    """A process of the cluster with a model of its own, on one thread."""

    def __init__(self, job: Job, parts: KeptParts, run: str) -> None:
        self._translator = BlockTranslator(job, parts, run, threads=1)

    def __call__(self, batch: dict[str, "np.ndarray[Any, Any]"]) -> dict[str, list[str]]:
        """Translate a block; an error goes back as an answer, as Ray would try again for ever."""
        block = Block(**json.loads(batch["block"][0]))
        try:
            finished = self._translator.translate(block)
            done = Done(block.num_lines, finished.warnings, self._translator.load())
            return {"answer": [json.dumps(done._asdict())]}
        except Exception as error:
            kind = "" if isinstance(error, DragomanError) else f"{type(error).__name__}: "
            return {"answer": [json.dumps({"error": f"{kind}{error}"})]}


@contextlib.contextmanager
def _connected(address: str | None) -> Iterator[None]:
    """Connect to a cluster, or start one that ends with this process and tells nobody of it.

    Raises:
        BulkError: there is no cluster at the address.
    """
    import ray

    try:
        if address is not None:
            ray.init(address=address, log_to_driver=False)
        else:
            with _environment(TELEMETRY, "0"):
                ray.init(
                    address="local",
                    num_cpus=num_cpus(),
                    include_dashboard=False,
                    log_to_driver=False,
                )
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise BulkError(f"the Ray cluster {address or 'of this machine'}: {error}") from error
    try:
        yield
    finally:
        ray.shutdown()


@contextlib.contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """Set a variable for processes that are started meanwhile."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep Ray's progress bars and its talk about itself from the user."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=DeprecationWarning, module=r"ray\.")
        from ray.data import DataContext

        context = DataContext.get_current()
        context.enable_progress_bars = False
        context.print_on_execution_start = False
        for name in ("ray", "ray.data"):
            logging.getLogger(name).setLevel(logging.ERROR)
        yield
