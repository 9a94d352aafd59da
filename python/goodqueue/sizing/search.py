"""The search for the smallest buffer that does what is required.

Utilisation and loss ask for more buffer, delay for less. A coarse geometric sweep draws the curve
and brackets the least limit that keeps utilisation and loss; bisection narrows the bracket to one
packet; then the limits just above are tried as well. Utilisation need not rise steadily with the
buffer (flows can lock into step with a particular queue length), so the answer is the least limit
from which on *every* limit tried keeps the bounds, and exceptions are reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from goodqueue.sizing.curve import Curve, Point
    from goodqueue.sizing.requirements import Requirements

SWEEP_RATIO = 1.5
"""Each limit of the sweep is about this many times the one before."""

LARGEST_LIMIT = 1 << 24
"""Packets beyond which no buffer is tried: 25 GB of full Ethernet frames."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the search found.

    Attributes:
        feasible: whether some limit keeps every bound.
        recommended: the least such limit; if there is none, None.
        binding: the bounds that decide: those that the next smaller limit breaks, or, where no
            limit serves, those that cannot be kept (together).
        least: the least limit that keeps utilisation and loss, whatever the delay.
        most: where the delay bound is broken at `least`, the largest limit tried that keeps it.
        saturated: the sweep reached a limit that no run ever filled, so larger ones are equal.
        smaller_passing: limits below `least` that keep utilisation and loss although a larger
            limit breaks them: the curve is not monotone there.
    """

    feasible: bool
    recommended: Point | None
    binding: tuple[str, ...]
    least: Point | None
    most: Point | None
    saturated: bool
    smaller_passing: tuple[int, ...]

    @property
    def monotone(self) -> bool:
        """Whether every limit tried above one that suffices sufficed too."""
        return not self.smaller_passing


def search(curve: Curve, requirements: Requirements, first_reach: int) -> Answer:
    """Finds the least limit that keeps the requirements.

    Args:
        curve: where limits are evaluated and kept.
        requirements: the bounds.
        first_reach: packets up to which the sweep reaches at first, say two BDPs.
    """
    top = _sweep(curve, requirements, max(first_reach, 4))
    if not requirements.floor_met(top):
        return _out_of_reach(curve, requirements, top)
    least = _least(curve, requirements, top)
    smaller_passing = tuple(
        point.limit_packets
        for point in curve.points
        if point.limit_packets < least.limit_packets and requirements.floor_met(point)
    )
    saturated = not top.ever_full
    if requirements.delay_met(least):
        binding = _broken_just_below(curve, requirements, least)
        return Answer(True, least, binding, least, None, saturated, smaller_passing)
    most = _most(curve, requirements, least)
    floor = _broken_just_below(curve, requirements, least)
    return Answer(False, None, (*floor, "delay"), least, most, saturated, smaller_passing)


def sweep_limits(first: int, last: int) -> list[int]:
    """Whole numbers from first to last, each about SWEEP_RATIO times the one before."""
    limits = [first]
    while limits[-1] < last:
        limits.append(min(last, max(limits[-1] + 1, round(limits[-1] * SWEEP_RATIO))))
    return limits


def _sweep(curve: Curve, requirements: Requirements, reach: int) -> Point:
    """Draws the curve until its two largest limits suffice, or the largest is never full."""
    limits = sweep_limits(1, reach)
    points = curve.at_all(limits)
    while not _settled(points, requirements) and limits[-1] < LARGEST_LIMIT:
        limits = sweep_limits(limits[-1], min(round(limits[-1] * SWEEP_RATIO), LARGEST_LIMIT))
        points += curve.at_all(limits[1:])
    return points[-1]


def _settled(points: list[Point], requirements: Requirements) -> bool:
    """Whether larger limits than these can teach nothing."""
    return not points[-1].ever_full or all(map(requirements.floor_met, points[-2:]))


def _least(curve: Curve, requirements: Requirements, top: Point) -> Point:
    """The least limit from which on every limit tried, neighbours included, keeps the floor."""
    while True:
        failing = [
            point.limit_packets for point in curve.points if not requirements.floor_met(point)
        ]
        below = max(failing, default=0)
        above = min(point.limit_packets for point in curve.points if point.limit_packets > below)
        least = _bisect(lambda limit: requirements.floor_met(curve.at(limit)), below, above)
        ahead = [least + 1, least + 2, least + 1 + least // 10]
        neighbours = curve.at_all([min(limit, top.limit_packets) for limit in ahead])
        if all(map(requirements.floor_met, neighbours)):
            return curve.at(least)


def _most(curve: Curve, requirements: Requirements, least: Point) -> Point | None:
    """The largest limit below `least` that keeps the delay bound, if any does."""
    keeping = [
        point.limit_packets
        for point in curve.points
        if point.limit_packets < least.limit_packets and requirements.delay_met(point)
    ]
    if not keeping:
        return None
    above = min(
        point.limit_packets
        for point in curve.points
        if point.limit_packets > max(keeping) and not requirements.delay_met(point)
    )
    first_late = _bisect(
        lambda limit: not requirements.delay_met(curve.at(limit)), max(keeping), above
    )
    return curve.at(first_late - 1)


def _bisect(passes: Callable[[int], bool], below: int, above: int) -> int:
    """Narrows a bracket (fails below, passes above) to neighbours; returns the upper one."""
    while above - below > 1:
        middle = (below + above) // 2
        if passes(middle):
            above = middle
        else:
            below = middle
    return above


def _broken_just_below(curve: Curve, requirements: Requirements, least: Point) -> tuple[str, ...]:
    """Which bounds the limit one packet smaller breaks; none if a single packet suffices."""
    if least.limit_packets <= 1:
        return ()
    below = curve.at(least.limit_packets - 1)
    broken = []
    if not requirements.utilization_met(below):
        broken.append("utilization")
    if not requirements.loss_met(below):
        broken.append("loss")
    return tuple(broken)


def _out_of_reach(curve: Curve, requirements: Requirements, top: Point) -> Answer:
    """The answer where even the largest limit tried does not keep utilisation and loss."""
    broken = []
    if not requirements.utilization_met(top):
        broken.append("utilization")
    if not requirements.loss_met(top):
        broken.append("loss")
    passing = tuple(point.limit_packets for point in curve.points if requirements.floor_met(point))
    return Answer(False, None, tuple(broken), None, None, not top.ever_full, passing)
