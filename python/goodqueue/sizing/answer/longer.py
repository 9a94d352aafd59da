"""The bias of short replicates: the same buffer is run for longer.

Flows start near their stationary windows, and a short replicate still remembers this start. If
longer replicates behind the answer's buffer give other figures than those of full length, the
search is made again with longer ones. If the budget does not suffice for that, or shortened
replicates differ, the interval of the answer is moved, and the answer is not shown.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goodqueue.core.intervals import t_interval
from goodqueue.sizing.search.bounds import targets
from goodqueue.sizing.search.budget import BudgetSpent
from goodqueue.sizing.search.sets import slope_near
from goodqueue.sizing.search.trials import FIRST_REPLICATES, Trials

if TYPE_CHECKING:
    from goodqueue.sizing.answer.facts import Facts
    from goodqueue.sizing.link import Link
    from goodqueue.sizing.search.laboratory import Laboratory
    from goodqueue.sizing.search.smallest import Smallest

LONGER = 4.0
"""Ratio of the lengths of the measured parts."""

USUAL_SLOPE = -1.0
"""Change of the miss (`Target.miss`) with the logarithm of the buffer, if the runs do not show it.
"""

LONGER_RUNS = 6
"""Number of longer replicates that are compared with those of full length."""

BIAS = 1.05
"""Factor on the buffer from which the difference of longer replicates matters: a grid step."""

MAX_SHIFT = 2.0
"""Largest factor by which the interval is moved."""


@dataclass(frozen=True, slots=True)
class Bias:
    """Effect of longer replicates behind the same buffer.

    Attributes:
        shift: factor on the buffer that has the same effect.
        suffices: True if the longer replicates show that the buffer keeps the bounds.
    """

    shift: float
    suffices: bool


def bias_of_full(link: Link, trials: Trials, laboratory: Laboratory, at: int) -> Bias | None:
    """Returns the effect of replicates beyond the full length, None if it is small or not known.

    It is not known if the budget ends before, or for a scenario with its own duration.

    Args:
        link: the link.
        trials: the replicates of full length.
        laboratory: runner of replicates.
        at: the answer in packets.
    """
    if not laboratory.at_full_length(link):
        return None
    try:
        found = _compared(link, trials, laboratory, at, LONGER, LONGER_RUNS)
    except BudgetSpent:
        return None
    return found if found and not 1 / BIAS < found.shift < BIAS else None


def checked(  # noqa: PLR0913, PLR0917 - what was found, by what, and what is known of its bias
    link: Link,
    trials: Trials,
    laboratory: Laboratory,
    found: Smallest,
    facts: Facts,
    bias: Bias | None = None,
) -> tuple[Smallest, Facts]:
    """Returns the result with an interval that contains the bias of short replicates.

    Args:
        link: the link.
        trials: the replicates.
        laboratory: runner of replicates.
        found: the result of the search.
        facts: statements of the search beside its limit.
        bias: the bias of replicates of full length.
    """
    share = laboratory.plan.share
    if share < 1 and laboratory.engine == "packets":
        times = min(LONGER, 1 / share)
        try:
            bias = _compared(link, trials, laboratory, facts.packets, times, FIRST_REPLICATES)
        except BudgetSpent:
            return unchecked(found), facts
    if bias is None:
        return found, facts
    proved = found.proved and bias.suffices and bias.shift >= 1 / ALLOWED
    found = replace(found, proved=proved, settled=False)
    return found, _moved(facts, min(bias.shift, 1.0), max(bias.shift, 1.0))


def _compared(  # noqa: PLR0913, PLR0917 - both groups of replicates, and when they differ
    link: Link,
    trials: Trials,
    laboratory: Laboratory,
    at: int,
    times: float,
    runs: int,
) -> Bias | None:
    """Returns the effect of replicates that are longer by a factor, None if there is none.

    Raises:
        BudgetSpent: if the budget ends before.
    """
    helped, _ = targets(link)
    longer = Trials(laboratory.sampler(link, share=times * laboratory.plan.share))
    longer.ensure([at], runs)
    if not any(_apart(longer, trials, at, one.figure) for one in helped):
        return None
    # The longer replicates still have a part of the bias, which falls with the length.
    whole = (longer.miss(at, helped) - trials.miss(at, helped)) * times / (times - 1)
    slope = slope_near(trials, helped, at) or USUAL_SLOPE
    shift = min(max(math.exp(whole / -slope), 1 / MAX_SHIFT), MAX_SHIFT)
    ends = {one: t_interval([run[one.figure] for run in longer.replicates[at]]) for one in helped}
    suffices = all(one.met_by(of.low if one.at_least else of.high) for one, of in ends.items())
    return Bias(shift, suffices)


def unchecked(found: Smallest) -> Smallest:
    """Returns the result of shortened replicates that were not compared with longer ones."""
    return replace(found, proved=False, settled=False)


def _moved(facts: Facts, below: float, above: float) -> Facts:
    """Returns facts whose interval has its ends multiplied by these factors."""
    low, high = facts.chance
    moved = (
        None if low is None else max(math.floor(low * below), 1),
        None if high is None else math.ceil(high * above),
    )
    return replace(facts, chance=moved)


ALLOWED = 1.1
"""Factor by which the lower end may move while an answer that suffices still counts as shown."""


def _apart(one: Trials, other: Trials, at: int, figure: str) -> bool:
    """Returns True if two means differ by more than their 95 % intervals together.

    Of two groups of equal distribution about one pair in a hundred differs so much.
    """
    intervals = [t_interval([run[figure] for run in of.replicates[at]]) for of in (one, other)]
    together = math.hypot(*(interval.half_width for interval in intervals))
    return abs(intervals[0].mean - intervals[1].mean) > together
