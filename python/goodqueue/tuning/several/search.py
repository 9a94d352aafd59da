"""Search for the point of several parameters that keeps every bound and is best.

Points that fill the space evenly are run first. The optimiser then proposes points in the whole
space, and after that in boxes around the best point. A box is halved when none of its points is
better. The best points get replicates until a point is shown to keep the bounds and no undecided
one could be better by more than indifference, as in the search for one parameter.
"""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

from goodqueue.sizing.search.sets import breaks, nearest
from goodqueue.sizing.search.trials import COARSE_REPLICATES, FIRST_REPLICATES, Answered
from goodqueue.tuning.search import INDIFFERENT, OPEN_AT_ONCE, difference, more
from goodqueue.tuning.several.optimiser import Known, proposed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodqueue.sizing.search.trials import Trials
    from goodqueue.tuning.search import Aim
    from goodqueue.tuning.several.space import Box, Space

FIRST_POINTS = 12
"""Number of points that are tried first, for each parameter."""

BATCH = 8
"""Number of points that are proposed and run together, whatever the number of threads."""

WIDE_BATCHES = 4
"""Number of batches of the whole space, for two parameters; in proportion for more."""

FIRST_SHARE, LAST_SHARE = 0.25, 0.012
"""Half width of the first box and of the last one, as a share of each range."""

STEP = 0.003
"""Gain of the goal, as a share of its mean, that keeps a box from being halved."""

MAX_BATCHES = 40
"""Largest number of batches in boxes."""

BEST = 3
"""Number of points that are compared under enough seeds after each batch."""

SURE = 3.2
"""Standard errors, of the mean of the most replicates, by which a point must keep a bound to be
searched for: a point that is closer to the bound could not be shown to keep it. With 64 replicates
the interval's half is 3.2 standard errors (`goodqueue.study.stopping`)."""

RACE = ((8, 20), (4, 40))
"""Numbers of the best points that are compared under more seeds at last, and numbers of seeds."""

NEAR_SHARE = 0.1
"""Distance of the points that show how sensitive the figures are, as a share of a range."""


class Search:
    """A search over several parameters.

    Attributes:
        trail: the best point before each halving of the box.
        goal: the figure that should be large or small; None for the point nearest to the file's.
    """

    def __init__(self, trials: Trials, space: Space, aim: Aim, seed: int) -> None:
        """Takes the runs, the parameters, the bounds and the goal, and the seed of proposals."""
        self.trail: list[int] = []
        self.goal = aim.goal
        self._trials = trials
        self._space = space
        self._aim = aim
        self._seed = seed
        self._batches = 0
        self._spreads: dict[str, dict[int, tuple[int, float]]] = {}

    def run(self) -> None:
        """Runs points until the best one is known.

        Raises:
            BudgetSpent: if the budget ends before.
            KeyboardInterrupt: after Ctrl-C; the runs that had ended are in the trials.
        """
        space, few = self._space, min(COARSE_REPLICATES, self._aim.most)
        own = [] if space.own is None else [space.own]
        first = own + space.spread(FIRST_POINTS * len(space.axes))
        self._trials.ensure(list(dict.fromkeys(first)), few)
        for _ in range(WIDE_BATCHES * len(space.axes) // 2):
            self._batch(space.whole)
        found, share = self._narrow(self._firm(), FIRST_SHARE)
        self._settle()
        at = self.best()
        if at is not None and self._is_better(found, at):  # the runs did not show the best point
            self._narrow(at, 4 * share)
            self._settle()
        self._look_around()

    def best(self) -> int | None:
        """Returns the best point that was shown to keep the bounds; None if there is none."""
        return self._best_of(self._shown())

    def centre(self) -> int:
        """Returns the best point that may be shown to keep the bounds.

        Without such a point it is the best one whose means keep them, or else the one that misses
        them least.
        """
        found = self._best_of(self._promising())
        return nearest(self._trials, self._aim.targets) if found is None else found

    def _kept(self) -> list[int]:
        """Returns the points whose means keep the bounds, however close they are."""
        trials = self._trials
        return [one for one in trials.limits if not trials.unmet(one, self._aim.targets)]

    def _promising(self) -> list[int]:
        """Returns the points that may be shown to keep the bounds, or else those whose means do."""
        among = self._kept()
        return [one for one in among if max(self._misses(one)) <= 0] or among

    def _misses(self, point: int) -> list[float]:
        """Returns by how much a point misses each bound, with the distance that shows it."""
        trials = self._trials
        found = []
        for target in self._aim.targets:
            mean = trials.interval(point, target.figure).mean
            far = SURE * self._spread(point, target.figure) / math.sqrt(self._aim.most)
            found.append(target.miss(mean - far if target.at_least else mean + far))
        return found

    def _spread(self, point: int, figure: str) -> float:
        """Returns the standard deviation of a figure; with few replicates, that of other points."""
        runs = self._trials.replicates
        known = self._spreads.setdefault(figure, {})
        for one, some in runs.items():
            if len(some) >= FIRST_REPLICATES and known.get(one, (0, 0.0))[0] != len(some):
                known[one] = len(some), _deviation(some, figure)
        if point in known:
            return known[point][1]
        return median(spread for _, spread in known.values()) if known else 0.0

    def gain(self, one: int, other: int) -> float:
        """Returns by how much one point's mean goal is better than another's, by common seeds."""
        if self.goal is None:
            return self._space.far(other) - self._space.far(one)
        runs, goal = self._trials.replicates, self.goal
        key = goal.figure.key
        pairs = zip(runs[one], runs[other], strict=False)
        gains = [goal.gain(better[key], worse[key]) for better, worse in pairs]
        return math.fsum(gains) / len(gains)

    def matters(self, gain: float, at: int, share: float = INDIFFERENT) -> bool:
        """Returns True if a gain over a point is larger than a share of its goal's mean."""
        if self.goal is None:
            return gain > 0
        scale = abs(self._trials.interval(at, self.goal.figure.key).mean)
        return gain > share * scale

    def _is_better(self, one: int, other: int) -> bool:
        """Returns True if a point keeps the bounds better, or has a better goal, than another."""
        trials, targets = self._trials, self._aim.targets
        keeps, kept = (not trials.unmet(point, targets) for point in (one, other))
        if keeps and kept:
            return self.matters(self.gain(one, other), other, STEP)
        fewer = trials.miss(other, targets) - trials.miss(one, targets)
        return keeps or (not kept and fewer > STEP)

    def _best_of(self, among: Sequence[int]) -> int | None:
        found: int | None = None
        for one in among:
            if found is None or self.gain(one, found) > 0:
                found = one
        return found

    def _shown(self) -> list[int]:
        trials, targets = self._trials, self._aim.targets
        return [one for one in trials.limits if trials.answer(one, targets) is Answered.MEETS]

    def _narrow(self, at: int, share: float) -> tuple[int, float]:
        """Proposes points in smaller and smaller boxes around the best point.

        Returns the best point, and the half width of the last box.
        """
        last = share
        for _ in range(MAX_BATCHES):
            if share < LAST_SHARE:
                break
            last = share
            self._batch(self._space.around(at, share))
            found = self._firm()
            if not self._is_better(found, at):
                self.trail.append(at)
                share /= 2
            at = found
        return at, last

    def _batch(self, box: Box) -> None:
        """Runs a batch of points of a box."""
        self._batches += 1
        known = [self._known(one) for one in self._trials.limits]
        points = proposed(self._space, known, box, BATCH, self._seed + self._batches)
        self._trials.ensure(points, min(COARSE_REPLICATES, self._aim.most))

    def _known(self, point: int) -> Known:
        trials, goal = self._trials, self.goal
        if goal is None:
            loss = self._space.far(point)
        else:
            loss = goal.gain(0.0, trials.interval(point, goal.figure.key).mean)
        return Known(point, loss, tuple(self._misses(point)))

    def _firm(self) -> int:
        """Gives the best points enough replicates to compare them; returns the best."""
        while True:
            spent = self._trials.spent
            top = self._ranked(self._promising(), BEST)
            top = top or [nearest(self._trials, self._aim.targets)]
            self._trials.ensure(top, min(FIRST_REPLICATES, self._aim.most))
            if self._trials.spent == spent:
                return self.centre()

    def _settle(self) -> None:
        """Gives undecided points replicates while one could be better than the best shown one.

        If no point keeps the bounds, excluding all of them takes at most as many runs as the search
        for one has taken.
        """
        trials, targets = self._trials, self._aim.targets
        most = 2 * trials.spent
        while True:
            spent = trials.spent
            if self._kept():
                self._firm()
                self._race()
                self._add(self._undecided())
            elif spent < most:
                left = [one for one in trials.limits if not breaks(trials, one, targets)]
                left.sort(key=lambda one: trials.miss(one, targets))
                more(trials, left, self._aim)
            if trials.spent == spent:
                return

    def _race(self) -> None:
        """Compares the best points under more seeds, as far as their goals may differ.

        With more replicates the means of all points may break a bound; then there is nothing to
        compare.
        """
        trials, goal = self._trials, self.goal
        if goal is None or goal.of_parameter:
            return
        for count, seeds in RACE:
            best = self._ranked(self._promising(), count)
            if not best:
                return
            first, *others = best
            scale = INDIFFERENT * abs(trials.interval(first, goal.figure.key).mean)
            losses = {one: difference(trials, goal, first, one) for one in others}
            rivals = [
                one
                for one, loss in losses.items()
                if loss.low < scale and abs(loss.mean) + loss.half_width > scale
            ]
            trials.ensure([first, *rivals] if rivals else [], min(seeds, self._aim.most))

    def _undecided(self) -> list[int]:
        """Returns the points that may be shown to keep the bounds and be best, best first.

        Unlike the search for one parameter, this one also decides points that are closer to a bound
        than its margin, because the best point lies on a bound.
        """
        among, at = self._promising(), self.best()
        if at is not None:
            among = [one for one in among if self.matters(self.gain(one, at), at)]
        targets = self._aim.targets
        decided = (Answered.MEETS, Answered.FAILS)
        among = [one for one in among if self._trials.answer(one, targets) not in decided]
        return self._ranked(among, OPEN_AT_ONCE)

    def _add(self, points: Sequence[int]) -> None:
        """Gives points half as many replicates again as they have, up to the most."""
        runs, most = self._trials.replicates, self._aim.most
        few = [one for one in points if len(runs[one]) < most]
        if few:
            fewest = min(len(runs[one]) for one in few)
            count = max(fewest + fewest // 2, FIRST_REPLICATES)
            self._trials.ensure(few, min(count, most))

    def _ranked(self, among: Sequence[int], count: int) -> list[int]:
        """Returns the best points by their goal, the best first."""
        left, found = list(among), list[int]()
        while left and len(found) < count:
            first = self._best_of(left)
            assert first is not None
            left.remove(first)
            found.append(first)
        return found

    def _look_around(self) -> None:
        """Runs the points beside the best one, each with one other value."""
        at = self.best()
        at = self.centre() if at is None else at
        if self._kept():
            beside = [point for _, point in self._space.beside(at, NEAR_SHARE)]
            self._trials.ensure([at, *beside], min(FIRST_REPLICATES, self._aim.most))


def _deviation(runs: Sequence[Mapping[str, float]], figure: str) -> float:
    """Returns the standard deviation of a figure."""
    values = [one[figure] for one in runs]
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((one - mean) ** 2 for one in values) / (len(values) - 1))
