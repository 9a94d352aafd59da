"""Search for the smallest buffer that meets every bound, with random replicates.

A figure at one limit is a mean of replicates, with an interval. So a limit *meets* a bound, *fails*
it, or is still *open*. More replicates are run only if they can decide. The same seeds are used for
every limit (common random numbers). Intervals stay valid however often they are evaluated
(`goodqueue.study.stopping`).

Limits lie on a grid whose step is the larger of one packet and 5 %. Every eighth of them is tried
first. Then the bracket is halved. Then the limits around the answer get replicates until they are
settled or the budget is spent. Utilisation and loss need not be monotonic in the buffer (flows
synchronise at a particular queue length). The answer is therefore the smallest limit from which on
all tried limits suffice, and exceptions are reported.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from goodqueue.core.metrics import range_of
from goodqueue.study.stopping import anytime_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goodqueue.core.intervals import Interval

GRID_STEP = 0.05
COARSE = 8
"""Stride of the coarse grid in grid points: a factor of 1.48."""

FIRST_STRIDE = 2
"""Grid points from a guess to the second limit tried; each further step is twice as long."""

COARSE_REPLICATES = 3
"""Replicates of the coarse grid; their means only show where to search."""

FIRST_REPLICATES = 8
"""Smallest number of replicates that gives a finite interval."""

DROPS = "drops"
"""Figure that is zero if the queue never overflowed; larger limits then give the same results."""


class Answered(Enum):
    """Verdict on a bound, as far as the replicates decide it."""

    MEETS = "meets"
    FAILS = "fails"
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

    def answer(self, interval: Interval) -> Answered:
        """Returns `MEETS` or `FAILS` if the interval is on one side of the bound, else `OPEN`."""
        worst, best = interval.low, interval.high
        if not self.at_least:
            worst, best = best, worst
        if self.met_by(worst):
            return Answered.MEETS
        return Answered.OPEN if self.met_by(best) else Answered.FAILS

    def met_by(self, mean: float) -> bool:
        """Returns True if a mean keeps the bound."""
        return mean >= self.bound if self.at_least else mean <= self.bound


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
        """Returns `FAILS` if a target fails, else `OPEN` if one is open, else `MEETS`."""
        answers = [target.answer(self.interval(limit, target.figure)) for target in targets]
        if Answered.FAILS in answers:
            return Answered.FAILS
        return Answered.OPEN if Answered.OPEN in answers else Answered.MEETS

    def unmet(self, limit: int, targets: Sequence[Target]) -> tuple[str, ...]:
        """Returns the figures of the targets that the means do not keep."""
        return tuple(
            one.figure for one in targets if not one.met_by(self.interval(limit, one.figure).mean)
        )

    def passes(self, limit: int, targets: Sequence[Target]) -> bool:
        """Returns True if the means keep all targets."""
        return not self.unmet(limit, targets)

    @property
    def limits(self) -> list[int]:
        """Limits that were tried, rising."""
        return sorted(self.replicates)


@dataclass(frozen=True, slots=True)
class Smallest:
    """Result of a search.

    Attributes:
        limit: the smallest limit in packets that meets all bounds; None if there is none.
        low: the largest limit shown to fail; 0 if none was. The answer lies above it.
        high: the smallest limit shown to meet all bounds, from which on none was shown to fail;
            None if the replicates did not show it.
        floor: the smallest limit that keeps the bounds that a larger buffer helps, whatever the
            delay.
        ceiling: if the floor breaks a bound that a larger buffer hurts, the largest limit that
            keeps it; None if none does, or if the floor breaks none.
        reached: the largest limit that was tried.
        broken: the targets that exclude an answer, if there is none.
        exceptions: smaller limits that pass although a larger one does not.
        settled: True if limit and its smaller neighbour are both shown and not only estimated.
        proved: True if the limit was shown to meet all bounds, and lies at most one grid step above
            the smallest that can.
    """

    limit: int | None
    low: int
    high: int | None
    floor: int | None
    reached: int
    exceptions: tuple[int, ...]
    ceiling: int | None = None
    broken: tuple[str, ...] = ()
    settled: bool = False
    proved: bool = False


def grid(last: int) -> list[int]:
    """Returns limits from 1 to at least `last`, a packet or 5 % apart; the last is a coarse one."""
    limits = [1]
    while limits[-1] < last or len(limits) % COARSE != 1:
        limits.append(max(limits[-1] + 1, round(limits[-1] * (1 + GRID_STEP))))
    return limits


def smallest(  # noqa: PLR0913 - where, which bounds, and how far
    trials: Trials,
    helped: Sequence[Target],
    hurt: Sequence[Target],
    *,
    reach: tuple[int, int],
    most_replicates: int,
    lean: bool = False,
    near: int | None = None,
    least: int = 1,
) -> Smallest:
    """Returns the result of a search.

    Args:
        trials: replicates, run when needed.
        helped: targets that a larger buffer helps (utilisation, loss).
        hurt: targets that a larger buffer hurts (delay).
        reach: the largest limit of the grid in packets, at first and at most.
        most_replicates: largest number of replicates of a limit.
        lean: omits the coarse scan: fewer runs, and monotonicity is checked only around the answer.
        near: packets near which a lean search expects the answer and begins.
        least: packets below which a lean search tries nothing.
    """
    if lean and near is not None:
        points = _around(trials, helped, near, (least, reach[1]))
    else:
        points = _reach(trials, helped, *reach, lean=lean)
    find = _floor_within_a_step if lean else _floor
    floor = find(trials, points, helped, most_replicates)
    if floor is None:
        last = trials.limits[-1]
        return Smallest(
            limit=None,
            low=last,
            high=None,
            floor=None,
            reached=last,
            exceptions=_exceptions(trials, helped),
            broken=trials.unmet(last, [*helped, *hurt]),
        )
    feasible = trials.passes(floor, hurt)
    ceiling = None if feasible else _ceiling(trials, points, hurt, most_replicates)
    low, high = _range(trials, helped)
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
        exceptions=_exceptions(trials, helped),
        ceiling=ceiling,
        broken=broken,
        settled=shown and (below is None or trials.answer(below, helped) is Answered.FAILS),
        proved=feasible and shown and _within_a_step(low, floor),
    )


def so_far(trials: Trials, helped: Sequence[Target], hurt: Sequence[Target]) -> Smallest | None:
    """Returns the result that replicates of a stopped search show; None if there are none.

    Its limit is the smallest that was *shown* to keep all bounds. Estimates of means do not count.
    """
    if not trials.limits:
        return None
    low, high = _range(trials, helped)
    serves = high is not None and trials.answer(high, hurt) is Answered.MEETS
    proved = serves and high is not None and _within_a_step(low, high)
    return Smallest(
        limit=high if serves else None,
        low=low,
        high=high,
        floor=high,
        reached=trials.limits[-1],
        exceptions=_exceptions(trials, helped),
        proved=proved,
    )


def _within_a_step(low: int, high: int) -> bool:
    """Returns True if at most one grid limit lies between a failing and a sufficient one."""
    return sum(low < point < high for point in grid(high)) <= 1


def _reach(
    trials: Trials, helped: Sequence[Target], reach: int, most: int, *, lean: bool
) -> list[int]:
    """Tries the coarse grid until its two largest points suffice or the largest never fills.

    A lean search tries only its largest point.
    """
    while True:
        points = grid(min(reach, most))
        coarse = points[::COARSE]
        checked = coarse[-1:] if lean else coarse[-2:]
        trials.ensure(checked if lean else coarse, COARSE_REPLICATES)
        top = coarse[-1]
        never_full = trials.interval(top, DROPS).mean == 0
        if never_full or reach >= most:
            return points
        if all(trials.passes(limit, helped) for limit in checked):
            return points
        reach *= 2


def _around(
    trials: Trials, helped: Sequence[Target], near: int, ends: tuple[int, int]
) -> list[int]:
    """Tries limits ever farther from a guess until one that fails lies below one that suffices.

    It also ends at the largest or smallest limit, and at one that never fills. Returns the grid
    between the ends.
    """
    least, most = ends
    points = grid(max(least, most))
    points = points[bisect_left(points, least) :]
    at = min(bisect_left(points, near), len(points) - 1)
    stride, upward = FIRST_STRIDE, None
    while True:
        trials.ensure([points[at]], COARSE_REPLICATES)
        fails = not trials.passes(points[at], helped)
        never_full = fails and trials.interval(points[at], DROPS).mean == 0
        at_the_end = at == (len(points) - 1 if fails else 0)
        if never_full or at_the_end or upward is (not fails):
            return points
        upward = fails
        at = min(at + stride, len(points) - 1) if upward else max(at - stride, 0)
        stride *= 2


def _floor(trials: Trials, points: list[int], helped: Sequence[Target], most: int) -> int | None:
    """Returns the smallest grid point from which on every limit tried passes."""
    while True:
        at = _floor_by_means(trials, points, helped, min(FIRST_REPLICATES, most))
        if at is None or not _settle(trials, points, at, helped, most):
            return None if at is None else points[at]


def _floor_within_a_step(
    trials: Trials, points: list[int], helped: Sequence[Target], most: int
) -> int | None:
    """Returns a grid point shown to suffice, at most one step above the smallest that passes.

    The limits on both sides of the smallest one are shown to fail and to suffice, which takes fewer
    replicates than to settle the limit between them. If they cannot be shown, returns the smallest
    one by means.
    """
    while True:
        at = _floor_by_means(trials, points, helped, COARSE_REPLICATES)
        if at is None:
            return None
        low, high = _range(trials, helped)
        if high is not None and _within_a_step(low, high):
            return high
        sides = [points[at - 1], *points[at + 1 : at + 2]] if at else points[:1]
        if not _more(trials, sides, helped, most):
            return points[at]


def _floor_by_means(
    trials: Trials, points: list[int], helped: Sequence[Target], replicates: int
) -> int | None:
    """Returns the index of the smallest grid point from which on the means of tried limits pass.

    Runs this many replicates of limits that it tries.
    """
    while True:
        failing = [limit for limit in trials.limits if not trials.passes(limit, helped)]
        if failing and failing[-1] == trials.limits[-1]:
            return None
        above = min(limit for limit in trials.limits if not failing or limit > failing[-1])
        low = points.index(failing[-1]) if failing else -1
        high = points.index(above)
        if high - low <= 1:
            return high
        trials.ensure([points[(low + high) // 2]], replicates)


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


def _range(trials: Trials, helped: Sequence[Target]) -> tuple[int, int | None]:
    """Returns the largest limit shown to fail, and the smallest above it shown to suffice."""
    answers = {limit: trials.answer(limit, helped) for limit in trials.limits}
    low = max((limit for limit in answers if answers[limit] is Answered.FAILS), default=0)
    shown = [limit for limit in answers if limit > low and answers[limit] is Answered.MEETS]
    return low, min(shown, default=None)


def _exceptions(trials: Trials, helped: Sequence[Target]) -> tuple[int, ...]:
    """Returns the limits that pass although a larger one is shown to fail."""
    failing = [limit for limit in trials.limits if trials.answer(limit, helped) is Answered.FAILS]
    last = failing[-1] if failing else 0
    return tuple(limit for limit in trials.limits if limit < last and trials.passes(limit, helped))
