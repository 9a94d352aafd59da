"""The emulator asks for short slices, and its programs have those of the user."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

SLICES = """
import ctypes, os
from goodqueue.live import precedence

def slice_ns():
    found = precedence._Attributes()
    number = precedence.CALLS[os.uname().machine] + 1
    size = ctypes.sizeof(found)
    assert ctypes.CDLL(None).syscall(number, 0, ctypes.byref(found), size, 0) == 0
    return found.runtime

before = slice_ns(), os.getpriority(os.PRIO_PROCESS, 0)
niceness = precedence.take()
taken = slice_ns()
precedence.give_up(niceness)
after = slice_ns(), os.getpriority(os.PRIO_PROCESS, 0)
print(taken, before == after)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
def test_the_slice_is_short_until_it_is_given_up() -> None:
    version = tuple(map(int, platform.release().split(".")[:2]))
    done = subprocess.run(
        [sys.executable, "-c", SLICES], capture_output=True, text=True, check=True, timeout=60
    )
    taken, restored = done.stdout.split()
    assert restored == "True"
    # Processes that run only on idle processors have no slices of their own.
    if version >= (6, 12) and os.sched_getscheduler(0) != os.SCHED_IDLE:
        assert int(taken) == 100_000
