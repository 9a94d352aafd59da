"""Calls on threads, which run in parallel because the core releases the interpreter's lock."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from goodqueue._core import Cancel
from goodqueue.core.text import print_message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

T = TypeVar("T")


def available_processors() -> int:
    """Returns the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


JOBS_PER_PROCESSOR = 4
"""Largest useful number of threads per processor; more would only take memory."""


def jobs_of(wanted: int | None) -> int:
    """Returns the number of threads to use: the number wanted, up to a limit, or one per processor.

    If it is lower than wanted, a note on stderr says so.

    Args:
        wanted: the number that `--jobs` gives; None if it is not given.
    """
    processors = available_processors()
    most = JOBS_PER_PROCESSOR * processors
    if wanted is None or wanted <= most:
        return wanted or processors
    print_message(
        f"note: {most:,} threads instead of {wanted:,}, because more have no effect on "
        f"this machine (processors: {processors:,})"
    )
    return most


class Workers:
    """Threads that run calls; each call gets the switch by which an interrupt stops it."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool
        self.cancel = Cancel()

    def submit(self, call: Callable[[Cancel], T]) -> Future[T]:
        """Starts a call as soon as a thread is free."""
        return self._pool.submit(call, self.cancel)


@contextmanager
def workers(jobs: int | None = None) -> Iterator[Workers]:
    """Yields threads: as many as `jobs`, or one per processor.

    On any exception, including Ctrl-C, running calls are stopped and waiting calls are cancelled.
    """
    pool = ThreadPoolExecutor(jobs_of(jobs))
    threads = Workers(pool)
    try:
        yield threads
    except BaseException:
        threads.cancel.set()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
