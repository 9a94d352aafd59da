"""Scans the limits near a recommendation under other seeds, to check it independently.

Every limit gets replicates until each of its figures is decided, or until it has `MOST_REPLICATES`.
A figure is decided if its interval lies on one side of the bound. The interval has 99 % confidence
on either side and stays valid however often it is evaluated (`goodqueue.study.stopping`). A limit
that stays undecided is judged by its means, and counts as neither confirmed nor refuted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue._core import COARSE, grid
from goodqueue.sizing.search.trials import Answered, Trials
from goodqueue.study.stopping import anytime_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.sizing.search.trials import Sampler, Target

CONFIDENCE = 0.98
"""Confidence of the two-sided interval, which is 99 % on either side."""

FIRST_REPLICATES = 10
"""Number of replicates that each limit gets first: one more than such an interval needs to be
finite."""

MOST_REPLICATES = 48
"""Largest number of replicates of a limit. The interval then extends 0.52 standard deviations to
either side, as Student's t does with 24 replicates that are evaluated once."""

NEAR = 5
"""Number of grid points on either side of the answer that are all scanned."""

FAR = COARSE
"""Spacing of the scanned limits further below, in grid points, as in the search's first sweep."""


@dataclass(frozen=True, slots=True)
class Scan:
    """The result of a scan.

    Attributes:
        least: the smallest limit from which on all scanned limits meet the targets, by their means;
            None if the largest limit does not.
        shown: limits shown to keep every bound, with 99 % confidence.
        refuted: limits shown to break a bound, with 99 % confidence.
        runs: total number of replicates.
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
    """Scans limits for the smallest that meets all targets.

    Args:
        sampler: runs the replicates.
        points: the limits, in ascending order.
        helped: targets that a larger buffer helps (utilisation, loss).
        hurt: targets that a larger buffer hurts (delay).
        most_replicates: largest number of replicates of a limit.
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
    """Returns the limits to scan: all grid points near an answer, and fewer below.

    Args:
        limit: the answer; None if there is none, so that all grid points up to `last` are covered.
        last: the largest limit of the search.
    """
    points = grid(max(2 * limit, last) if limit is not None else last)
    at = points.index(limit) if limit is not None else len(points) - 1
    far = points[: max(at - NEAR, 0)]
    return far[::FAR] + points[len(far) : at + NEAR + 1]


def steps_between(one: int, other: int) -> int:
    """Returns the number of grid steps between two limits of the grid."""
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
