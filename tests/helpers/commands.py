"""The command line in a process of its own: on a terminal, and interrupted by Ctrl-C."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import time
from typing import TYPE_CHECKING

from conftest import COMMAND
from helpers.processes import started

if TYPE_CHECKING:
    from pathlib import Path

ANSI = "\x1b["
"""Beginning of an escape sequence of a terminal."""


def on_terminal(*arguments: object, typed: str | None = None, **environment: str) -> str:
    """Returns the output of the command on a terminal, on which a text may be typed."""
    parent, child = pty.openpty()
    with started(
        [COMMAND, *map(str, arguments)],
        stdout=child,
        stderr=child,
        stdin=subprocess.DEVNULL if typed is None else child,
        env={**os.environ, "TERM": "xterm-256color", **environment},
    ) as process:
        os.close(child)
        if typed is not None:
            os.write(parent, typed.encode())
        printed = b""
        while True:
            try:
                chunk = os.read(parent, 4096)
            except OSError:  # reading fails when the process has ended
                break
            if not chunk:
                break
            printed += chunk
        assert process.wait(30) == 0
    os.close(parent)
    return printed.decode()


def interrupted(arguments: list[object], after_s: float, folder: Path) -> tuple[float, str]:
    """Sends SIGINT after `after_s`; returns the seconds until the command ends, and its output."""
    with started(
        [COMMAND, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "XDG_CACHE_HOME": str(folder)},
    ) as process:
        time.sleep(after_s)
        assert process.poll() is None, process.communicate()
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, words = process.communicate(timeout=60)
        assert process.returncode == 130, words
        return time.monotonic() - sent, words
