"""Least squares with 95 % intervals of what is fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goodqueue.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def fit(
    model: Callable[..., Array], points: Array, values: Sequence[float], start: Sequence[float]
) -> list[Interval]:
    """The parameters with the least squared relative errors, each with its interval.

    Student's, from the scatter of the logarithms about the fit, and the fit linear near its best.

    Args:
        model: the values at `points` (a row per variable), given the parameters.
        points: where the values are.
        values: above zero.
        start: parameters to begin with.
    """
    from scipy.optimize import curve_fit
    from scipy.special import stdtrit

    def logarithm(at: Array, *parameters: float) -> Array:
        return np.log(model(at, *parameters))

    best, covariance = curve_fit(logarithm, points, np.log(values), p0=start)
    quantile = float(stdtrit(len(values) - len(start), 0.975))
    half = quantile * np.sqrt(np.diag(covariance))
    return [Interval(float(mean), float(width)) for mean, width in zip(best, half, strict=True)]
