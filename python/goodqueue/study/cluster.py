"""Runs on a Dask cluster: any machines that have this package and run `dask worker`.

Runs are sent in batches, so that scheduling costs little even for short ones. If a worker is lost,
the scheduler gives its batches to others. Runs whose results were not returned are run again, with
the same results.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import pickle
import queue
import socket
import time
from collections import deque
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import fields
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from goodqueue import _core
from goodqueue.errors import RequestError
from goodqueue.study.engine import execute_run
from goodqueue.study.model import Keep, Run, RunResult, Stop, Variant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from distributed import Client, Future

BATCH_S = 0.25
"""Duration of a batch in seconds: a hundred times the cost of scheduling it."""

MAX_IN_A_BATCH = 256
AHEAD = 2
"""Batches per thread that the scheduler holds, so that no thread waits for the next."""

CONNECT_S = 10
WORKERS_S = 10
RECOUNT_S = 5
PATIENCE_S = 60
"""Seconds for which a study waits for a worker to come back; nannies take seconds."""


class VersionError(Exception):
    """The engine of a worker has another version than ours."""


def work(payload: bytes) -> bytes:
    """Runs a batch on a worker; takes and returns pickles.

    A result has all fields of a `RunResult` but its run, which the client keeps.
    """
    version, keep, batch = pickle.loads(payload)  # noqa: S301 - from our own scheduler
    own = _core.results_version()
    if own != version:
        raise VersionError(f"its engine gives results {own}, and this machine's {version}")
    results = []
    for scenario, seed, engine in batch:
        variant = Variant(0, {}, scenario, b"", engine)
        result = execute_run(Run(variant, seed, b""), keep)
        if result is None:
            raise InterruptedError("the worker was interrupted")
        results.append([getattr(result, field.name) for field in fields(result)[1:]])
    return pickle.dumps(results, protocol=5)


class Cluster:
    """The threads of all workers of a Dask scheduler."""

    def __init__(self, address: str) -> None:
        """Connects to the scheduler.

        Raises:
            RequestError: if Dask is not installed, no scheduler answers, or it has no workers.
        """
        self._address = address
        self._client = _connect(address)
        self._counted = self._seen = 0.0
        self.workers = 0
        try:
            self.count()
            if not self.workers:
                self._client.wait_for_workers(1, timeout=WORKERS_S)
                self.count()
        except (OSError, TimeoutError):
            self.close()
            raise RequestError(
                f"the scheduler at {address} has no workers; start some: dask worker {address}"
            ) from None

    def execute(self, runs: Iterable[Run], keep: Keep, stop: Stop) -> Iterator[list[RunResult]]:
        """Runs all runs; see `Executor.execute`."""
        flight = _Flight(self._client, runs, keep)
        self._seen = time.monotonic()
        try:
            while True:
                self._look()
                while not stop.draining and len(flight) < self._depth(flight.mean_s):
                    if not flight.launch():
                        break
                if stop.aborted or not len(flight):
                    return
                results = flight.landed()
                if results:
                    yield results
        except (_LostError, OSError, asyncio.CancelledError, CancelledError):
            raise RequestError(
                f"the connection to the scheduler at {self._address} is lost; recorded "
                "runs are kept, and the same command continues"
            ) from None
        finally:
            flight.cancel()

    def close(self) -> None:
        """Closes the connection; scheduler and workers go on."""
        self._client.close(timeout=2)

    def _depth(self, mean_s: float) -> int:
        """Returns the number of batches to send: for long runs, only those that can run at once."""
        return self.workers * AHEAD if mean_s < 4 * BATCH_S else self.workers + 1

    def _look(self) -> None:
        """Counts the workers every few seconds; gives up if there were none for `PATIENCE_S`."""
        now = time.monotonic()
        if now - self._counted > RECOUNT_S:
            self.count()
        if self.workers:
            self._seen = now
        elif now - self._seen > PATIENCE_S:
            raise RequestError(
                f"{self._address} has no workers any more; recorded runs are kept; start "
                "other workers, and the same command continues"
            )

    def count(self) -> None:
        """Counts the threads of the workers that are connected now."""
        threads = self._client.scheduler_info(n_workers=-1)["workers"].values()
        self.workers = sum(worker["nthreads"] for worker in threads)
        self._counted = time.monotonic()


class _LostError(Exception):
    """The connection to the scheduler is lost."""


class _Flight:
    """The batches of one call of `execute` that were sent and have not ended."""

    def __init__(self, client: Client, runs: Iterable[Run], keep: Keep) -> None:
        self._client = client
        self._source = iter(runs)
        self._keep = keep
        self._again: deque[list[Run]] = deque()
        self._suspects: deque[Run] = deque()  # runs whose worker ended
        # True if only one batch was sent, and it holds a single run that may have ended a worker.
        self._alone = False
        self._under_way: dict[str, tuple[Future, list[Run]]] = {}
        self._done: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self.mean_s = 0.0

    def __len__(self) -> int:
        return len(self._under_way)

    def launch(self) -> bool:
        """Sends the next batch. Returns False if there is none."""
        size = 1
        if self.mean_s:
            size = max(1, min(MAX_IN_A_BATCH, int(BATCH_S / self.mean_s)))
        batch = self._again.popleft() if self._again else list(itertools.islice(self._source, size))
        suspect = not batch and self._suspects and not self._under_way
        if suspect:
            batch = [self._suspects.popleft()]
        if not batch:
            return False
        self._alone = bool(suspect)
        variants = [(run.variant, run.seed) for run in batch]
        what = [(one.scenario, seed, one.engine) for one, seed in variants]
        payload = pickle.dumps((_core.results_version(), self._keep, what), protocol=5)
        future = self._client.submit(work, payload, pure=False)
        self._under_way[future.key] = (future, batch)
        future.add_done_callback(self._done.put)
        return True

    def landed(self) -> list[RunResult]:
        """Returns the results of batches that have ended, after a short wait at most."""
        ended = _all_of(self._done)
        finished = {future.key: future for future in ended if future.status == "finished"}
        # A worker may be lost before it returns results: its batches are then gathered after a
        # second run.
        payloads = self._client.gather(finished, errors="skip") if finished else {}
        results = []
        for future in ended:
            _, batch = self._under_way.pop(future.key)
            if future.key in payloads:
                found = pickle.loads(payloads[future.key])  # noqa: S301
                results += [RunResult(run, *one) for run, one in zip(batch, found, strict=True)]
            else:
                results += self._failed(future, batch)
        if results:
            mean = sum(result.wall_s for result in results) / len(results)
            self.mean_s = mean if not self.mean_s else (self.mean_s + mean) / 2
        return results

    def _failed(self, future: Future, batch: Sequence[Run]) -> list[RunResult]:
        """Handles a batch without results: sends it again, or returns failed runs.

        A lost worker usually holds several runs, and one of them may have caused its end. All of
        these runs are repeated at the end, one at a time. If a worker is lost again, its only run
        is the cause.
        """
        from distributed import KilledWorker

        if future.status in {"cancelled", "lost"}:
            raise _LostError
        error = future.exception() if future.status == "error" else None
        if error is None:
            self._again.append(list(batch))
            return []
        if isinstance(error, KilledWorker) and not self._alone:
            self._suspects += batch
            return []
        if isinstance(error, KilledWorker):
            why = "the worker died in each attempt"
            return [RunResult(run, (), b"", 0.0, "", error=why) for run in batch]
        raise RequestError(
            f"a worker cannot run this study ({type(error).__name__}: {error}); install the same "
            "version of goodqueue on every machine of the cluster"
        )

    def cancel(self) -> None:
        """Cancels the batches that have been sent."""
        left = [future for future, _ in self._under_way.values()]
        self._under_way.clear()
        if left and self._client.status == "running":
            with suppress(OSError):
                self._client.cancel(left, force=True)


def _all_of(done: queue.SimpleQueue[Future], patience_s: float = 0.1) -> list[Future]:
    """Waits a little for a first result, then takes all that are present."""
    ended = []
    try:
        ended.append(done.get(timeout=patience_s))
        while True:
            ended.append(done.get_nowait())
    except queue.Empty:
        return ended


def _connect(address: str) -> Client:
    try:
        from distributed import Client
    except ImportError:
        raise RequestError(
            "--cluster needs Dask, which is not installed: pip install 'goodqueue[cluster]'"
        ) from None
    # Dask's messages are switched off, because the study prints its own.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        _knock(address)
        return Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        why = (
            "this is not an address"
            if isinstance(error, ValueError)
            else "no scheduler answers there"
        )
        raise RequestError(
            f"--cluster {address}: {why}; start one with `dask scheduler`, and name its address, "
            "such as tcp://host:8786"
        ) from None


def _knock(address: str) -> None:
    """Checks that the address is reachable: a client that cannot connect prints a traceback."""
    parts = urlsplit(address if "://" in address else f"tcp://{address}")
    if parts.scheme not in {"tcp", "tls"} or not parts.hostname or not parts.port:
        raise ValueError(address)
    socket.create_connection((parts.hostname, parts.port), timeout=CONNECT_S).close()
