"""The processes of an emulation: how they are started, watched and ended."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from contextlib import contextmanager, suppress
from threading import Lock
from typing import IO, TYPE_CHECKING, Any

from goodqueue.errors import RequestError
from goodqueue.live.remedies import explained
from goodqueue.live.stage import launcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Watch = Callable[[dict[str, Any]], None]

PATIENCE_S = 0.8
"""Time that the processes of a run have to end after an interrupt."""


class Interrupt:
    """Ends emulations that run in other threads, as Ctrl-C does in the main thread."""

    def __init__(self) -> None:
        self._asked = False
        self._jobs: set[IO[bytes]] = set()
        self._lock = Lock()

    def ask(self) -> None:
        """Ends the present emulations, and further ones as soon as they start."""
        with self._lock:
            self._asked = True
            for job in self._jobs:
                job.close()

    @contextmanager
    def ends(self, job: IO[bytes]) -> Iterator[None]:
        """Lets `ask` end the emulation that reads this job, until the end of the block."""
        with self._lock:
            self._jobs.add(job)
            if self._asked:
                job.close()
        try:
            yield
        finally:
            with self._lock:
                self._jobs.discard(job)
                job.close()


def run_stages(
    job: dict[str, Any],
    stop: Interrupt,
    watch: Watch | None = None,
    files: Sequence[int] = (),
    output: int | None = None,
) -> dict[str, Any]:
    """Runs the stages of a job. Returns their answer.

    Args:
        job: the job, as `route` in `stage.py` reads it.
        stop: ends the run from another thread.
        watch: called each second with the activity of the links.
        files: numbers of open files that programs inherit.
        output: number of the open file that is the programs' standard output; None for ours.

    Raises:
        RequestError: if the operating system refuses a step; the message has the remedy.
    """
    job_read, job_write = os.pipe()
    answer_read, answer_write = os.pipe()
    stage = subprocess.Popen(  # noqa: S603 - our own interpreter
        [*launcher("enter"), str(job_read), str(answer_write)],
        pass_fds=(job_read, answer_write, *files),
        stdout=output,
    )
    os.close(job_read)
    os.close(answer_write)
    with os.fdopen(job_write, "wb", buffering=0) as file:
        try:
            with suppress(BrokenPipeError):
                file.write(json.dumps(job).encode() + b"\n")
            with stop.ends(file):
                answer = _answer(answer_read, file, watch)
        finally:
            file.close()
            with suppress(subprocess.TimeoutExpired):
                stage.wait(PATIENCE_S)
            stage.kill()
            stage.wait()
            os.close(answer_read)
    found = dict(json.loads(answer or '{"refused": "the emulation ended without an answer"}'))
    if "refused" in found:
        raise RequestError(f"no emulation here: {explained(found['refused'])}")
    return found


def _answer(answer: int, job: IO[bytes], watch: Watch | None) -> bytes:
    """Returns the last line of `answer`. `watch` gets the lines before it.

    The first interrupt ends the run, whose answer comes soon. Without an answer, or at the second
    one, the interrupt is raised.
    """
    text = b""
    until: float | None = None
    while True:
        left = None if until is None else max(until - time.monotonic(), 0)
        try:
            ready = select.select([answer], [], [], left)[0]
        except KeyboardInterrupt:
            if until is not None:
                raise
            until = time.monotonic() + PATIENCE_S
            job.close()
            continue
        if not ready:
            raise KeyboardInterrupt
        part = os.read(answer, 1 << 16)
        if not part:
            return text
        *lines, text = (text + part).split(b"\n")
        for line in lines:
            if watch is not None:
                watch(json.loads(line))
