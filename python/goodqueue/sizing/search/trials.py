"""Replicates of a search, by limit, and the verdicts on bounds that they allow.

A figure at one limit is a mean of replicates, with an interval that stays valid however often it is
evaluated (`goodqueue.study.stopping`). So a limit *meets* a bound, *fails* it, is *close* to it, or
is still *open*. The same seeds are used for every limit (common random numbers).

Limits lie on a grid whose step is the larger of one packet and 5 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from goodqueue.core.metrics import range_of
from goodqueue.study.stopping import anytime_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goodqueue.core.intervals import Interval

COARSE_REPLICATES = 3
"""Replicates of the coarse grid; their means only show where to search."""

FIRST_REPLICATES = 8
"""Smallest number of replicates that gives a finite interval."""

DROPS = "drops"
"""Figure that is zero if the queue never overflowed; larger limits then give the same results."""

MIN_IDLE = 1e-4
"""Smallest idle share that counts if the requested utilisation is 100 %."""

MARGIN_OF_SHARE = 0.001
"""Margin of a bound on the utilisation: 0.1 points, and at most a quarter of the idle share."""

MARGIN_OF_BOUND = 0.03
"""Margin of a bound on loss or delay, as a share of the bound."""


class Answered(Enum):
    """Verdict on a bound, as far as the replicates decide it."""

    MEETS = "meets"
    FAILS = "fails"
    CLOSE = "close"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Target:
    """A bound on one figure.

    Attributes:
        figure: its name in replicates, such as `utilization`.
        bound: the bound.
        at_least: True if the figure must be at least the bound, False if at most.
    """

    figure: str
    bound: float
    at_least: bool

    @property
    def margin(self) -> float:
        """Distance from the bound below which no replicates are spent on a decision."""
        if self.at_least:
            return min(MARGIN_OF_SHARE, (1 - self.bound) / 4)
        return MARGIN_OF_BOUND * self.bound

    def answer(self, interval: Interval) -> Answered:
        """Returns the verdict that an interval of the figure's mean allows.

        It is `MEETS` or `FAILS` if the interval is on one side of the bound. An interval on both
        sides that is no wider than the margin is `CLOSE`: the figure keeps the bound by less than
        the margin, or misses it by less. Otherwise the verdict is `OPEN`.
        """
        worst, best = interval.low, interval.high
        if not self.at_least:
            worst, best = best, worst
        if self.met_by(worst):
            return Answered.MEETS
        if not self.met_by(best):
            return Answered.FAILS
        return Answered.CLOSE if 2 * interval.half_width <= self.margin else Answered.OPEN

    def met_by(self, mean: float) -> bool:
        """Returns True if a mean keeps the bound."""
        return mean >= self.bound if self.at_least else mean <= self.bound

    def miss(self, mean: float) -> float:
        """Returns by how much a mean misses the bound: 0 on the bound, negative if it keeps it.

        The value is the logarithm of the idle share over its bound, or of the loss or the delay
        over its bound, so that bounds of different kinds can be compared.
        """
        value, bound = (1 - mean, 1 - self.bound) if self.at_least else (mean, self.bound)
        # A tenth of the bound is added, because a figure may be 0 and the bound may be 100 %.
        floor = 0.1 * bound or MIN_IDLE
        return math.log((value + floor) / (bound + floor))


class Ended(Exception):  # noqa: N818 - carries what had finished, and why no more was run
    """Replicates that were stopped.

    Attributes:
        finished: replicates that had ended, by limit, without gaps in the order of seeds.
        why: the cause that stopped them.
    """

    def __init__(
        self, finished: Mapping[int, Sequence[Mapping[str, float]]], why: BaseException
    ) -> None:
        """Takes the finished replicates and the cause."""
        super().__init__(str(why))
        self.finished = finished
        self.why = why


class Sampler(Protocol):
    """Runner of replicates: figures by name, from seed index `first` on, at each limit."""

    def __call__(self, wanted: Mapping[int, range]) -> Mapping[int, Sequence[Mapping[str, float]]]:
        """Returns the requested replicates (by limit, indices of seeds), in the order of seeds.

        Raises:
            Ended: if they were stopped.
        """


@dataclass(slots=True)
class Trials:
    """All replicates, by limit; none is run twice.

    Attributes:
        sampler: runner of replicates.
        replicates: the figures of each, by limit, in the order of seeds.
        spent: number of replicates.
        on_change: function called after further replicates.
    """

    sampler: Sampler
    replicates: dict[int, list[Mapping[str, float]]] = field(default_factory=dict)
    spent: int = 0
    on_change: Callable[[Trials], None] = lambda _trials: None

    def ensure(self, limits: Sequence[int], count: int) -> None:
        """Runs the replicates that are missing to this count at each of the limits."""
        wanted = {
            limit: range(len(self.replicates.get(limit, ())), count)
            for limit in limits
            if len(self.replicates.get(limit, ())) < count
        }
        if not wanted:
            return
        try:
            self._take(self.sampler(wanted))
        except Ended as ended:
            self._take(ended.finished)
            raise ended.why from None

    def _take(self, found: Mapping[int, Sequence[Mapping[str, float]]]) -> None:
        for limit, figures in found.items():
            if figures:
                self.replicates.setdefault(limit, []).extend(figures)
                self.spent += len(figures)
        self.on_change(self)

    def interval(self, limit: int, figure: str) -> Interval:
        """Returns the interval of a figure's mean at a limit, within the figure's range."""
        found = anytime_interval([one[figure] for one in self.replicates[limit]])
        return found.within(*range_of(figure))

    def answer(self, limit: int, targets: Sequence[Target]) -> Answered:
        """Returns `FAILS` if a target fails, else `OPEN`, `CLOSE` or `MEETS`, in this order."""
        answers = [target.answer(self.interval(limit, target.figure)) for target in targets]
        order = (Answered.FAILS, Answered.OPEN, Answered.CLOSE)
        return next((one for one in order if one in answers), Answered.MEETS)

    def unmet(self, limit: int, targets: Sequence[Target]) -> tuple[str, ...]:
        """Returns the figures of the targets that the means do not keep."""
        return tuple(
            one.figure for one in targets if not one.met_by(self.interval(limit, one.figure).mean)
        )

    def passes(self, limit: int, targets: Sequence[Target]) -> bool:
        """Returns True if the means keep all targets, and none is known to be close."""
        return not self.unmet(limit, targets) and self.answer(limit, targets) is not Answered.CLOSE

    def miss(self, limit: int, targets: Sequence[Target]) -> float:
        """Returns by how much the means miss the target that they miss most (`Target.miss`)."""
        return max(target.miss(self.interval(limit, target.figure).mean) for target in targets)

    @property
    def limits(self) -> list[int]:
        """Limits that were tried, rising."""
        return sorted(self.replicates)
