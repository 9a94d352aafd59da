"""Effect of the model's error on the recommended buffer.

If the capture lost r times as much as its model, the model may lose too little behind every buffer,
by the same factor. Its utilisation may be wrong by the same difference, its delay by the same
ratio. The buffer is determined twice, from the simulated curve and from the curve with these
corrections. The answer lies between the two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue.sizing.search.bounds import targets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.passive.today import Today
    from goodqueue.sizing.answer.answer import Answer
    from goodqueue.sizing.search.trials import Target


@dataclass(frozen=True, slots=True)
class Carried:
    """Range of buffers.

    Attributes:
        low: smaller of the two buffers, in packets.
        high: larger one; None if no simulated buffer keeps the bounds after correction.
    """

    low: int
    high: int | None

    def as_dict(self) -> dict[str, int | None]:
        """Returns plain values."""
        return {"low_packets": self.low, "high_packets": self.high}


def carried(answer: Answer, today: Today | None) -> Carried | None:
    """Returns the range of buffers; None without a buffer or a comparison with the capture."""
    if today is None or answer.buffer is None or answer.trials is None:
        return None
    helped, _ = targets(answer.link)
    corrected = _smallest(answer, helped, today)
    if corrected is None:
        return Carried(answer.buffer, None)
    ends = sorted((answer.buffer, corrected))
    return Carried(*ends)


def _smallest(answer: Answer, helped: Sequence[Target], today: Today) -> int | None:
    """Returns the smallest limit from which on the corrected curve keeps its bounds."""
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
    """Returns the relative amount by which the worst bound is missed; negative if all are kept."""
    worst = -math.inf
    for target in helped:
        mean = _corrected(answer.interval(limit, target.figure).mean, target.figure, today)
        if target.at_least:  # a share of the time is compared by its difference from 1
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
