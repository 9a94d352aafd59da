"""Runs on threads. The core releases the interpreter's lock, so threads run side by side."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from goodqueue._core import Cancel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

T = TypeVar("T")


def available_processors() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


JOBS_PER_PROCESSOR = 4
"""More threads than this for each processor only take memory."""


def jobs_of(wanted: int | None) -> int:
    """How many threads to use: those wanted or one per processor, as far as that makes sense.

    A note on standard error says where it is fewer than wanted.

    Args:
        wanted: the number that `--jobs` gives, if any.
    """
    processors = available_processors()
    most = JOBS_PER_PROCESSOR * processors
    if wanted is None or wanted <= most:
        return wanted or processors
    print(
        f"note: {most:,} threads instead of {wanted:,}, since {processors:,} processors have use "
        "for no more",
        file=sys.stderr,
    )
    return most


class Workers:
    """Threads that run calls. Each call is given the switch by which an interrupt stops it."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool
        self.cancel = Cancel()

    def submit(self, call: Callable[[Cancel], T]) -> Future[T]:
        """Starts a call as soon as a thread is free."""
        return self._pool.submit(call, self.cancel)


@contextmanager
def workers(jobs: int | None = None) -> Iterator[Workers]:
    """So many threads, or one per processor.

    On any exception, Ctrl-C too, what is under way is stopped and what has not started never does.
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
