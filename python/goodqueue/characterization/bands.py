"""Bands of figures: bounds that a published source gives, and the side on which a figure is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from goodqueue.core.intervals import t_interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodqueue.study.compare import Sample

Standing = Literal["inside", "outside", "not shown"]
"""`inside`: the mean is in the band. `outside`: the whole 95 % interval is on one side of the band,
or no seed has the figure. `not shown`: the mean is outside, and the interval reaches the band."""

STANDINGS: tuple[Standing, ...] = ("inside", "outside", "not shown")


@dataclass(frozen=True, slots=True)
class Band:
    """Bounds of a figure.

    Attributes:
        metric: the figure, as in the measures of its section.
        least: the least value; minus infinity without one.
        most: the largest value; infinity without one.
        source: the section, draft or paper from which the bounds follow, and how.
        cases: names of the cases that have the band; all if there are none.
    """

    metric: str
    least: float
    most: float
    source: str
    cases: tuple[str, ...] = ()

    def holds_in(self, case: str) -> bool:
        """Returns True if a case has the band."""
        return not self.cases or case in self.cases

    @property
    def is_ratio(self) -> bool:
        """True if the figure is the ratio of two metrics."""
        return " / " in self.metric

    def standing(self, found: Sample | None) -> Standing:
        """Returns the side on which a figure is.

        Mean and interval of a ratio are those of its logarithms, so that a ratio of 10 is as far
        from 1 as a tenth.
        """
        if found is None:
            return "outside"
        least, most, interval = self.least, self.most, found.interval
        if self.is_ratio and all(value > 0 for value in found.values):
            least, most = (math.log(bound) if bound > 0 else -math.inf for bound in (least, most))
            interval = t_interval([math.log(value) for value in found.values])
        if least <= interval.mean <= most:
            return "inside"
        beyond = interval.high < least or interval.low > most
        return "outside" if beyond else "not shown"


def band_of(table: Mapping[str, Any]) -> Band:
    """Returns a band from its table in the file of a section."""
    bounds = {"least": -math.inf, "most": math.inf} | {
        key: float(table[key]) for key in ("least", "most") if key in table
    }
    cases = tuple(table.get("cases", ()))
    return Band(table["metric"], source=table["source"], cases=cases, **bounds)
