"""The error of an answer that comes from hosts which were not described.

Each property of the hosts (`goodqueue.sizing.trials.hosts`) is changed alone. The buffer of the
changed link is found by short paired runs: the same search, with the same few seeds, is made for
the link itself, and the ratio of both buffers counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodqueue.sizing.calibrated.smallest import calibrated
from goodqueue.sizing.trials.hosts import hosts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.sizing.answer.parts import Change
    from goodqueue.sizing.link import Link

NINE_TENTHS = 0.9


@dataclass(frozen=True, slots=True)
class World:
    """Buffers over the hosts that were not described.

    Attributes:
        packets: the answer for the hosts as described.
        buffers: the answer for each change, by its name; None if no buffer suffices then.
        by: `simulation`, or `theory` if no run was made.
        complete: False if the budget ended before all hosts were tried.
    """

    packets: int
    buffers: dict[str, int | None]
    by: str
    complete: bool = True

    @property
    def low(self) -> int:
        """Smallest buffer of all hosts."""
        return min([self.packets, *(one for one in self.buffers.values() if one is not None)])

    @property
    def high(self) -> int | None:
        """Largest buffer of all hosts; None if no buffer suffices for some of them."""
        known = [one for one in self.buffers.values() if one is not None]
        return None if len(known) < len(self.buffers) else max([self.packets, *known])

    @property
    def nine_tenths(self) -> int:
        """Smallest buffer that suffices for nine tenths of the hosts that some buffer serves."""
        known = [one for one in self.buffers.values() if one is not None]
        values = sorted([self.packets, *known])
        return values[math.ceil(NINE_TENTHS * len(values)) - 1]

    def as_dict(self) -> dict[str, Any]:
        """Returns plain values."""
        return {
            "by": self.by,
            "complete": self.complete,
            "nine_tenths_packets": self.nine_tenths,
            "hosts": self.buffers,
        }


def paired(packets: int, itself: int, changes: Sequence[Change], every: int) -> World:
    """Returns the world by simulation: the answer times the ratio of the short searches.

    Args:
        packets: the answer.
        itself: result of the short search of the link itself.
        changes: results of the short searches of the changed links.
        every: number of changes that were wanted; the budget may have ended before.
    """
    return World(
        packets,
        {
            one.what: None if one.packets is None else max(round(packets * one.packets / itself), 1)
            for one in changes
        },
        "simulation",
        len(changes) == every,
    )


def by_theory(link: Link, packets: int) -> World | None:
    """Returns the world by calibrated theory: the answer times the ratio of its buffers.

    Returns None if the theory does not apply to the link. Changes to which it does not apply are
    left out.
    """
    own = calibrated(link)
    if own is None or own.packets is None:
        return None
    buffers: dict[str, int | None] = {}
    for what, other in hosts(link).items():
        theory = calibrated(other)
        if theory is not None and theory.packets is not None:
            buffers[what] = max(round(packets * theory.packets / own.packets), 1)
    return World(packets, buffers, "theory")
