"""Runs on threads of this process. The engine releases the interpreter's lock."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING

from goodqueue.core.parallel import jobs_of
from goodqueue.runs.memory import Room, limit_of, needed, parts
from goodqueue.study.engine import execute_runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from goodqueue.study.model import Keep, Run, RunResult, Stop

BATCH_S = 0.02
"""Time in seconds within which results are returned together, for a common commit. A thread takes
about as many short runs at a time as it runs in this time."""

MAX_RUNS = 256
"""Largest number of runs that a thread takes at a time."""

MAX_WAITING = 16
"""Largest number of batches of results that wait to be written; threads wait beyond it."""


class Threads:
    """A pool of `jobs` threads (one per processor by default, at most four per processor)."""

    def __init__(self, jobs: int | None = None, memory: int | None = None) -> None:
        """Takes the number of threads, and the memory in bytes that their runs may use together."""
        self.workers = jobs_of(jobs)
        self._room = Room(limit_of(None) if memory is None else memory)

    def execute(self, runs: Iterable[Run], keep: Keep, stop: Stop) -> Iterator[list[RunResult]]:
        """Runs all runs; see `Executor.execute`."""
        done: queue.Queue[list[RunResult] | None] = queue.Queue(MAX_WAITING)
        source = _Source(runs, stop)

        def work() -> None:
            wanted = 1
            try:
                while taken := source.take(wanted):
                    with self._room.taken(self._needed(taken, keep)):
                        results = execute_runs(taken, keep, stop.cancel, BATCH_S)
                    source.give_back(taken[len(results) :])
                    if not results:
                        break
                    mean_s = sum(result.wall_s for result in results) / len(results)
                    wanted = max(1, min(MAX_RUNS, int(BATCH_S / max(mean_s, 1e-9))))
                    done.put(results)
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

    @staticmethod
    def _needed(runs: Sequence[Run], keep: Keep) -> int:
        """Returns the bytes for runs that are run one after another."""
        variants = {id(run.variant): run.variant for run in runs}.values()
        return max(
            needed(parts(one.scenario, series=keep.series, packets=False, engine=one.engine))
            for one in variants
        )

    def close(self) -> None:
        """Does nothing, because nothing is kept between calls."""


class _Source:
    """The runs that no thread has taken yet, in their order."""

    def __init__(self, runs: Iterable[Run], stop: Stop) -> None:
        self._runs = iter(runs)
        self._returned: deque[Run] = deque()
        self._stop = stop
        self._lock = threading.Lock()

    def take(self, count: int) -> list[Run]:
        """Returns the next runs, at most `count`; none if no further run is to be started."""
        with self._lock:
            if self._stop.draining:
                return []
            first = [self._returned.popleft() for _ in range(min(count, len(self._returned)))]
            return first + list(islice(self._runs, count - len(first)))

    def give_back(self, runs: Sequence[Run]) -> None:
        """Takes back runs that were not run."""
        with self._lock:
            self._returned.extendleft(reversed(runs))


def _batches(done: queue.Queue[list[RunResult] | None], working: int) -> Iterator[list[RunResult]]:
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
        results = [result for some in batch if some is not None for result in some]
        if results:
            yield results


AWAKE_S = 0.2
"""Seconds that the main thread waits at a time. It handles signals when it wakes, and a signal does
not always end its wait."""


def _next(done: queue.Queue[list[RunResult] | None]) -> list[RunResult] | None:
    """Returns the next results, however long it takes."""
    while True:
        with contextlib.suppress(queue.Empty):
            return done.get(timeout=AWAKE_S)


PATIENCE_S = 0.5
"""Seconds that threads with stopped runs have to end. A thread that builds a large network cannot
stop. It is left alone, and ends when the network is built."""


def _discard(done: queue.Queue[list[RunResult] | None], threads: list[threading.Thread]) -> None:
    """Waits a little for threads that would otherwise wait for space."""
    end = time.monotonic() + PATIENCE_S
    for thread in threads:
        while thread.is_alive() and time.monotonic() < end:
            while not done.empty():
                done.get_nowait()
            thread.join(0.01)
