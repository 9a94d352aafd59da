"""Confidence intervals of a mean, from independent replicates."""

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


def t_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """Student's t interval of the mean of independent values, two-sided.

    A single value has no known spread, and so an interval without end.
    """
    if len(values) < 2:
        return Interval(fmean(values), math.inf)
    from scipy.special import stdtrit  # a fifth of a second to import, so not before it is used

    quantile = float(stdtrit(len(values) - 1, (1 + confidence) / 2))
    return Interval(fmean(values), quantile * stdev(values) / math.sqrt(len(values)))
