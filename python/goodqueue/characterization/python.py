"""Runs with queues that are written in Python, on threads of this process."""

from __future__ import annotations

import platform
import time
from concurrent.futures import as_completed
from functools import partial
from typing import TYPE_CHECKING

from goodqueue.core.parallel import jobs_of, workers
from goodqueue.study.model import RunResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from goodqueue._core import Cancel
    from goodqueue.runs.queues import QueueFactory
    from goodqueue.study.model import Keep, Run, Stop


class PythonQueues:
    """Executor of variants whose links have queues that are written in Python.

    Attributes:
        workers: number of threads.
    """

    def __init__(
        self, queues: Sequence[Sequence[tuple[str, QueueFactory]]], jobs: int | None
    ) -> None:
        """Takes the queues of each variant by the name of their link, and the number of threads."""
        self._queues = queues
        self.workers = jobs_of(jobs)

    def execute(self, runs: Iterable[Run], keep: Keep, stop: Stop) -> Iterator[list[RunResult]]:
        """Runs all runs; see `Executor.execute`. Tables are not kept."""
        del keep
        with workers(self.workers) as threads:
            futures = [threads.submit(partial(self._run, run)) for run in runs]
            for future in as_completed(futures):
                if stop.draining:
                    break
                yield [future.result()]

    def close(self) -> None:
        """Does nothing, because nothing is kept between calls."""

    def _run(self, run: Run, cancel: Cancel) -> RunResult:
        begun = time.perf_counter()
        scenario = run.variant.scenario.with_seed(run.seed)
        outcome = scenario.run(queues=self._queues[run.variant.index], cancel=cancel)
        names, values = outcome.metrics()
        wall_s = time.perf_counter() - begun
        return RunResult(run, tuple(names.split("\n")), values, wall_s, platform.node())
