"""Search for the values of a parameter that keep every bound, and for the best of them.

An eighth of the range lies between two values that are tried first. Then the gap is halved between
each value that keeps all bounds and its neighbour that does not. The values around these ends get
replicates until they are decided, are as close to a bound as its margin, or have the most
replicates. If no value keeps the bounds, the search goes down to the one that misses them least.
With a goal, the gaps beside the best value are halved, too.

Replicates, verdicts, sets, the nearest miss and the intervals of ends are those of the search for
buffers (`goodqueue.sizing.search`).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from goodqueue.core.intervals import t_interval
from goodqueue.sizing.search.sets import nearest
from goodqueue.sizing.search.trials import COARSE_REPLICATES, FIRST_REPLICATES, Answered
from goodqueue.study.stopping import anytime_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.core.intervals import Interval
    from goodqueue.sizing.search.trials import Target, Trials
    from goodqueue.tuning.bounds import Goal

COARSE = 8
"""Number of gaps between the values that are tried first."""

OPEN_AT_ONCE = 4
"""Largest number of undecided values of one end that get more replicates at a time."""

GOAL_REPLICATES = 20
"""Replicates of the values among which the goal decides."""

INDIFFERENT = 0.01
"""Difference of the goal's figure, as a share of its best mean, that needs no further search."""


@dataclass(frozen=True, slots=True)
class Aim:
    """Aim of a search.

    Attributes:
        targets: the bounds.
        goal: the figure that should be large or small among the values that keep the bounds.
        most: largest number of replicates of a value.
    """

    targets: Sequence[Target]
    goal: Goal | None
    most: int


@dataclass(frozen=True, slots=True)
class Wanted(Aim):
    """Aim of a search, and the values of one parameter that it may try.

    Attributes:
        marks: marks of all values that may be tried, rising.
        own: mark of the file's own value, which is tried, too; None if it is not in the range.
    """

    marks: Sequence[int]
    own: int | None


def search(trials: Trials, wanted: Wanted) -> None:
    """Runs replicates until the ends of the sets and the best value are known.

    Raises:
        BudgetSpent: if the budget ends before.
        KeyboardInterrupt: after Ctrl-C; the replicates that had ended are in the trials.
    """
    most = wanted.most
    trials.ensure(_first(wanted), min(COARSE_REPLICATES, most))
    if not passing(trials, wanted):
        _descend(trials, wanted)
    while True:
        spent = trials.spent
        _halve(trials, wanted)
        if passing(trials, wanted):
            _settle(trials, wanted)
        else:
            _exclude(trials, wanted)
        if wanted.goal is not None:
            _improve(trials, wanted, wanted.goal)
        if trials.spent == spent:  # the verdicts on the other values are still missing
            trials.ensure(_first(wanted), min(FIRST_REPLICATES, most))
        if trials.spent == spent:
            break


def _first(wanted: Wanted) -> list[int]:
    """Returns the marks that are tried first: evenly spread ones, and the file's own."""
    last = len(wanted.marks) - 1
    places = {round(last * step / COARSE) for step in range(COARSE + 1)}
    own = set() if wanted.own is None else {wanted.own}
    return sorted(own | {wanted.marks[place] for place in places})


def passing(trials: Trials, wanted: Aim) -> list[int]:
    """Returns the values whose means keep all bounds."""
    return [one for one in trials.limits if trials.passes(one, wanted.targets)]


def _descend(trials: Trials, wanted: Wanted) -> None:
    """Tries values around the one that misses the bounds least, at ever smaller distances."""
    marks, targets = wanted.marks, wanted.targets
    stride = max((len(marks) - 1) // (2 * COARSE), 1)
    while not passing(trials, wanted):
        at = marks.index(nearest(trials, targets))
        spent = trials.spent
        sides = [marks[one] for one in (at - stride, at + stride) if 0 <= one < len(marks)]
        trials.ensure(sides, min(COARSE_REPLICATES, wanted.most))
        if trials.spent == spent or marks.index(nearest(trials, targets)) == at:
            if stride == 1:
                return
            stride //= 2


def _exclude(trials: Trials, wanted: Wanted) -> None:
    """Gives the values that miss the bounds least, and are undecided, more replicates."""
    marks, targets, most = wanted.marks, wanted.targets, wanted.most
    at = marks.index(nearest(trials, targets))
    trials.ensure(marks[max(at - 1, 0) : at + 2], min(FIRST_REPLICATES, most))
    more(trials, sorted(trials.limits, key=lambda one: trials.miss(one, targets)), wanted)


def more(trials: Trials, limits: Sequence[int], wanted: Aim) -> None:
    """Gives the first open ones of some values more replicates, half as many again as they have."""
    undecided = [
        limit
        for limit in limits
        if trials.answer(limit, wanted.targets) is Answered.OPEN
        and len(trials.replicates[limit]) < wanted.most
    ]
    few = undecided[:OPEN_AT_ONCE]
    if few:
        fewest = min(len(trials.replicates[limit]) for limit in few)
        count = max(fewest + max(fewest // 2, 1), FIRST_REPLICATES)
        trials.ensure(few, min(count, wanted.most))


def _halve(trials: Trials, wanted: Wanted) -> None:
    """Halves the gaps between values that keep the bounds and neighbours that do not."""
    while True:
        spent = trials.spent
        for low, high in pairwise(trials.limits):
            if trials.passes(low, wanted.targets) != trials.passes(high, wanted.targets):
                _try_between(trials, wanted, low, high)
        if trials.spent == spent:
            return


def _try_between(trials: Trials, wanted: Wanted, low: int, high: int) -> None:
    """Tries the middle of a gap, if a value lies there."""
    at, end = wanted.marks.index(low), wanted.marks.index(high)
    if end - at > 1:
        trials.ensure([wanted.marks[(at + end) // 2]], min(FIRST_REPLICATES, wanted.most))


def _settle(trials: Trials, wanted: Wanted) -> None:
    """Gives undecided values beside each end of a set more replicates."""
    for low, high in ends(trials, wanted.targets):
        limits = trials.limits
        at = limits.index(low)
        around = limits[max(at - 1, 0) : at + 3]
        trials.ensure(around, min(FIRST_REPLICATES, wanted.most))
        beside = _between_decided(trials, wanted.targets, low, high)
        more(trials, sorted(beside, key=lambda one: abs(limits.index(one) - at - 0.5)), wanted)


def _between_decided(
    trials: Trials, targets: Sequence[Target], low: int, high: int
) -> Sequence[int]:
    """Returns the values around a gap, to the first decided one on either side."""
    limits = trials.limits
    begin, end = limits.index(low), limits.index(high)
    decided = (Answered.MEETS, Answered.FAILS)
    while begin > 0 and trials.answer(limits[begin], targets) not in decided:
        begin -= 1
    while end < len(limits) - 1 and trials.answer(limits[end], targets) not in decided:
        end += 1
    return limits[begin : end + 1]


def ends(trials: Trials, targets: Sequence[Target]) -> list[tuple[int, int]]:
    """Returns the pairs of neighbours of which one keeps the bounds and the other does not."""
    kept = {limit: trials.passes(limit, targets) for limit in trials.limits}
    return [(low, high) for low, high in pairwise(trials.limits) if kept[low] != kept[high]]


def _improve(trials: Trials, wanted: Wanted, goal: Goal) -> None:
    """Halves the gaps beside the best value, and gives the values beside it replicates."""
    found = best(trials, passing(trials, wanted), goal)
    if found is None:
        return
    limits = trials.limits
    at = limits.index(found)
    beside = [one for one in limits[max(at - 1, 0) : at + 2] if trials.passes(one, wanted.targets)]
    trials.ensure(beside, min(GOAL_REPLICATES, wanted.most))
    for other in beside:
        if other != found and _matters(trials, goal, found, other):
            _try_between(trials, wanted, min(found, other), max(found, other))


def _matters(trials: Trials, goal: Goal, found: int, other: int) -> bool:
    """Returns True if a value between two may be better than the best by more than indifference."""
    loss = difference(trials, goal, found, other)
    scale = abs(trials.interval(found, goal.figure.key).mean)
    return abs(loss.mean) + loss.half_width > INDIFFERENT * scale


def best(trials: Trials, among: Sequence[int], goal: Goal) -> int | None:
    """Returns the value with the best mean of the goal's figure; None of none.

    Two values are compared under the seeds that both have.
    """
    found: int | None = None
    for limit in among:
        if found is None or difference(trials, goal, limit, found).mean > 0:
            found = limit
    return found


def difference(trials: Trials, goal: Goal, one: int, other: int) -> Interval:
    """Returns by how much one value is better than another, under their common seeds.

    Values that were tried only at first have a fixed number of replicates, and so Student's
    interval, which is finite.
    """
    key = goal.figure.key
    pairs = list(zip(trials.replicates[one], trials.replicates[other], strict=False))
    gains = [goal.gain(better[key], worse[key]) for better, worse in pairs]
    return (t_interval if len(gains) < FIRST_REPLICATES else anytime_interval)(gains)
