"""Intervals from independent replicates: of their mean, and of one more of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and the half width of its confidence interval, in the unit of the values."""

    mean: float
    half_width: float

    @property
    def low(self) -> float:
        """The lower end."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """The upper end."""
        return self.mean + self.half_width

    def text(self, mean: str, half_width: str) -> str:
        """Both as printed, `mean ± half_width`; the mean alone where the interval has no end."""
        return f"{mean} ± {half_width}" if math.isfinite(self.half_width) else mean


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
