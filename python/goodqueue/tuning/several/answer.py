"""The answer of a search over several parameters, as values, plain data and a frame."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodqueue.core.intervals import t_interval
from goodqueue.sizing.search.trials import FIRST_REPLICATES
from goodqueue.tuning.search import difference
from goodqueue.tuning.searched import Searched, ends
from goodqueue.tuning.several.search import NEAR_SHARE
from goodqueue.tuning.shown import miss_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from goodqueue.core.intervals import Interval
    from goodqueue.sizing.search.trials import Trials
    from goodqueue.tuning.axis import Axis
    from goodqueue.tuning.bounds import Goal, Keep
    from goodqueue.tuning.figures import Figure
    from goodqueue.tuning.several.search import Search
    from goodqueue.tuning.several.space import Space


HALVINGS = 2
"""Number of halvings of the box whose improvement is the error of the search."""


@dataclass(frozen=True, slots=True)
class BestPoint:
    """The recommended point.

    Attributes:
        mark: its whole number.
        shown: True if it was shown to keep all bounds.
        decided_by: bound that the means of most points with a better goal miss, as written; None if
            no point has a better one.
        is_own: True if it has the file's own values.
        search_error: improvement of the goal's figure by the last two halvings of the box, in its
            unit, at least 0; None without a goal or before two halvings.
    """

    mark: int
    shown: bool
    decided_by: str | None
    is_own: bool
    search_error: float | None


@dataclass(frozen=True, slots=True)
class Change:
    """Figures at a point at which one parameter differs from the recommended point.

    Attributes:
        axis: the parameter.
        mark: the point.
        changes: change of each figure by its key, under the common seeds, with its 95 % interval.
    """

    axis: Axis
    mark: int
    changes: dict[str, Interval]


@dataclass(frozen=True, repr=False, kw_only=True)
class TunedPoint(Searched):
    """The answer for two to four parameters.

    Attributes:
        space: the parameters and their values.
        best: the recommended point; None if no point keeps the bounds, or none is known.
    """

    space: Space
    best: BestPoint | None

    @property
    def values(self) -> dict[str, str] | None:
        """The recommended values by path, as `--set` takes them; None if there is none."""
        return None if self.best is None else dict(self.space.settings(self.best.mark))

    @property
    def proved(self) -> bool:
        """True if the recommended point was shown to keep all bounds, and the search ended."""
        return self.best is not None and self.best.shown and not self.ended

    @property
    def impossible(self) -> bool:
        """True if every point that was tried was shown to break a bound, and the search ended."""
        return self.best is None and self.all_excluded

    @property
    def table(self) -> pl.DataFrame:
        """One row per point that was run: each figure, with the ends of its interval."""
        from goodqueue.core.polars import pl

        rows = [self.space.numbers(mark) | self.columns_of(mark) for mark in self.trials.limits]
        return pl.DataFrame(rows, infer_schema_length=None)

    def as_good(self) -> list[tuple[float, float]]:
        """Returns the smallest and largest number of each parameter among points about as good.

        These have an interval, keep the bounds by their means, and were not shown to be worse than
        the recommended one. Without a goal it is the recommended point alone.
        """
        best = self.best
        if best is None:
            return []
        rivals = [best.mark]
        if self.goal is not None:
            rivals += rivals_of(self.trials, self.keeps, self.goal, best.mark)
        numbers = [list(self.space.numbers(mark).values()) for mark in rivals]
        return [(min(column), max(column)) for column in zip(*numbers, strict=True)]

    def sensitivity(self) -> list[Change]:
        """Returns how the figures change if one parameter alone moves by a tenth of its range."""
        best = self.best
        if best is None:
            return []
        return [
            Change(
                axis, mark, {one.key: self._change(one, best.mark, mark) for one in self.figures}
            )
            for axis, mark in self.space.beside(best.mark, NEAR_SHARE)
            if len(self.trials.replicates.get(mark, ())) >= FIRST_REPLICATES
        ]

    def _change(self, figure: Figure, here: int, there: int) -> Interval:
        runs = self.trials.replicates
        pairs = zip(runs[here], runs[there], strict=False)
        return t_interval([after[figure.key] - before[figure.key] for before, after in pairs])

    def frontier(self, figure: Figure) -> list[int]:
        """Returns the points for which no other one has a better goal and a better bounded figure.

        All other bounds are kept by their means. Points without an interval are left out.
        """
        goal = self.goal
        keep = next((one for one in self.keeps if one.figure.key == figure.key), None)
        if goal is None or keep is None:
            return []
        others = [one.bound for one in self.keeps if one.figure.key != figure.key]
        marks = [
            mark
            for mark in self.trials.limits
            if len(self.trials.replicates[mark]) >= FIRST_REPLICATES
            and (not others or not self.trials.unmet(mark, others))
        ]
        sign = -1 if keep.bound.at_least else 1
        costs = {
            mark: (
                sign * self.interval(mark, figure).mean,
                goal.gain(0.0, self.trials.interval(mark, goal.figure.key).mean),
            )
            for mark in marks
        }
        found: list[int] = []
        for mark in sorted(marks, key=lambda one: costs[one]):
            if not found or costs[mark][1] < costs[found[-1]][1]:
                found.append(mark)
        return found

    def as_dict(self) -> dict[str, Any]:
        """Returns the answer as plain data, as `--json` prints it."""
        return {
            "schema_version": 1,
            "parameters": [
                {
                    "parameter": axis.path,
                    "unit": axis.suffix.removeprefix("_") or None,
                    "range": list(axis.ends),
                }
                for axis in self.space.axes
            ],
            **self.asked(),
            "recommended": self._recommended(),
            "impossible": self.impossible,
            "nearest_miss": None
            if self.miss is None
            else {
                **self._point(self.miss.mark),
                "broken": self.miss.broken,
                "mean": self.miss.mean,
            },
            "points": [self._point(mark) | self.row(mark) for mark in self.trials.limits],
            "sensitivity": [
                {
                    "parameter": one.axis.path,
                    **self._point(one.mark),
                    "changes": {key: ends(change) for key, change in one.changes.items()},
                }
                for one in self.sensitivity()
            ],
            **self.cost(),
        }

    def _recommended(self) -> dict[str, Any] | None:
        best, goal = self.best, self.goal
        if best is None:
            return None
        return {
            **self._point(best.mark),
            "as_good": [list(between) for between in self.as_good()],
            "goal": None
            if goal is None
            else ends(self.trials.interval(best.mark, goal.figure.key)),
            "search_error": best.search_error,
            "shown": self.proved,
            "decided_by": best.decided_by,
            "is_own": best.is_own,
        }

    def _point(self, mark: int) -> dict[str, Any]:
        return {
            "values": [
                {"value": axis.values[at].number, "text": axis.values[at].text}
                for axis, at in self.space.marks(mark)
            ]
        }


def tuned_point(
    trials: Trials,
    space: Space,
    keeps: Sequence[Keep],
    search: Search,
    **cost: Any,  # noqa: ANN401
) -> TunedPoint:
    """Returns what the runs of a search show.

    Args:
        trials: the runs.
        space: the parameters.
        keeps: the bounds.
        search: the search.
        cost: cost of the search, as fields of `Searched`.
    """
    best = _best_of(trials, space, keeps, search) if trials.limits else None
    miss = miss_of(trials, keeps) if trials.limits and best is None else None
    return TunedPoint(
        space=space,
        keeps=tuple(keeps),
        goal=search.goal,
        trials=trials,
        best=best,
        miss=miss,
        **cost,
    )


def _best_of(
    trials: Trials, space: Space, keeps: Sequence[Keep], search: Search
) -> BestPoint | None:
    """Returns the best point that was shown to keep the bounds, or else the best by its means."""
    mark, goal = search.best(), search.goal
    shown = mark is not None
    if mark is None:
        mark = search.centre()
        if trials.unmet(mark, [keep.bound for keep in keeps]):
            return None
    error = None
    if goal is not None and len(search.trail) >= HALVINGS:
        error = max(search.gain(mark, search.trail[-HALVINGS]), 0.0)
    decided = decided_by(trials, keeps, goal, mark)
    return BestPoint(mark, shown, decided, mark == space.own, error)


def rivals_of(trials: Trials, keeps: Sequence[Keep], goal: Goal, at: int) -> list[int]:
    """Returns other points that keep the bounds and were not shown to be worse than a point."""
    targets = [keep.bound for keep in keeps]
    return [
        one
        for one in trials.limits
        if one != at
        and len(trials.replicates[one]) >= FIRST_REPLICATES
        and trials.passes(one, targets)
        and difference(trials, goal, at, one).low <= 0
    ]


def decided_by(trials: Trials, keeps: Sequence[Keep], goal: Goal | None, at: int) -> str | None:
    """Returns the bound that most of the points with a better goal break; None if none has one."""
    if goal is None:
        return None
    targets = [keep.bound for keep in keeps]
    better = [
        one
        for one in trials.limits
        if trials.unmet(one, targets) and difference(trials, goal, one, at).mean > 0
    ]
    broken = Counter(
        max(keeps, key=lambda keep: trials.miss(one, [keep.bound])).text for one in better
    )
    order = [keep.text for keep in keeps]
    return max(order, key=lambda text: broken[text]) if broken else None
