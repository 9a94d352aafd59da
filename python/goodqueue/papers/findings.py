"""The verdict on a claim that bounds a mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.papers.cells import Finding

if TYPE_CHECKING:
    from goodqueue.core.intervals import Interval


def finding(value: Interval, bound: tuple[float, float], *, outside: bool = False) -> Finding:
    """Judges by its 95 % interval if a mean lies within a bound, or, with `outside`, beyond it."""
    low, high = bound
    if value.half_width == 0:
        holds = (low <= value.mean <= high) is not outside
        return Finding.HOLDS if holds else Finding.UNREPRODUCED
    inside = low <= value.low and value.high <= high
    beyond = value.high < low or value.low > high
    if not inside and not beyond:
        return Finding.UNDECIDED
    return Finding.HOLDS if inside is not outside else Finding.UNREPRODUCED
