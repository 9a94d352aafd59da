"""Processes of tests: signals have their usual effect on them, and none outlives its test."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

ENDING = (signal.SIGINT, signal.SIGTERM)
"""Signals that a process ignores if its starter does, as `nohup make test &` of a script does."""


@contextmanager
def started(
    command: Sequence[str | Path],
    **options: Any,  # noqa: ANN401 - those of subprocess.Popen
) -> Iterator[subprocess.Popen[Any]]:
    """Starts a process in a group of its own, which is killed at the end of the block.

    The process ends with this one, even if this one is killed (only on Linux). SIGINT and SIGTERM
    have their usual effect, even if this process ignores them.
    """
    dying = shutil.which("setpriv")
    ending = [] if dying is None else [dying, "--pdeathsig", "KILL"]
    with _usual_signals():
        process = subprocess.Popen([*ending, *command], start_new_session=True, **options)
    with process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def _usual_signals() -> Iterator[None]:
    """Handles the signals in Python. A new program has the usual effect of a handled signal."""
    before = {number: signal.getsignal(number) for number in ENDING}
    for number in ENDING:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
