"""Intervals from independent replicates: of their mean, and of one more of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and the half width of its confidence interval, in the unit of the values.

    Attributes:
        mean: the mean.
        half_width: half the width of the interval; infinite where it has no end.
        least: the least value that the quantity can have.
        most: the largest value that the quantity can have.
    """

    mean: float
    half_width: float
    least: float = -math.inf
    most: float = math.inf

    @property
    def low(self) -> float:
        """The lower end, within the range of the quantity if the interval has an end."""
        low = self.mean - self.half_width
        return max(low, self.least) if math.isfinite(low) else low

    @property
    def high(self) -> float:
        """The upper end, within the range of the quantity if the interval has an end."""
        high = self.mean + self.half_width
        return min(high, self.most) if math.isfinite(high) else high

    @property
    def clipped(self) -> bool:
        """Returns True if an end would leave the range of the quantity, and is moved to it."""
        low, high = self.mean - self.half_width, self.mean + self.half_width
        return math.isfinite(self.half_width) and (low < self.least or high > self.most)

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """The lower and the upper end; None twice where the interval has no end."""
        return (self.low, self.high) if math.isfinite(self.half_width) else (None, None)

    def within(self, least: float, most: float) -> Interval:
        """The same interval of a quantity that has this range."""
        return replace(self, least=least, most=most)

    def text(
        self, show: Callable[[float], str], show_half: Callable[[float], str] | None = None
    ) -> str:
        """The interval as printed.

        `mean ± half width`, or `mean (low to high)` where an end is clipped, or the mean alone
        where the interval has no end. `show` formats the mean and the ends, `show_half` the half
        width, by default as `show` does.
        """
        if not math.isfinite(self.half_width):
            return show(self.mean)
        if self.clipped:
            return f"{show(self.mean)} ({show(self.low)} to {show(self.high)})"
        return f"{show(self.mean)} ± {(show_half or show)(self.half_width)}"


def t_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """Student's t interval of the mean of independent values, two-sided.

    A single value has no known spread, and so an interval without end.
    """
    if len(values) < 2:
        return Interval(fmean(values), math.inf)
    spread = _quantile(len(values), confidence) * stdev(values)
    return Interval(fmean(values), spread / math.sqrt(len(values)))


def prediction_half_width(deviation: float, count: int, confidence: float = 0.95) -> float:
    """How far from the mean of so many normal values one more lies at most, so probably.

    Student's: t s sqrt(1 + 1/n), of n >= 2 values whose standard deviation is s.
    """
    return _quantile(count, confidence) * deviation * math.sqrt(1 + 1 / count)


def t_quantile(freedom: float, confidence: float = 0.95) -> float:
    """Student's t, two-sided, for so many degrees of freedom."""
    from scipy.special import stdtrit  # a fifth of a second to import, so not before it is used

    return float(stdtrit(freedom, (1 + confidence) / 2))


def _quantile(count: int, confidence: float) -> float:
    """Student's, two-sided, of so many values."""
    return t_quantile(count - 1, confidence)
