"""The answer of a search for a parameter's value, as values, plain data and a frame."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodqueue.core.shown import axes_of, html_of, words_of
from goodqueue.sizing.search.sets import excluded
from goodqueue.sizing.search.trials import Answered

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from goodqueue._core import Scenario
    from goodqueue.core.intervals import Interval
    from goodqueue.core.shown import Drawn
    from goodqueue.sizing.search.trials import Trials
    from goodqueue.tuning.axis import Axis
    from goodqueue.tuning.bounds import Goal, Keep
    from goodqueue.tuning.figures import Figure
    from goodqueue.tuning.shown import Best, Kept, Miss

VERDICTS = {
    Answered.MEETS: "yes",
    Answered.FAILS: "no",
    Answered.CLOSE: "close",
    Answered.OPEN: "open",
}
"""Verdicts on a value: `close` is too close to a bound to be recommended, `open` not decided."""

FAR_SHARE = 0.1
"""Distance of the two values that show how sensitive the figures are, as a share of the range."""


@dataclass(frozen=True, repr=False)
class Tuned:
    """The answer for one parameter.

    Attributes:
        axis: the parameter and its values.
        keeps: the bounds.
        goal: the figure that should be large or small; None if the recommended value is the one
            nearest to the file's.
        trials: every value that was run.
        kept: the sets of values that keep all bounds, rising.
        best: the recommended value; None if no value keeps the bounds, or none is known.
        miss: the value that misses the bounds least; None if some value keeps them.
        scenario: the scenario with the recommended value, or with the nearest miss.
        budget: packets that the runs might take.
        used: packets that they took.
        packets_per_run: mean packets of a run.
        interrupted: True if Ctrl-C ended the search.
        budget_over: True if the budget or the time was over before the search had ended.
        stored: True if the runs are stored for the next call.
    """

    axis: Axis
    keeps: tuple[Keep, ...]
    goal: Goal | None
    trials: Trials
    kept: tuple[Kept, ...]
    best: Best | None
    miss: Miss | None
    scenario: Scenario | None
    budget: float
    used: float
    packets_per_run: float
    interrupted: bool = False
    budget_over: bool = False
    stored: bool = True

    @property
    def figures(self) -> list[Figure]:
        """The figures of the bounds and of the goal, each once."""
        every = [keep.figure for keep in self.keeps]
        if self.goal is not None and not self.goal.of_parameter:
            every.append(self.goal.figure)
        return list({figure.key: figure for figure in every}.values())

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
        targets = [keep.bound for keep in self.keeps]
        return self.best is None and not self.ended and excluded(self.trials, targets)

    @property
    def ended(self) -> bool:
        """True if the search was stopped before it had ended."""
        return self.interrupted or self.budget_over

    @property
    def table(self) -> pl.DataFrame:
        """One row per value that was run, rising: each figure, with the ends of its interval."""
        from goodqueue.core.polars import pl

        rows = []
        for mark in self.trials.limits:
            row: dict[str, object] = {
                self.axis.path + self.axis.suffix: self.axis.values[mark].number,
                "replicates": len(self.trials.replicates[mark]),
                "keeps": self.verdict(mark),
            }
            for figure in self.figures:
                low, high = self.interval(mark, figure).ends
                mean = self.interval(mark, figure).mean
                row |= {figure.key: mean, f"{figure.key}_low": low, f"{figure.key}_high": high}
            rows.append(row)
        return pl.DataFrame(rows, infer_schema_length=None)

    def __repr__(self) -> str:
        return words_of(self)

    def _repr_html_(self) -> str:
        return html_of(self)

    def plot(self) -> Drawn:
        """Draws each figure over the values by pyplot, without a caption; returns the axes."""
        return axes_of(self)

    def interval(self, mark: int, figure: Figure) -> Interval:
        """Returns a figure at a value that was run, with its 95 % interval."""
        return self.trials.interval(mark, figure.key)

    def verdict(self, mark: int) -> str:
        """Returns whether a value was shown to keep all bounds: `yes`, `no`, `close`, or `open`."""
        found = self.trials.answer(mark, [keep.bound for keep in self.keeps])
        return VERDICTS[found]

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
            "keep": [
                {
                    "bound": keep.text,
                    "figure": keep.figure.key,
                    "sign": ">=" if keep.bound.at_least else "<=",
                    "value": keep.bound.bound,
                }
                for keep in self.keeps
            ],
            "goal": None
            if self.goal is None
            else {"figure": self.goal.figure.key, "most": self.goal.most},
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
            "budget": {
                "packets": self.budget,
                "used": self.used,
                "packets_per_run": self.packets_per_run,
                "over": self.budget_over,
            },
            "interrupted": self.interrupted,
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
        return {
            **self._value(mark),
            "replicates": len(self.trials.replicates[mark]),
            "keeps": self.verdict(mark),
            "figures": {one.key: _ends(self.interval(mark, one)) for one in self.figures},
        }


def _ends(interval: Interval) -> dict[str, float | None]:
    low, high = interval.ends
    return {"mean": interval.mean, "low": low, "high": high}


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
