"""The ellipse that describes points of delay and goodput (RFC 7928 section 2.7)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class GaussianEllipse:
    """The contour of one standard deviation of a Gaussian distribution in the plane.

    Attributes:
        x: mean of the first coordinate.
        y: mean of the second coordinate.
        variance_x: variance of the first coordinate.
        variance_y: variance of the second coordinate.
        covariance: covariance of both.
    """

    x: float
    y: float
    variance_x: float
    variance_y: float
    covariance: float

    def contour(self, points: int = 73) -> tuple[list[float], list[float]]:
        """Returns the coordinates of points on the contour, by the Cholesky factor."""
        a = math.sqrt(self.variance_x)
        b = self.covariance / a if a > 0 else 0.0
        c = math.sqrt(max(self.variance_y - b * b, 0.0))
        angles = [2 * math.pi * place / (points - 1) for place in range(points)]
        return (
            [self.x + a * math.cos(angle) for angle in angles],
            [self.y + b * math.cos(angle) + c * math.sin(angle) for angle in angles],
        )


def most_likely(xs: Sequence[float], ys: Sequence[float]) -> GaussianEllipse:
    """Returns the ellipse of the Gaussian distribution under which points are most likely.

    It is the figure of Winstein and Balakrishnan (SIGCOMM 2013), which RFC 7928 proposes. The
    maximum-likelihood estimates divide by the number of points, and not by one less.
    """
    count = len(xs)
    x, y = math.fsum(xs) / count, math.fsum(ys) / count
    pairs = list(zip(xs, ys, strict=True))
    return GaussianEllipse(
        x=x,
        y=y,
        variance_x=math.fsum((one - x) ** 2 for one in xs) / count,
        variance_y=math.fsum((one - y) ** 2 for one in ys) / count,
        covariance=math.fsum((one - x) * (other - y) for one, other in pairs) / count,
    )
