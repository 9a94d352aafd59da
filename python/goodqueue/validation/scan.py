"""A scan of limits under other seeds: exhaustive near an answer, and fair however it ends.

Every limit gets replicates until its figures lie on one side of every bound, one-sidedly with 99 %
at whatever count one looks (`goodqueue.study.stopping`), or until it has `MOST_REPLICATES`. A
limit that is then still open is judged by its means, and neither shown to serve nor refuted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue.sizing.smallest import COARSE, Answered, Trials, grid
from goodqueue.study.stopping import anytime_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.sizing.smallest import Sampler, Target

CONFIDENCE = 0.98
"""Of a two-sided interval, each of whose ends is then beyond the mean with at most 1 %."""

FIRST_REPLICATES = 10
"""One more than give such an interval an end."""

MOST_REPLICATES = 48
"""With so many an interval reaches 0.52 standard deviations to either side, as Student's t does
with 24 that are looked at once."""

NEAR = 5
"""So many grid points to either side of the answer are scanned without a gap."""

FAR = COARSE
"""Below those every so many grid points, as in the search's first sweep."""


@dataclass(frozen=True, slots=True)
class Scan:
    """What a scan found.

    Attributes:
        least: the least limit from which on all that were scanned serve, by their means; None if
            the largest does not.
        shown: limits shown to keep every bound with 99 %.
        refuted: limits shown to break one with 99 %.
        runs: replicates in all.
    """

    least: int | None
    shown: tuple[int, ...]
    refuted: tuple[int, ...]
    runs: int


def scan(
    sampler: Sampler,
    points: Sequence[int],
    helped: Sequence[Target],
    hurt: Sequence[Target],
    most_replicates: int = MOST_REPLICATES,
) -> Scan:
    """Scans.

    Args:
        sampler: what runs replicates.
        points: the limits, rising.
        helped: targets that more buffer helps (utilisation, loss).
        hurt: targets that more buffer hurts (delay).
        most_replicates: no limit gets more.
    """
    trials = Trials(sampler)
    trials.ensure(points, min(FIRST_REPLICATES, most_replicates))
    aims = [*helped, *hurt]
    while undecided := [
        point
        for point in points
        if _answer(trials, point, aims) is Answered.OPEN
        and len(trials.replicates[point]) < most_replicates
    ]:
        fewest = min(len(trials.replicates[point]) for point in undecided)
        trials.ensure(undecided, min(fewest + fewest // 2, most_replicates))
    answers = {point: _answer(trials, point, aims) for point in points}
    return Scan(
        _least(trials, points, helped, hurt),
        tuple(point for point in points if answers[point] is Answered.MEETS),
        tuple(point for point in points if answers[point] is Answered.FAILS),
        trials.spent,
    )


def around(limit: int | None, last: int) -> list[int]:
    """The limits to scan: all grid points near an answer, and fewer below.

    Args:
        limit: the answer; None if there is none, so that everything is to be looked at.
        last: the largest limit of the search.
    """
    points = grid(max(2 * limit, last) if limit is not None else last)
    at = points.index(limit) if limit is not None else len(points) - 1
    far = points[: max(at - NEAR, 0)]
    return far[::FAR] + points[len(far) : at + NEAR + 1]


def steps_between(one: int, other: int) -> int:
    """Grid steps between two limits of the grid."""
    points = grid(max(one, other))
    return abs(points.index(one) - points.index(other))


def _answer(trials: Trials, point: int, aims: Sequence[Target]) -> Answered:
    answers = {
        aim.answer(
            anytime_interval([one[aim.figure] for one in trials.replicates[point]], CONFIDENCE)
        )
        for aim in aims
    }
    if Answered.FAILS in answers:
        return Answered.FAILS
    return Answered.OPEN if Answered.OPEN in answers else Answered.MEETS


def _least(
    trials: Trials, points: Sequence[int], helped: Sequence[Target], hurt: Sequence[Target]
) -> int | None:
    failing = [point for point in points if not trials.passes(point, helped)]
    above = [point for point in points if not failing or point > failing[-1]]
    return above[0] if above and trials.passes(above[0], hurt) else None
