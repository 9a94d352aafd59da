"""Intervals from independent replicates: for their mean, and for one further replicate."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from goodqueue import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and the half width of its confidence interval, in the unit of the values.

    Attributes:
        mean: the mean.
        half_width: half the width of the interval; infinite if the spread is unknown.
        least: smallest value that the quantity can have.
        most: largest value that the quantity can have.
    """

    mean: float
    half_width: float
    least: float = -math.inf
    most: float = math.inf

    @property
    def low(self) -> float:
        """The lower end; a finite end is kept within the range of the quantity."""
        low = self.mean - self.half_width
        return max(low, self.least) if math.isfinite(low) else low

    @property
    def high(self) -> float:
        """The upper end; a finite end is kept within the range of the quantity."""
        high = self.mean + self.half_width
        return min(high, self.most) if math.isfinite(high) else high

    @property
    def clipped(self) -> bool:
        """True if an end was moved to the limit of the quantity's range."""
        low, high = self.mean - self.half_width, self.mean + self.half_width
        return math.isfinite(self.half_width) and (low < self.least or high > self.most)

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """The lower and the upper end; both None if the interval is infinite."""
        return (self.low, self.high) if math.isfinite(self.half_width) else (None, None)

    def within(self, least: float, most: float) -> Interval:
        """Returns the same interval for a quantity with this range."""
        return replace(self, least=least, most=most)

    def text(
        self, show: Callable[[float], str], show_half: Callable[[float], str] | None = None
    ) -> str:
        """Formats the interval.

        The text is `mean ± half width`, or `mean (low to high)` if an end is clipped, or the mean
        alone if the interval is infinite. `show` formats the mean and the ends, `show_half` the
        half width; it defaults to `show`.
        """
        if not math.isfinite(self.half_width):
            return show(self.mean)
        if self.clipped:
            return f"{show(self.mean)} ({show(self.low)} to {show(self.high)})"
        return f"{show(self.mean)} ± {(show_half or show)(self.half_width)}"


def t_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """Returns Student's two-sided t interval of the mean of independent values.

    The interval of a single value is infinite, because its spread is unknown.
    """
    if len(values) < 2:
        return Interval(fmean(values), math.inf)
    spread = t_quantile(len(values) - 1, confidence) * stdev(values)
    return Interval(fmean(values), spread / math.sqrt(len(values)))


def prediction_half_width(deviation: float, count: int, confidence: float = 0.95) -> float:
    """Returns the half width of Student's prediction interval for one further normal value.

    It is t s sqrt(1 + 1/n), from n >= 2 values with standard deviation s.
    """
    return t_quantile(count - 1, confidence) * deviation * math.sqrt(1 + 1 / count)


def t_quantile(freedom: float, confidence: float = 0.95) -> float:
    """Returns the two-sided quantile of Student's t distribution, by degrees of freedom."""
    return _core.t_quantile(freedom, (1 + confidence) / 2)
