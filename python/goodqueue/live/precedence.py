"""Precedence of the process that emulates a network over the programs in it.

The emulator works for microseconds at a time, and packets wait while a program keeps it from
running. Two settings give it precedence: its niceness, which root may lower, and the slice, which
everybody may. Since Linux 6.12 a process with a shorter slice interrupts others when it wakes.
"""

from __future__ import annotations

import ctypes
import os
import platform
from contextlib import suppress

NICENESS = -10
"""Niceness of the emulator, where the user may have it."""

SLICE_NS = 100_000
"""Slice of the emulator in nanoseconds: the shortest one that the kernel accepts."""

CALLS = {"x86_64": 314, "aarch64": 274, "riscv64": 274}
"""Number of the system call `sched_setattr` by machine; older C libraries have no function."""


class _Attributes(ctypes.Structure):
    """The kernel's `sched_attr`. The members that are left out are for other policies."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("policy", ctypes.c_uint32),
        ("flags", ctypes.c_uint64),
        ("nice", ctypes.c_int32),
        ("priority", ctypes.c_uint32),
        ("runtime", ctypes.c_uint64),
        ("deadline", ctypes.c_uint64),
        ("period", ctypes.c_uint64),
    )


def take() -> int:
    """Gives this process the precedence of an emulator. Returns its niceness before."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, min(NICENESS, before))
    _set_slice(SLICE_NS)
    return before


def give_up(niceness: int) -> None:
    """Gives this process this niceness and the usual slice, and takes real-time scheduling from it.

    A program in real time could keep the emulator, and all others, from running.
    """
    if _real_time():
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    os.setpriority(os.PRIO_PROCESS, 0, niceness)
    _set_slice(0)


def _real_time() -> bool:
    return os.sched_getscheduler(0) in {os.SCHED_FIFO, os.SCHED_RR}


def _set_slice(nanoseconds: int) -> None:
    """Asks the kernel for slices of this length; 0 for its own choice. Older kernels ignore it."""
    number = CALLS.get(platform.machine())
    if number is None or _real_time():
        return
    wanted = _Attributes(
        size=ctypes.sizeof(_Attributes),
        policy=os.sched_getscheduler(0),
        nice=os.getpriority(os.PRIO_PROCESS, 0),
        runtime=nanoseconds,
    )
    ctypes.CDLL(None).syscall(number, 0, ctypes.byref(wanted), 0)
