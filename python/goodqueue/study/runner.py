"""Runner of runs whose figures are needed: uses an executor, and the store of studies as a cache.

Equal runs are run once, because the store finds them by identity.
"""

from __future__ import annotations

import math
import os
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from goodqueue.core.unfinished import scratch
from goodqueue.errors import DamageError, RequestError
from goodqueue.study.model import Keep, Run, Stop
from goodqueue.study.record.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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
        self.lasting = store.lasting
        self.stop = Stop()

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
        missing: dict[bytes, Run] = {}
        recorded = []
        for run in runs:
            if all((run.identity, metric) in self._known for metric in metrics):
                continue
            if self._store.has(run.identity, KEEP):
                recorded.append(run.identity)
            else:
                missing[run.identity] = run
        for identity, values in self._store.values(recorded, metrics) if recorded else ():
            self._remember(identity, metrics, values)
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
            if all((run.identity, metric) in self._known for metric in metrics)
            else None
            for run in runs
        ]

    def _remember(self, identity: bytes, metrics: Sequence[str], values: Sequence[float]) -> None:
        for metric, value in zip(metrics, values, strict=True):
            self._known[identity, metric] = value


@contextmanager
def user_store(name: str, own: Path | None = None) -> Iterator[Store]:
    """Opens the store of runs: in the user's cache, or in a named folder.

    If the cache is read-only, the store exists for this call only, and is not `lasting`.

    Raises:
        DamageError: if the store is damaged.
    """
    if own is not None:
        with closing(Store.open(own, keep_both=True)) as store:
            yield store
        return
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    try:
        store = Store.open(cache / "goodqueue" / name, keep_both=True)
    except DamageError:
        raise
    except RequestError:
        with scratch() as folder, closing(Store.open(folder / name)) as store:
            store.lasting = False
            yield store
        return
    with closing(store):
        yield store
