"""Runner of runs whose figures are needed: uses an executor, and the store of studies as a cache.

Equal runs are run once, because the store finds them by identity.
"""

from __future__ import annotations

import math
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from goodqueue.study.model import Keep, Run, Stop
from goodqueue.study.record.cache import cached
from goodqueue.study.record.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from goodqueue.study.model import Executor

KEEP = Keep()


class Runner:
    """Runs the runs that the store does not contain, and returns the figures of all."""

    def __init__(
        self, store: Store, executor: Executor, on_run: Callable[[int], None] = lambda _left: None
    ) -> None:
        """Takes the store, the executor, and the function to call after each run."""
        self._store = store
        self._executor = executor
        self._on_run = on_run
        self._known: dict[tuple[bytes, str], float] = {}
        self.stop = Stop()

    @property
    def lasting(self) -> bool:
        """True if the results still exist after the command."""
        return self._store.lasting

    @property
    def folder(self) -> Path:
        """Folder of the store with the results."""
        return self._store.folder

    def figures(self, runs: Sequence[Run], metrics: Sequence[str]) -> list[list[float]]:
        """Returns the metrics of each run, in the order given.

        Raises:
            KeyboardInterrupt: if the runner was stopped; the store has the finished runs.
            RuntimeError: if a run failed.
        """
        wanted = {run.identity: run for run in runs if not self._knows(run, metrics)}
        recorded = [identity for identity in wanted if self._store.has(identity, KEEP)]
        for identity, values in self._store.values(recorded, metrics) if recorded else ():
            self._remember(identity, metrics, values)
        missing = {name: run for name, run in wanted.items() if not self._knows(run, metrics)}
        left = len(missing)
        for results in self._executor.execute(missing.values(), KEEP, self.stop):
            self._store.record(results, KEEP)
            for result in results:
                if result.error is not None:
                    raise RuntimeError(f"a run failed: {result.error}")
                found = result.metrics
                values = [found.get(metric, math.nan) for metric in metrics]
                self._remember(result.run.identity, metrics, values)
                left -= 1
                self._on_run(left)
        if self.stop.draining and left:
            raise KeyboardInterrupt
        return [[self._known[run.identity, metric] for metric in metrics] for run in runs]

    @property
    def workers(self) -> int:
        """Number of concurrent runs."""
        return self._executor.workers

    def finished(self, runs: Sequence[Run], metrics: Sequence[str]) -> list[list[float] | None]:
        """Returns the metrics of each run in the order given; None for an unfinished run."""
        return [
            [self._known[run.identity, metric] for metric in metrics]
            if self._knows(run, metrics)
            else None
            for run in runs
        ]

    def _knows(self, run: Run, metrics: Sequence[str]) -> bool:
        return all((run.identity, metric) in self._known for metric in metrics)

    def _remember(self, identity: bytes, metrics: Sequence[str], values: Sequence[float]) -> None:
        for metric, value in zip(metrics, values, strict=True):
            self._known[identity, metric] = value


@contextmanager
def user_store(name: str, own: Path | None = None) -> Iterator[Store]:
    """Opens the store of runs: in the user's cache, or in a named folder.

    If the cache cannot be used, the store exists for this call only, and is not `lasting`.

    Raises:
        RequestError: if the named folder is damaged or cannot be used.
    """
    if own is not None:
        with closing(Store.open(own, keep_both=True)) as store:
            yield store
        return
    with cached(name) as store:
        yield store
