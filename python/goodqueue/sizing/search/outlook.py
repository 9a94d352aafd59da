"""Estimate of the work that a stopped search would still have needed."""

from __future__ import annotations

from math import ceil, inf, isfinite, log2
from typing import TYPE_CHECKING

from goodqueue._core import grid
from goodqueue.sizing.search.trials import FIRST_REPLICATES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.sizing.search.laboratory import Laboratory
    from goodqueue.sizing.search.smallest import Smallest
    from goodqueue.sizing.search.trials import Target, Trials

SETTLED_LIMITS = 3
"""Number of limits around an answer that are settled: itself and its neighbours."""

FEW, MANY = 20, 64
"""Number of replicates that settle a limit: usually, and at most."""


def more_packets(
    trials: Trials,
    helped: Sequence[Target],
    shown: Smallest | None,
    reach: int,
    laboratory: Laboratory,
) -> float | None:
    """Returns the packets that would about settle the answer; None if unknown.

    The bracket must be halved a number of times, with this many replicates each, and the limits
    around the answer must be settled. An interval narrows with the square root of its replicates. A
    replicate takes as long as expected, or as long as those that have run.
    """
    budget = laboratory.budget
    if budget is None:
        return None
    low, high = (shown.low, shown.high or reach) if shown else (0, reach)
    steps = sum(low < point <= high for point in grid(max(high, 1)))
    runs = ceil(log2(max(steps, 1))) * FIRST_REPLICATES
    runs += SETTLED_LIMITS * max(_to_settle(trials, helped, low, high), FEW)
    run = laboratory.plan.run
    if trials.spent:
        run = max(run, budget.used / trials.spent)
    return runs * run


def _to_settle(trials: Trials, helped: Sequence[Target], low: int, high: int) -> int:
    """Returns the most replicates that a limit within the bracket still needs."""
    needed = 0.0
    for limit in trials.limits:
        for target in helped if low < limit < high else ():
            interval = trials.interval(limit, target.figure)
            count = len(trials.replicates[limit])
            off = abs(interval.mean - target.bound)
            if isfinite(interval.half_width) and interval.half_width > off:
                narrower = interval.half_width / off if off else inf
                needed = max(needed, min(count * narrower**2, MANY) - count)
    return ceil(needed)
