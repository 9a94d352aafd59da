"""Helpers of the tests of `goodqueue emulate`."""

from __future__ import annotations

import json
import os
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

import conftest

if TYPE_CHECKING:
    from collections.abc import Callable

LINK = ("--rate=10Mbps", "--rtt=40ms")
goodqueue = partial(conftest.goodqueue, timeout=300)
"""The command line in a process of its own, whose output includes that of the programs."""

ENDED = {0, 7}
"""Exit codes of a run that ended: 7 on a machine that is too busy to be trusted."""


def missing(reason: str) -> None:
    """Skips a test, loudly. Fails it where GOODQUEUE_NEEDS_EMULATION is set, as in CI."""
    text = f"NO EMULATION ON THIS MACHINE: {reason}"
    if os.environ.get("GOODQUEUE_NEEDS_EMULATION"):
        pytest.fail(text)
    pytest.skip(text)


def need_emulation() -> None:
    """Skips a test where the operating system refuses what an emulation needs."""
    done = goodqueue("emulate", "--check")
    if done.returncode != 0:
        missing(done.stderr)


def emulated(*arguments: str) -> dict[str, Any]:
    """Returns the figures of an emulation, which follow the output of its programs."""
    done = goodqueue("emulate", *LINK, "--json", *arguments)
    assert done.returncode in ENDED, done.stderr
    return dict(json.loads(done.stdout[done.stdout.index("{\n") :]))


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    """Returns true as soon as a condition holds, and false after this many seconds."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True
