"""Results of a search, read off its replicates: sets of values, their ends, the best value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue.sizing.search.sets import by_chance, nearest, sets
from goodqueue.sizing.search.smallest import bracket
from goodqueue.sizing.search.trials import FIRST_REPLICATES, Answered, Trials
from goodqueue.tuning.axis import RATE
from goodqueue.tuning.bounds import Bound
from goodqueue.tuning.search import best, difference

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from goodqueue.tuning.axis import Axis
    from goodqueue.tuning.bounds import Goal, Keep


@dataclass(frozen=True, slots=True)
class End:
    """One end of a set of values.

    Attributes:
        mark: mark of the outermost value that keeps the bounds.
        low: lower end of the 95 % interval of the true end, as a number of the axis.
        high: upper end of this interval.
        decided_by: bound that the next value outside breaks most, as written; None at the end of
            the range.
    """

    mark: int
    low: float
    high: float
    decided_by: str | None


@dataclass(frozen=True, slots=True)
class Kept:
    """A set of values that keep all bounds, from its lower to its upper end."""

    low: End
    high: End


@dataclass(frozen=True, slots=True)
class Miss:
    """The value that misses the bounds least.

    Attributes:
        mark: its mark.
        broken: the bound that it misses most, as written.
        mean: mean of that bound's figure there.
    """

    mark: int
    broken: str
    mean: float


@dataclass(frozen=True, slots=True)
class Best:
    """The recommended value.

    Attributes:
        mark: its mark.
        low: lower end of the 95 % interval of the best value, as a number of the axis. Without a
            goal, the value follows from the file's own, and the interval is the value itself.
        high: upper end of this interval.
        shown: True if the value was shown to keep all bounds.
        decided_by: bound that excludes the values beyond it, as written; None if none does.
        is_own: True if it is the file's own value.
    """

    mark: int
    low: float
    high: float
    shown: bool
    decided_by: str | None
    is_own: bool


def kept_sets(trials: Trials, axis: Axis, keeps: Sequence[Keep]) -> list[Kept]:
    """Returns the sets of values that keep all bounds, rising."""
    targets = [keep.bound for keep in keeps]
    limits = trials.limits
    found = [(low, limits[-1] if high is None else high) for low, high in sets(trials, targets)]
    if not found:
        return []
    inner = [low for low, _ in found[1:]] + [axis.marks[-1] + 1]
    outer = [0] + [high for _, high in found[:-1]]
    return [
        Kept(
            _end(trials, axis, keeps, (after, high), low),
            _end(trials, axis, keeps, (low - 1, before - 1), high, upper=True),
        )
        for (low, high), after, before in zip(found, outer, inner, strict=True)
    ]


def _end(  # noqa: PLR0913 - the end of a set, and what is known around it
    trials: Trials,
    axis: Axis,
    keeps: Sequence[Keep],
    region: tuple[int, int],
    mark: int,
    *,
    upper: bool = False,
) -> End:
    """Returns an end of a set, with its interval from the values of a region of marks.

    An upper end is the lower end of the same values in reverse order.
    """
    order = trials.limits
    place = order.index(mark) + (1 if upper else -1)
    beyond = order[place] if 0 <= place < len(order) else None
    number = axis.values[mark].number
    if beyond is None:
        return End(mark, number, number, None)
    targets = [Steep(one.figure, one.bound, one.at_least) for one in (k.bound for k in keeps)]
    turned = _reversed(axis) if upper else _same
    inside = {turned(one): trials.replicates[one] for one in order if region[0] < one <= region[1]}
    view = Trials(trials.sampler, replicates=inside)
    low, high = by_chance(view, targets, turned(mark), bracket(view, targets))
    marks = sorted(turned(one) for one in (low, max(view.limits) if high is None else high))
    first, last = (axis.number_at(one) for one in marks)
    worst = max(keeps, key=lambda keep: trials.miss(beyond, [keep.bound]))
    return End(mark, first, last, worst.text)


class Steep(Bound):
    """A bound whose misses grow as much faster as marks grow than the range.

    The crossing of a line does not depend on this factor. The smallest slope that makes a line
    useful (`goodqueue.sizing.search.sets.FLAT`) then means the same as for buffers.
    """

    __slots__ = ()

    def miss(self, mean: float) -> float:
        """Returns by how much a mean misses the bound, times `RATE`."""
        return RATE * super().miss(mean)


def _same(mark: int) -> int:
    return mark


def _reversed(axis: Axis) -> Callable[[int], int]:
    """Returns the function that mirrors marks: the ends of the range change places."""
    product = axis.marks[0] * axis.marks[-1]
    mirrored = {mark: round(product / mark) for mark in axis.marks}
    return lambda mark: mirrored.get(mark) or round(product / max(mark, 1))


def miss_of(trials: Trials, keeps: Sequence[Keep]) -> Miss:
    """Returns the value that misses the bounds least."""
    mark = nearest(trials, [keep.bound for keep in keeps])
    worst = max(keeps, key=lambda keep: trials.miss(mark, [keep.bound]))
    return Miss(mark, worst.text, trials.interval(mark, worst.figure.key).mean)


def best_of(
    trials: Trials, axis: Axis, keeps: Sequence[Keep], goal: Goal | None, kept: Sequence[Kept]
) -> Best | None:
    """Returns the recommended value; None if no value keeps the bounds.

    It is the best by the goal, or without a goal the nearest one to the file's own value, or the
    smallest one if that is not known. Values that were shown to keep the bounds are preferred.
    """
    targets = [keep.bound for keep in keeps]
    inside = [one for one in trials.limits if trials.passes(one, targets)]
    shown = [one for one in inside if trials.answer(one, targets) is Answered.MEETS]
    among = shown or inside
    if not among:
        return None
    if goal is None:
        mark = min(among, key=lambda one: (axis.steps_from_own(one), one))
    else:
        enough = [one for one in among if len(trials.replicates[one]) >= FIRST_REPLICATES]
        found = best(trials, enough or among, goal)
        assert found is not None
        mark = found
    low = high = axis.values[mark].number
    if goal is not None:
        low, high = _interval(trials, axis, goal, inside, kept, mark)
    side = _side(trials, goal, inside, kept, mark)
    stays = goal is None and mark == axis.own
    decided = None if side is None or stays else side.decided_by
    return Best(mark, low, high, mark in shown, decided, mark == axis.own)


def _interval(  # noqa: PLR0913, PLR0917 - the best value, and what surrounds it
    trials: Trials,
    axis: Axis,
    goal: Goal,
    inside: Sequence[int],
    kept: Sequence[Kept],
    mark: int,
) -> tuple[float, float]:
    """Returns the interval in which the best value lies.

    It contains the values that were not shown to be worse, up to their neighbours that were. If a
    set ends among them, it contains the interval of this end.
    """
    rivals = [one for one in inside if one == mark or difference(trials, goal, mark, one).low <= 0]
    limits = trials.limits
    low = limits[max(limits.index(min(rivals)) - 1, 0)]
    high = limits[min(limits.index(max(rivals)) + 1, len(limits) - 1)]
    first, last = axis.values[low].number, axis.values[high].number
    for end in (end for one in kept for end in (one.low, one.high)):
        if end.mark in rivals:
            first, last = min(first, end.low), max(last, end.high)
            if end.mark == min(rivals) and end.decided_by is not None:
                first = min(end.low, axis.values[mark].number)
            if end.mark == max(rivals) and end.decided_by is not None:
                last = max(end.high, axis.values[mark].number)
    return first, last


def _side(
    trials: Trials,
    goal: Goal | None,
    inside: Sequence[int],
    kept: Sequence[Kept],
    mark: int,
) -> End | None:
    """Returns the end of the set at which a value lies; None if it lies within.

    With a goal this is an end whose values were not shown to be worse than the best.
    """
    for one in kept:
        if not one.low.mark <= mark <= one.high.mark:
            continue
        for end in (one.high, one.low):
            between = [at for at in inside if min(mark, end.mark) < at < max(mark, end.mark)]
            near = not between if goal is None else _is_rival(trials, goal, mark, end.mark)
            if near and end.decided_by is not None:
                return end
    return None


def _is_rival(trials: Trials, goal: Goal, mark: int, end: int) -> bool:
    return mark == end or difference(trials, goal, mark, end).low <= 0
