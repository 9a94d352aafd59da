"""Least-squares fits with 95 % intervals of the fitted parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goodqueue.core.intervals import Interval, t_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def fit(
    model: Callable[..., Array], points: Array, values: Sequence[float], start: Sequence[float]
) -> list[Interval]:
    """Returns the parameters with the least squared relative errors, each with its interval.

    The intervals are Student's, from the scatter of the logarithms about the fit; the model is
    taken as linear near the best fit.

    Args:
        model: function that returns the values at `points` for given parameters.
        points: positions of the values, one row per variable.
        values: the values to fit, all above zero.
        start: initial parameters.
    """
    from scipy.optimize import curve_fit

    def logarithm(at: Array, *parameters: float) -> Array:
        return np.log(model(at, *parameters))

    best, covariance = curve_fit(logarithm, points, np.log(values), p0=start)
    half = t_quantile(len(values) - len(start)) * np.sqrt(np.diag(covariance))
    return [Interval(float(mean), float(width)) for mean, width in zip(best, half, strict=True)]
