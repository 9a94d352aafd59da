"""Runs on threads of this process. The engine releases the interpreter's lock."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from typing import TYPE_CHECKING

from goodqueue.core.parallel import jobs_of
from goodqueue.runs.memory import Room, limit_of
from goodqueue.study.engine import execute_run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from goodqueue.study.model import Keep, Run, RunResult, Stop

BATCH_S = 0.02
"""Time in seconds within which results are returned together, for a common commit."""

MOST_WAITING = 256
"""Largest number of results that wait to be written; threads wait beyond it."""


class Threads:
    """A pool of `jobs` threads (one per processor by default, at most four per processor)."""

    def __init__(self, jobs: int | None = None, memory: int | None = None) -> None:
        """Takes the number of threads, and the memory in bytes that their runs may use together."""
        self.workers = jobs_of(jobs)
        self._room = Room(limit_of(None) if memory is None else memory)

    def execute(self, runs: Iterable[Run], keep: Keep, stop: Stop) -> Iterator[list[RunResult]]:
        """Runs all runs; see `Executor.execute`."""
        done: queue.Queue[RunResult | None] = queue.Queue(MOST_WAITING)
        source = iter(runs)
        lock = threading.Lock()

        def take() -> Run | None:
            with lock:
                return None if stop.draining else next(source, None)

        def work() -> None:
            try:
                while (run := take()) is not None:
                    variant = run.variant
                    needed = self._room.of(
                        variant.scenario, series=keep.series, engine=variant.engine
                    )
                    with needed:
                        result = execute_run(run, keep, stop.cancel)
                    if result is not None:
                        done.put(result)
            finally:
                done.put(None)

        threads = [threading.Thread(target=work, daemon=True) for _ in range(self.workers)]
        for thread in threads:
            thread.start()
        try:
            yield from _batches(done, len(threads))
        except BaseException:
            stop.abort()
            _discard(done, threads)
            raise
        for thread in threads:
            thread.join()

    def close(self) -> None:
        """Does nothing, because nothing is kept between calls."""


def _batches(done: queue.Queue[RunResult | None], working: int) -> Iterator[list[RunResult]]:
    """Yields results as they arrive, until every thread has ended."""
    pause = threading.Event()
    while working:
        first = _next(done)
        if first is not None:
            pause.wait(BATCH_S)
        batch = [first]
        while not done.empty():
            batch.append(done.get_nowait())
        working -= batch.count(None)
        results = [result for result in batch if result is not None]
        if results:
            yield results


AWAKE_S = 0.2
"""Seconds that the main thread waits at a time. It handles signals when it wakes, and a signal does
not always end its wait."""


def _next(done: queue.Queue[RunResult | None]) -> RunResult | None:
    """Returns the next result, however long it takes."""
    while True:
        with contextlib.suppress(queue.Empty):
            return done.get(timeout=AWAKE_S)


PATIENCE_S = 0.5
"""Seconds that threads with stopped runs have to end. A thread that builds a large network cannot
stop. It is left alone, and ends when the network is built."""


def _discard(done: queue.Queue[RunResult | None], threads: list[threading.Thread]) -> None:
    """Waits a little for threads that would otherwise wait for space."""
    end = time.monotonic() + PATIENCE_S
    for thread in threads:
        while thread.is_alive() and time.monotonic() < end:
            while not done.empty():
                done.get_nowait()
            thread.join(0.01)
