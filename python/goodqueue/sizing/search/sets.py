"""Sets of limits that keep the bounds, the nearest miss, and the interval of the answer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from goodqueue.core.intervals import t_interval
from goodqueue.sizing.search.trials import FIRST_REPLICATES, Answered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.core.intervals import Interval
    from goodqueue.sizing.search.trials import Target, Trials

FAR = 0.3
"""Miss (`Target.miss`) of every single replicate from which on a limit with few replicates is
excluded, too: 35 % of the idle share, the loss or the delay above the bound."""

NEIGHBOURS = 1.4
"""Largest ratio of a limit to the answer at which its replicates count for the answer's interval.
Within it the logarithm of idle share or loss is nearly linear in that of the buffer."""

NARROW = 1.12
"""Ratio of the ends of an interval that is narrow enough: two steps of the grid."""


def nearest(trials: Trials, targets: Sequence[Target]) -> int:
    """Returns the limit whose means miss the bounds least; the smallest one of equals."""
    return min(trials.limits, key=lambda limit: (trials.miss(limit, targets), limit))


def sets(trials: Trials, targets: Sequence[Target]) -> list[tuple[int, int | None]]:
    """Returns the lowest and the highest limit of each set of tried limits that keep the bounds.

    A limit between two that pass separates them only if it was shown to break a bound. The highest
    limit is None if the largest one that was tried passes.
    """
    found: list[tuple[int, int | None]] = []
    begin = last = None
    for limit in trials.limits:
        if trials.passes(limit, targets):
            begin, last = limit if begin is None else begin, limit
        elif begin is not None and breaks(trials, limit, targets):
            found.append((begin, last))
            begin = last = None
    if begin is not None:
        found.append((begin, None if last == trials.limits[-1] else last))
    return found


def excluded(trials: Trials, targets: Sequence[Target]) -> bool:
    """Returns True if every limit that was tried was shown to break a bound."""
    return all(breaks(trials, limit, targets) for limit in trials.limits)


def breaks(trials: Trials, limit: int, targets: Sequence[Target]) -> bool:
    """Returns True if a limit was shown to break a target, or misses it by far in every run."""
    if trials.answer(limit, targets) is Answered.FAILS:
        return True
    return any(
        all(target.miss(one[target.figure]) > FAR for one in trials.replicates[limit])
        for target in targets
    )


def by_chance(
    trials: Trials, helped: Sequence[Target], answer: int, bracket: tuple[int, int | None]
) -> tuple[int, int | None]:
    """Returns the interval in which the smallest sufficient limit lies with 95 % confidence.

    It lies above the largest limit shown to fail, and at or below the smallest shown to suffice. If
    these are far apart, the interval of the fitted crossing (`crossing`) narrows them.

    Args:
        trials: the replicates.
        helped: the targets that a larger buffer helps.
        answer: the answer by means.
        bracket: the largest limit shown to fail, 0 if there is none, and the smallest shown to
            suffice, None if there is none.
    """
    low, high = bracket[0] + 1, bracket[1]
    if high is not None and high <= max(low * NARROW, low + 1):
        return low, high
    fitted = crossing(trials, helped, answer)
    if fitted is None:
        return low, high
    lowest, highest = math.floor(math.exp(fitted.low)), math.ceil(math.exp(fitted.high))
    low = max(low, min(lowest, answer))
    highest = max(highest, answer)
    return low, highest if high is None else max(min(high, highest), answer)


def crossing(trials: Trials, helped: Sequence[Target], answer: int) -> Interval | None:
    """Returns the logarithm of the limit at which a line through the misses near an answer is 0.

    The line is fitted to the means of the limits near the answer that have the common seeds. Its
    error is that of a jackknife over the seeds, which contains the correlation of the limits.
    Returns None if fewer than two limits have enough replicates, or if larger limits do not help.
    """
    near = _neighbours(trials, answer)
    if len(near) < 2:
        return None
    count = min(len(trials.replicates[limit]) for limit in near)
    lines = [_line(trials, helped, near, count, seed) for seed in (None, *range(count))]
    zeros = [middle - miss / slope for middle, miss, slope in lines if slope < -FLAT]
    if len(zeros) < len(lines):
        return None
    return t_interval([count * zeros[0] - (count - 1) * one for one in zeros[1:]])


def slope_near(trials: Trials, helped: Sequence[Target], answer: int) -> float | None:
    """Returns the change of the miss with the logarithm of the limit near an answer.

    Returns None if fewer than two limits have enough replicates, or if larger limits do not help.
    """
    near = _neighbours(trials, answer)
    if len(near) < 2:
        return None
    count = min(len(trials.replicates[limit]) for limit in near)
    _, _, slope = _line(trials, helped, near, count, None)
    return slope if slope < -FLAT else None


def _neighbours(trials: Trials, answer: int) -> list[int]:
    """Returns the limits near an answer that have enough replicates."""
    return [
        limit
        for limit in trials.limits
        if answer / NEIGHBOURS <= limit <= answer * NEIGHBOURS
        and len(trials.replicates[limit]) >= FIRST_REPLICATES
    ]


def _line(
    trials: Trials, helped: Sequence[Target], near: Sequence[int], count: int, without: int | None
) -> tuple[float, float, float]:
    """Returns the line through the misses near an answer, without one of the seeds.

    These are the mean logarithm of the limits, the mean miss, and the slope.
    """
    logs = [math.log(limit) for limit in near]
    misses = []
    for limit in near:
        runs = [one for seed, one in enumerate(trials.replicates[limit][:count]) if seed != without]
        misses.append(
            max(
                target.miss(math.fsum(one[target.figure] for one in runs) / len(runs))
                for target in helped
            )
        )
    mean_log, mean_miss = math.fsum(logs) / len(logs), math.fsum(misses) / len(misses)
    spread = math.fsum((log - mean_log) ** 2 for log in logs)
    pairs = zip(logs, misses, strict=True)
    slope = math.fsum((log - mean_log) * (miss - mean_miss) for log, miss in pairs) / spread
    return mean_log, mean_miss, slope


FLAT = 0.05
"""Fall of the miss per factor of e in the buffer below which a line has no useful crossing."""
