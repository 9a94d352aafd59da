"""The bias of shortened replicates: the same buffer is run for longer.

Flows start near their stationary windows, and a short replicate still remembers this start. If
longer replicates behind the answer's buffer give other figures than the short ones, the interval of
the answer is moved, and the answer is not shown.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from goodqueue.sizing.search.bounds import targets
from goodqueue.sizing.search.budget import BudgetSpent
from goodqueue.sizing.search.sets import slope_near
from goodqueue.sizing.search.trials import FIRST_REPLICATES, Answered, Trials

if TYPE_CHECKING:
    from goodqueue.core.intervals import Interval
    from goodqueue.sizing.answer.facts import Facts
    from goodqueue.sizing.link import Link
    from goodqueue.sizing.search.laboratory import Laboratory
    from goodqueue.sizing.search.smallest import Smallest

LONGER = 4.0
"""Ratio of the lengths of the measured parts."""

USUAL_SLOPE = -1.0
"""Change of the miss (`Target.miss`) with the logarithm of the buffer, if the runs do not show it.
"""

MOST_SHIFT = 2.0
"""Largest factor by which the interval is moved."""


def checked(
    link: Link, trials: Trials, laboratory: Laboratory, found: Smallest, facts: Facts
) -> tuple[Smallest, Facts]:
    """Returns the result with an interval that contains the bias of shortened replicates.

    Args:
        link: the link.
        trials: the shortened replicates.
        laboratory: runner of replicates.
        found: the result of the search.
        facts: statements of the search beside its limit.
    """
    share = laboratory.plan.share
    if share >= 1 or laboratory.engine != "packets":
        return found, facts
    helped, _ = targets(link)
    at = facts.packets
    longer = Trials(laboratory.sampler(link, share=min(LONGER * share, 1.0)))
    try:
        longer.ensure([at], FIRST_REPLICATES)
    except BudgetSpent:
        return unchecked(found, facts)
    differs = any(
        _apart(longer.interval(at, one.figure), trials.interval(at, one.figure)) for one in helped
    )
    if not differs:
        return found, facts
    miss = longer.miss(at, helped)
    slope = slope_near(trials, helped, at) or USUAL_SLOPE
    shift = math.exp((miss - trials.miss(at, helped)) / -slope)
    shift = min(max(shift, 1 / MOST_SHIFT), MOST_SHIFT)
    suffices = longer.answer(at, helped) is Answered.MEETS
    proved = found.proved and suffices and shift >= 1 / ALLOWED
    found = replace(found, proved=proved, settled=False)
    return found, _moved(facts, min(shift, 1.0), max(shift, 1.0))


def unchecked(found: Smallest, facts: Facts) -> tuple[Smallest, Facts]:
    """Returns the result of shortened replicates that were not compared with longer ones."""
    return replace(found, proved=False, settled=False), _moved(facts, 1 / UNCHECKED, UNCHECKED)


def _moved(facts: Facts, below: float, above: float) -> Facts:
    """Returns facts whose interval has its ends multiplied by these factors."""
    low, high = facts.chance
    moved = (
        None if low is None else max(math.floor(low * below), 1),
        None if high is None else math.ceil(high * above),
    )
    return replace(facts, chance=moved)


UNCHECKED = 1.35
"""Factor by which the interval of shortened replicates is widened if the budget does not suffice
to compare them with longer ones."""

ALLOWED = 1.1
"""Factor by which the lower end may move while an answer that suffices still counts as shown."""


def _apart(one: Interval, other: Interval) -> bool:
    """Returns True if two means differ by more than their intervals together."""
    return abs(one.mean - other.mean) > math.hypot(one.half_width, other.half_width)
