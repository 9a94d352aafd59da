"""Parts that the answers for one parameter and for several have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodqueue.core.shown import axes_of, html_of, words_of
from goodqueue.sizing.search.sets import excluded
from goodqueue.sizing.search.trials import Answered

if TYPE_CHECKING:
    from goodqueue._core import Scenario
    from goodqueue.core.intervals import Interval
    from goodqueue.core.shown import Drawn
    from goodqueue.sizing.search.trials import Trials
    from goodqueue.tuning.bounds import Goal, Keep
    from goodqueue.tuning.figures import Figure
    from goodqueue.tuning.shown import Miss

VERDICTS = {
    Answered.MEETS: "yes",
    Answered.FAILS: "no",
    Answered.CLOSE: "close",
    Answered.OPEN: "open",
}
"""Verdicts on a value: `close` is too close to a bound to be recommended, `open` not decided."""


@dataclass(frozen=True, repr=False, kw_only=True)
class Searched:
    """The runs of a search, and what they show of the bounds.

    Attributes:
        keeps: the bounds.
        goal: the figure that should be large or small; None if the recommended value is the one
            nearest to the file's.
        trials: every value that was run.
        miss: the value that misses the bounds least; None if some value keeps them.
        scenario: the scenario with the recommended value, or with the nearest miss.
        budget: packets that the runs might take.
        used: packets that they took.
        packets_per_run: mean packets of a run.
        interrupted: True if Ctrl-C ended the search.
        budget_over: True if the budget or the time was over before the search had ended.
        stored: True if the runs are stored for the next call.
    """

    keeps: tuple[Keep, ...]
    goal: Goal | None
    trials: Trials
    miss: Miss | None
    budget: float
    used: float
    packets_per_run: float
    scenario: Scenario | None = None
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
    def ended(self) -> bool:
        """True if the search was stopped before it had ended."""
        return self.interrupted or self.budget_over

    @property
    def all_excluded(self) -> bool:
        """True if every value that was tried was shown to break a bound, and the search ended."""
        return not self.ended and excluded(self.trials, [keep.bound for keep in self.keeps])

    def __repr__(self) -> str:
        return words_of(self)

    def _repr_html_(self) -> str:
        return html_of(self)

    def plot(self) -> Drawn:
        """Draws the answer by pyplot, without a caption; returns the axes."""
        return axes_of(self)

    def interval(self, mark: int, figure: Figure) -> Interval:
        """Returns a figure at a value that was run, with its 95 % interval."""
        return self.trials.interval(mark, figure.key)

    def verdict(self, mark: int) -> str:
        """Returns whether a value was shown to keep all bounds: `yes`, `no`, `close`, or `open`."""
        found = self.trials.answer(mark, [keep.bound for keep in self.keeps])
        return VERDICTS[found]

    def columns_of(self, mark: int) -> dict[str, object]:
        """Returns the row of a value that was run in a frame, without the value itself."""
        row: dict[str, object] = {
            "replicates": len(self.trials.replicates[mark]),
            "keeps": self.verdict(mark),
        }
        for figure in self.figures:
            interval = self.interval(mark, figure)
            row[figure.key] = interval.mean
            row |= dict(
                zip((f"{figure.key}_low", f"{figure.key}_high"), interval.ends, strict=True)
            )
        return row

    def row(self, mark: int) -> dict[str, Any]:
        """Returns a value that was run as plain data, without the value itself."""
        return {
            "replicates": len(self.trials.replicates[mark]),
            "keeps": self.verdict(mark),
            "figures": {one.key: ends(self.interval(mark, one)) for one in self.figures},
        }

    def asked(self) -> dict[str, Any]:
        """Returns the bounds and the goal as plain data."""
        goal = self.goal
        return {
            "keep": [
                {
                    "bound": keep.text,
                    "figure": keep.figure.key,
                    "sign": ">=" if keep.bound.at_least else "<=",
                    "value": keep.bound.bound,
                }
                for keep in self.keeps
            ],
            "goal": None if goal is None else {"figure": goal.figure.key, "most": goal.most},
        }

    def cost(self) -> dict[str, Any]:
        """Returns what the search took as plain data."""
        return {
            "budget": {
                "packets": self.budget,
                "used": self.used,
                "packets_per_run": self.packets_per_run,
                "over": self.budget_over,
            },
            "interrupted": self.interrupted,
        }


def ends(interval: Interval) -> dict[str, float | None]:
    """Returns an interval as plain data."""
    low, high = interval.ends
    return {"mean": interval.mean, "low": low, "high": high}
