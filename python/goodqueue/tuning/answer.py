"""The answer of a search for a parameter's value, as values, plain data and a frame."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodqueue.tuning.searched import Searched
from goodqueue.tuning.shown import best_of, kept_sets, miss_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from goodqueue.sizing.search.trials import Trials
    from goodqueue.tuning.axis import Axis
    from goodqueue.tuning.bounds import Goal, Keep
    from goodqueue.tuning.shown import Best, Kept

FAR_SHARE = 0.1
"""Distance of the two values that show how sensitive the figures are, as a share of the range."""


@dataclass(frozen=True, repr=False, kw_only=True)
class Tuned(Searched):
    """The answer for one parameter.

    Attributes:
        axis: the parameter and its values.
        kept: the sets of values that keep all bounds, rising.
        best: the recommended value; None if no value keeps the bounds, or none is known.
    """

    axis: Axis
    kept: tuple[Kept, ...]
    best: Best | None

    @property
    def value(self) -> str | None:
        """The recommended value as `--set` takes it; None if there is none."""
        return None if self.best is None else self.axis.values[self.best.mark].text

    @property
    def proved(self) -> bool:
        """True if the recommended value was shown to keep all bounds, and the search ended."""
        return self.best is not None and self.best.shown and not self.ended

    @property
    def impossible(self) -> bool:
        """True if every value that was tried was shown to break a bound, and the search ended."""
        return self.best is None and self.all_excluded

    @property
    def table(self) -> pl.DataFrame:
        """One row per value that was run, rising: each figure, with the ends of its interval."""
        from goodqueue.core.polars import pl

        rows = [self.axis.numbers(mark) | self.columns_of(mark) for mark in self.trials.limits]
        return pl.DataFrame(rows, infer_schema_length=None)

    def beside(self) -> list[int]:
        """Returns values about a tenth of the range below and above the recommended one."""
        if self.best is None or len(self.axis.marks) < 2:
            return []
        marks, at = self.axis.marks, math.log(self.best.mark)
        step = FAR_SHARE * math.log(marks[-1] / marks[0])
        found = []
        for side in (-1, 1):
            others = [one for one in self.trials.limits if side * (math.log(one) - at) > step / 2]
            if others:
                found.append(min(others, key=lambda one: abs(math.log(one) - at - side * step)))
        return found

    def as_dict(self) -> dict[str, Any]:
        """Returns the answer as plain data, as `--json` prints it."""
        axis = self.axis
        return {
            "schema_version": 1,
            "parameter": axis.path,
            "unit": axis.suffix.removeprefix("_") or None,
            "range": list(axis.ends),
            **self.asked(),
            "recommended": self._recommended(),
            "sets": [
                {
                    name: {
                        **self._value(end.mark),
                        "interval": [end.low, end.high],
                        "decided_by": end.decided_by,
                    }
                    for name, end in (("low", one.low), ("high", one.high))
                }
                for one in self.kept
            ],
            "impossible": self.impossible,
            "nearest_miss": None
            if self.miss is None
            else {
                **self._value(self.miss.mark),
                "broken": self.miss.broken,
                "mean": self.miss.mean,
            },
            "values": [self._row(mark) for mark in self.trials.limits],
            "sensitivity": [self._row(mark) for mark in self.beside()],
            **self.cost(),
        }

    def _recommended(self) -> dict[str, Any] | None:
        best = self.best
        if best is None:
            return None
        return {
            **self._value(best.mark),
            "interval": [best.low, best.high],
            "shown": self.proved,
            "decided_by": best.decided_by,
            "is_own": best.is_own,
        }

    def _value(self, mark: int) -> dict[str, Any]:
        value = self.axis.values[mark]
        return {"value": value.number, "text": value.text}

    def _row(self, mark: int) -> dict[str, Any]:
        return self._value(mark) | self.row(mark)


def tuned(
    trials: Trials,
    axis: Axis,
    keeps: Sequence[Keep],
    goal: Goal | None,
    **cost: Any,  # noqa: ANN401
) -> Tuned:
    """Returns what the runs of a search show.

    Args:
        trials: the runs.
        axis: the parameter.
        keeps: the bounds.
        goal: the figure that should be large or small.
        cost: cost of the search, as fields of `Searched`.
    """
    kept = kept_sets(trials, axis, keeps)
    best = best_of(trials, axis, keeps, goal, kept) if trials.limits else None
    miss = miss_of(trials, keeps) if trials.limits and best is None else None
    return Tuned(
        axis=axis,
        keeps=tuple(keeps),
        goal=goal,
        trials=trials,
        kept=tuple(kept),
        best=best,
        miss=miss,
        **cost,
    )


def rows_of_screen(answer: Tuned, most: int) -> Sequence[int]:
    """Returns the values for a table of at most this many rows.

    These are the recommended one, the file's own, those at the ends of sets with their neighbours
    outside, and the most distant ones of the others.
    """
    limits = answer.trials.limits
    wanted = {mark for mark in (answer.axis.own,) if mark in limits}
    wanted |= {one.mark for one in (answer.best, answer.miss) if one is not None}
    for one in answer.kept:
        low, high = limits.index(one.low.mark), limits.index(one.high.mark)
        wanted |= set(limits[max(low - 1, 0) : low + 1] + limits[high : high + 2])
    others = [one for one in limits if one not in wanted]
    while others and len(wanted) < most:
        known = [*wanted, 0, math.inf] if wanted else [limits[0]]
        far = max(others, key=lambda one: min(_apart(one, other) for other in known))
        wanted.add(far)
        others.remove(far)
    return sorted(wanted)[:most]


def _apart(one: float, other: float) -> float:
    return abs(math.log(one / other)) if 0 < other < math.inf else math.inf
