"""Blocks for several processes of this machine, each with a model of its own.

A process that dies is replaced, and another gets its block. Processes are spawned, because the
threads of an engine do not survive a fork.
"""

import contextlib
import os
import signal
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.resource_tracker import ensure_running
from threading import Thread
from typing import NamedTuple

from dragoman.bulk.attempts import MOST
from dragoman.bulk.block_translator import BlockTranslator, Done
from dragoman.bulk.file_format import Block, BulkError
from dragoman.bulk.files import Distribute
from dragoman.bulk.job import Job
from dragoman.bulk.partial_output import KeptParts
from dragoman.device import num_cpus


class _Worker(NamedTuple):
    process: BaseProcess
    channel: Connection
    """Blocks go one way; their outcome comes back: `Done`, or an exception."""


def with_workers(count: int) -> Distribute:
    """Distribute blocks among so many processes, which share the processors."""
    return partial(_distribute, count)


def _distribute(count: int, job: Job, parts: KeptParts, blocks: Sequence[Block]) -> Iterator[Done]:
    """Start the processes, and stop them however this ends."""
    job = replace(job, translator=replace(job.translator, threads=max(1, num_cpus() // count)))
    workers: list[_Worker] = []

    def start() -> _Worker:
        # One that has died has files open for as long as it is remembered.
        workers[:] = [worker for worker in workers if worker.process.is_alive()]
        workers.append(_start(job, parts))
        return workers[-1]

    try:
        yield from _feed(start, min(count, len(blocks)), blocks)
    finally:
        for worker in workers:
            worker.process.kill()  # it has nothing that is not saved
            worker.process.join()


def _feed(start: Callable[[], _Worker], count: int, blocks: Sequence[Block]) -> Iterator[Done]:
    """Give each worker a block as soon as it is free.

    Raises:
        Exception: an error that a worker met and could not set aside.
    """
    waiting, deaths = deque(blocks), Counter[int]()
    idle: list[_Worker] = []
    at_work: dict[object, tuple[_Worker, Block]] = {}  # by channel
    while waiting or at_work:
        while waiting and len(at_work) < count:
            worker, block = idle.pop() if idle else start(), waiting.popleft()
            with contextlib.suppress(BrokenPipeError):  # if it is dead, recv fails below
                worker.channel.send(block)
            at_work[worker.channel] = worker, block
        for channel in wait([worker.channel for worker, _ in at_work.values()]):
            worker, block = at_work.pop(channel)
            try:
                answer = worker.channel.recv()
            except (EOFError, OSError):  # the channel ended, perhaps within an answer
                deaths[block.number] += 1
                _judge_death(worker, deaths[block.number])
                waiting.appendleft(block)
                continue
            if isinstance(answer, Exception):
                raise answer
            idle.append(worker)
            yield answer


def _judge_death(worker: _Worker, deaths: int) -> None:
    """Give up if it is not the block that kills the processes.

    Raises:
        BulkError: no process can start to work.
    """
    worker.process.join()
    if worker.process.exitcode == 1 or deaths > MOST:
        raise BulkError(
            f"a worker process ended with exit code {worker.process.exitcode} before it could "
            "work; see its own message above, if there is one"
        )


def _start(job: Job, parts: KeptParts) -> _Worker:
    """Start a process that Ctrl-C does not reach, from its first moment: the parent decides."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, job, parts), daemon=True)
    ensure_running()  # as this one would let signals through again while the other is started
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # the process inherits it
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    theirs.close()  # so that the end of the process is the end of the channel
    return _Worker(process, ours)


def _work(channel: Connection, job: Job, parts: KeptParts) -> None:
    """Translate the blocks that come, in a process of its own."""
    Thread(target=_end_with_parent, daemon=True).start()
    translator = BlockTranslator(job, parts)
    with contextlib.suppress(EOFError):
        while True:
            block = channel.recv()
            try:
                channel.send(translator.translate(block))
            except Exception as error:
                channel.send(error)


def _end_with_parent() -> None:
    """End this process at once when the one that started it ends, killed or not."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
