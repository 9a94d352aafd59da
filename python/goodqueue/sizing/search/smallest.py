"""Search for the smallest buffer that keeps every bound, with random replicates.

Every eighth limit of the grid is tried first. The range of limits grows while a bound is missed and
a larger buffer still helps. Then the bracket around the smallest limit that keeps the bounds is
halved. Then the limits around the answer get replicates until they are settled or the budget is
spent. A limit whose interval still contains a bound when it is narrower than the bound's margin is
not recommended (an indifference zone), so that no replicates are spent on a knife edge.

Utilisation and loss need not be monotonic in the buffer: flows synchronise, and CUBIC's loss rises
again with large buffers. So the limits that keep the bounds may form several sets
(`goodqueue.sizing.search.sets`). If no limit of the coarse grid keeps the bounds, the search goes
down to the limit that misses them least.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue._core import COARSE, GRID_STEP, grid
from goodqueue.sizing.search.sets import excluded, nearest
from goodqueue.sizing.search.trials import (
    COARSE_REPLICATES,
    DROPS,
    FIRST_REPLICATES,
    Answered,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.sizing.search.trials import Target, Trials

FIRST_STRIDE = 2
"""Grid points from a guess to the second limit tried; each further step is twice as long."""

STILL_HELPS = 0.03
"""Decrease of the miss (`Target.miss`) from one coarse limit to the next, or between doublings of
the range, from which on a larger buffer still helps: 3 % of the idle share or of the loss."""

PATIENCE = (48, 64)
"""Replicates after which a lean search leaves a neighbour of the answer open, and tries the next
one: limits one and two grid steps away."""

MAX_ABOVE = (1 + GRID_STEP) ** (2 * (len(PATIENCE) + 1))
"""Largest ratio of a limit that was shown to suffice to the smallest that might, in an answer that
counts as shown: the last limits that `PATIENCE` leaves are three steps away on either side."""

UNDECIDED = (Answered.CLOSE, Answered.FAILS)
"""Verdicts on a limit that is not recommended."""


@dataclass(frozen=True, slots=True)
class Smallest:
    """Result of a search.

    Attributes:
        limit: the smallest limit in packets that keeps all bounds; None if there is none.
        low: the largest limit below the answer that was shown to fail; 0 if none was.
        high: the smallest limit that was shown to keep the bounds that a larger buffer helps; None
            if the replicates did not show it.
        floor: the smallest limit that keeps the bounds that a larger buffer helps, whatever the
            delay.
        ceiling: if the floor breaks a bound that a larger buffer hurts, the largest limit that
            keeps it; None if none does, or if the floor breaks none.
        reached: the largest limit that was tried.
        nearest: the limit that misses the bounds least, or the answer.
        broken: the targets that exclude an answer, if there is none.
        settled: True if limit and its smaller neighbour are both shown and not only estimated.
        proved: True if the limit was shown to keep all bounds, and lies at most one grid step, or
            `MAX_ABOVE`, above the smallest that can.
        excluded: True if every limit that was tried was shown to break a bound.
    """

    limit: int | None
    low: int
    high: int | None
    floor: int | None
    reached: int
    nearest: int
    ceiling: int | None = None
    broken: tuple[str, ...] = ()
    settled: bool = False
    proved: bool = False
    excluded: bool = False


def smallest(  # noqa: PLR0913 - where, which bounds, and how far
    trials: Trials,
    helped: Sequence[Target],
    hurt: Sequence[Target],
    *,
    reach: tuple[int, int],
    most_replicates: int,
    farthest: int | None = None,
    lean: bool = False,
    near: int | None = None,
    least: int = 1,
) -> Smallest:
    """Returns the result of a search.

    Args:
        trials: replicates, run when needed.
        helped: targets that a larger buffer helps (utilisation, loss).
        hurt: targets that a larger buffer hurts (delay).
        reach: the largest limit of the grid in packets, at first and usually at most.
        most_replicates: largest number of replicates of a limit.
        farthest: the largest limit in packets, to which the range grows while a larger buffer still
            helps; None for the second number of `reach`.
        lean: omits the coarse scan: fewer runs, and other sets are seen only around the answer.
        near: packets near which a lean search expects the answer and begins.
        least: packets below which a lean search tries nothing.
    """
    most = max(farthest or reach[1], reach[1])
    if lean and near is not None:
        points = _around(trials, helped, near, (least, reach[1], most))
    else:
        points = _reach(trials, helped, (*reach, most), lean=lean)
    find = _floor_within_a_step if lean else _floor
    floor = find(trials, points, helped, most_replicates)
    if floor is None:
        return _none(trials, points, [*helped, *hurt], most_replicates)
    return _found(trials, points, helped, hurt, floor, most_replicates)


def _found(  # noqa: PLR0913, PLR0917 - a part of `smallest`
    trials: Trials,
    points: list[int],
    helped: Sequence[Target],
    hurt: Sequence[Target],
    floor: int,
    most: int,
) -> Smallest:
    """Returns the result if a limit keeps the targets that a larger buffer helps."""
    feasible = trials.passes(floor, hurt)
    ceiling = None if feasible else _ceiling(trials, points, hurt, most)
    low, high = bracket(trials, helped)
    below = points[points.index(floor) - 1] if floor > points[0] else None
    shown = trials.answer(floor, [*helped, *hurt]) is Answered.MEETS
    # The targets that the floor needs, and those that it breaks.
    needs = () if below is None else trials.unmet(below, helped)
    broken = () if feasible else (*needs, *trials.unmet(floor, hurt))
    return Smallest(
        limit=floor if feasible else None,
        low=low,
        high=high,
        floor=floor,
        reached=trials.limits[-1],
        nearest=floor if feasible else nearest(trials, [*helped, *hurt]),
        ceiling=ceiling,
        broken=broken,
        settled=shown and (below is None or trials.answer(below, helped) is Answered.FAILS),
        proved=feasible and shown and _is_within_a_step(trials, helped, floor),
        excluded=not feasible and excluded(trials, [*helped, *hurt]),
    )


def _none(
    trials: Trials, points: list[int], targets: Sequence[Target], most_replicates: int
) -> Smallest:
    """Returns the result if no limit keeps the bounds, with replicates that show it."""
    best = nearest(trials, targets)
    at = bisect_left(points, best)
    around = points[max(at - 1, 0) : at + 2]
    # The limits on the way to the nearest miss show whether all of them break a bound.
    close = [one for one in trials.limits if trials.miss(one, targets) < 2 * STILL_HELPS + 0.3]
    trials.ensure([*around, *close], min(FIRST_REPLICATES, most_replicates))
    best = nearest(trials, targets)
    return Smallest(
        limit=None,
        low=trials.limits[-1],
        high=None,
        floor=None,
        reached=trials.limits[-1],
        nearest=best,
        broken=trials.unmet(best, targets),
        excluded=excluded(trials, targets),
    )


def so_far(trials: Trials, helped: Sequence[Target], hurt: Sequence[Target]) -> Smallest | None:
    """Returns the result that replicates of a stopped search show; None if there are none.

    Its limit is the smallest that was *shown* to keep all bounds. Estimates of means do not count.
    """
    if not trials.limits:
        return None
    low, high = bracket(trials, helped)
    serves = high is not None and trials.answer(high, hurt) is Answered.MEETS
    proved = serves and high is not None and _is_within_a_step(trials, helped, high)
    return Smallest(
        limit=high if serves else None,
        low=low,
        high=high,
        floor=high,
        reached=trials.limits[-1],
        nearest=nearest(trials, [*helped, *hurt]),
        proved=proved,
    )


def bracket(trials: Trials, helped: Sequence[Target]) -> tuple[int, int | None]:
    """Returns the largest limit shown to fail below the smallest one shown to keep the targets.

    The first is 0 if none was shown to fail, and the second None if none was shown to keep them.
    """
    answers = {limit: trials.answer(limit, helped) for limit in trials.limits}
    high = min((one for one in answers if answers[one] is Answered.MEETS), default=None)
    below = [one for one in answers if high is None or one < high]
    return max((one for one in below if answers[one] is Answered.FAILS), default=0), high


def _is_within_a_step(trials: Trials, helped: Sequence[Target], limit: int) -> bool:
    """Returns True if few or no smaller limits might keep the targets, too."""
    below = [one for one in trials.limits if one < limit]
    not_kept = [one for one in below if trials.answer(one, helped) in UNDECIDED]
    least = (not_kept[-1] if not_kept else 0) + 1
    return limit <= MAX_ABOVE * least or _within_a_step(least - 1, limit)


def _within_a_step(low: int, high: int) -> bool:
    """Returns True if at most one grid limit lies between a failing and a sufficient one."""
    return sum(low < point < high for point in grid(high)) <= 1


def _reach(
    trials: Trials, helped: Sequence[Target], ends: tuple[int, int, int], *, lean: bool
) -> list[int]:
    """Tries the coarse grid until its largest points suffice, never fill, or help no more.

    A lean search tries only its largest point.
    """
    reach, most, farthest = ends
    while True:
        points = grid(min(reach, farthest))
        coarse = points[::COARSE]
        checked = coarse[-1:] if lean else coarse[-2:]
        trials.ensure(checked if lean else coarse, COARSE_REPLICATES)
        top = coarse[-1]
        never_full = trials.interval(top, DROPS).mean == 0
        if never_full or reach >= farthest:
            return points
        if all(trials.passes(limit, helped) for limit in checked):
            return points
        if reach >= most and not _still_helps(trials, helped):
            return points
        reach *= 2


def _still_helps(trials: Trials, helped: Sequence[Target]) -> bool:
    """Returns True if no limit keeps the targets, and the largest ones miss them ever less."""
    limits = trials.limits
    if len(limits) < 2 or any(trials.passes(limit, helped) for limit in limits):
        return False
    before, last = (trials.miss(limit, helped) for limit in limits[-2:])
    return last < before - STILL_HELPS and nearest(trials, helped) == limits[-1]


def _around(
    trials: Trials, helped: Sequence[Target], near: int, ends: tuple[int, int, int]
) -> list[int]:
    """Tries limits ever farther from a guess until one that fails lies below one that suffices.

    It also ends at the largest or smallest limit, and at one that never fills. Returns the grid
    between the ends.
    """
    least, most, farthest = ends
    points = grid(max(least, farthest))
    points = points[bisect_left(points, least) :]
    last = min(bisect_left(points, most), len(points) - 1)
    at = min(bisect_left(points, near), last)
    stride, upward = FIRST_STRIDE, None
    while True:
        trials.ensure([points[at]], COARSE_REPLICATES)
        fails = not trials.passes(points[at], helped)
        never_full = fails and trials.interval(points[at], DROPS).mean == 0
        if fails and at >= last and _still_helps(trials, helped):
            last = len(points) - 1
        at_the_end = at == (last if fails else 0)
        if never_full or at_the_end or upward is (not fails):
            return points[: last + 1]
        upward = fails
        at = min(at + stride, last) if upward else max(at - stride, 0)
        stride *= 2


def _floor(trials: Trials, points: list[int], helped: Sequence[Target], most: int) -> int | None:
    """Returns the smallest grid point that passes."""
    while True:
        at = _floor_by_means(trials, points, helped, min(FIRST_REPLICATES, most))
        if at is None:
            return None
        if not _settle(trials, points, at, helped, most):
            _, high = bracket(trials, helped)
            # A limit that was shown is worth a step or two.
            is_near = high is not None and high in points[at : at + 3]
            return high if is_near else points[at]


def _floor_within_a_step(
    trials: Trials, points: list[int], helped: Sequence[Target], most: int
) -> int | None:
    """Returns a grid point shown to suffice, little above the smallest that passes.

    A limit on either side of the smallest one is shown to fail and to suffice, which takes fewer
    replicates than to settle the limit between them. If the nearest limits stay open, those farther
    away are tried. If none can be shown, returns the smallest one by means.
    """
    while True:
        at = _floor_by_means(trials, points, helped, COARSE_REPLICATES)
        if at is None:
            return None
        low, high = bracket(trials, helped)
        is_least = high is not None and high == points[0]
        if high is not None and (is_least or _within_a_step(low, high)):
            return high
        if _more(trials, _sides(points, at, 1), helped, min(PATIENCE[0], most)):
            continue
        if high is not None and _is_within_a_step(trials, helped, high):
            return high
        if not _decide_sides(trials, points, at, helped, most):
            return points[at]


def _sides(points: list[int], at: int, distance: int) -> list[int]:
    """Returns the limits at a distance below and above a limit, in grid points."""
    below = [points[at - distance]] if at >= distance else points[:1]
    return [*below, *points[at + distance : at + distance + 1]]


def _decide_sides(
    trials: Trials, points: list[int], at: int, helped: Sequence[Target], most: int
) -> bool:
    """Gives limits on both sides of a limit more replicates. Returns True if anything was run."""
    for distance, patience in enumerate((*PATIENCE, most), 1):
        if _more(trials, _sides(points, at, distance), helped, min(patience, most)):
            return True
    # The limit itself gets replicates if its neighbours cannot be told from the bound.
    return _more(trials, [points[at]], helped, most)


def _floor_by_means(
    trials: Trials, points: list[int], helped: Sequence[Target], replicates: int
) -> int | None:
    """Returns the index of the smallest grid point whose means pass; None if none does.

    Runs this many replicates of limits that it tries.
    """
    while True:
        passing = [limit for limit in trials.limits if trials.passes(limit, helped)]
        if not passing:
            if not _descend(trials, points, helped):
                return None
            continue
        below = [limit for limit in trials.limits if limit < passing[0]]
        low = points.index(below[-1]) if below else -1
        high = points.index(passing[0])
        if high - low <= 1:
            return high
        trials.ensure([points[(low + high) // 2]], replicates)


def _descend(trials: Trials, points: list[int], targets: Sequence[Target]) -> bool:
    """Tries limits around the one that misses the targets least; returns True if one passes.

    Limits are first tried on the coarse grid, then at half the distance, down to single steps.
    """
    trials.ensure(points[::COARSE], COARSE_REPLICATES)
    stride = COARSE // 2
    while stride and not any(trials.passes(limit, targets) for limit in trials.limits):
        at = points.index(nearest(trials, targets))
        tried = trials.spent
        sides = [points[one] for one in (at - stride, at + stride) if 0 <= one < len(points)]
        trials.ensure(sides, COARSE_REPLICATES)
        if trials.spent == tried or points.index(nearest(trials, targets)) == at:
            stride //= 2
    return any(trials.passes(limit, targets) for limit in trials.limits)


def _settle(
    trials: Trials, points: list[int], at: int, targets: Sequence[Target], most: int
) -> bool:
    """Gives the answer and its neighbours more replicates. Returns True if anything was run."""
    around = points[max(at - 1, 0) : at + 3]
    trials_before = trials.spent
    trials.ensure(around, min(FIRST_REPLICATES, most))
    _more(trials, around[:3], targets, most)
    return trials.spent > trials_before


def _more(trials: Trials, limits: Sequence[int], targets: Sequence[Target], most: int) -> bool:
    """Gives limits that are open more replicates. Returns True if anything was run."""
    trials_before = trials.spent
    trials.ensure(limits, min(FIRST_REPLICATES, most))
    undecided = [
        limit
        for limit in limits
        if trials.answer(limit, targets) is Answered.OPEN and len(trials.replicates[limit]) < most
    ]
    if undecided:
        # The limits with the fewest replicates get half as many again first.
        fewest = min(len(trials.replicates[limit]) for limit in undecided)
        count = min(fewest + max(fewest // 2, 1), most)
        trials.ensure(undecided, count)
    return trials.spent > trials_before


def _ceiling(trials: Trials, points: list[int], hurt: Sequence[Target], most: int) -> int | None:
    """Returns the largest limit that keeps the delay (`hurt`), below a limit that exceeds it."""
    while True:
        passing = [limit for limit in trials.limits if trials.passes(limit, hurt)]
        failing = [limit for limit in trials.limits if not trials.passes(limit, hurt)]
        if not passing:
            if points[0] in trials.replicates:
                return None
            trials.ensure([points[0]], min(FIRST_REPLICATES, most))
            continue
        above = [limit for limit in failing if limit > passing[-1]]
        if not above:
            return passing[-1]
        low, high = points.index(passing[-1]), points.index(above[0])
        if high - low > 1:
            trials.ensure([points[(low + high) // 2]], min(FIRST_REPLICATES, most))
        elif not _settle(trials, points, low, hurt, most):
            return points[low]
