"""What the model of a capture does not explain, carried into the recommendation.

If the capture lost r times as much as its model, the model may lose too little behind every buffer,
by the same factor; its utilisation may be off by as many points, its delay by the same share. The
buffer is read off the simulated curve as it is, and with the curve so corrected: the answer lies
between the two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue.sizing.answer.work_out import targets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.passive.today import Today
    from goodqueue.sizing.answer.answer import Answer
    from goodqueue.sizing.search.smallest import Target


@dataclass(frozen=True, slots=True)
class Carried:
    """The range of buffers.

    Attributes:
        low: packets, the smaller of the two readings.
        high: packets, the larger one; None if no buffer that was run keeps the bounds then.
    """

    low: int
    high: int | None

    def as_dict(self) -> dict[str, int | None]:
        """Plain values."""
        return {"low_packets": self.low, "high_packets": self.high}


def carried(answer: Answer, today: Today | None) -> Carried | None:
    """The range of buffers; None if there is no buffer, or nothing to compare with."""
    if today is None or answer.buffer is None or answer.trials is None:
        return None
    helped, _ = targets(answer.link)
    corrected = _smallest(answer, helped, today)
    if corrected is None:
        return Carried(answer.buffer, None)
    ends = sorted((answer.buffer, corrected))
    return Carried(*ends)


def _smallest(answer: Answer, helped: Sequence[Target], today: Today) -> int | None:
    """The least limit from which on the corrected curve keeps its bounds, between those run."""
    limits = answer.limits
    short = [_short_of(answer, limit, helped, today) for limit in limits]
    failing = [place for place, value in enumerate(short) if value > 0]
    if not failing:
        return limits[0]
    last = failing[-1]
    if last + 1 == len(limits):
        return None
    below, above = limits[last], limits[last + 1]
    part = short[last] / (short[last] - short[last + 1]) if short[last] > short[last + 1] else 1.0
    return min(math.ceil(below + part * (above - below)), above)


def _short_of(answer: Answer, limit: int, helped: Sequence[Target], today: Today) -> float:
    """By how much the worst bound is missed, as a share of it; negative if all are kept."""
    worst = -math.inf
    for target in helped:
        mean = _corrected(answer.interval(limit, target.figure).mean, target.figure, today)
        if target.at_least:  # a share of the time: what is missing of the whole
            missed = (target.bound - mean) / max(1 - target.bound, 0.005)
        else:
            missed = (mean - target.bound) / target.bound
        worst = max(worst, missed)
    return worst


def _corrected(mean: float, figure: str, today: Today) -> float:
    one = today.figures[figure]
    if one.measured is None:
        return mean
    if figure == "utilization":
        return min(mean + one.measured - one.mean, 1.0)
    return mean * one.ratio
