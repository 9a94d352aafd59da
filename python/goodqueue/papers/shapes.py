"""Named tests of the shape of a row of figures: what a picture shows without its numbers.

Each takes the figures in ascending order of the axis, that axis, and the parameters in the data,
and says whether the shape holds. They are applied to our means and to the published figures alike.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Test = Callable[..., bool]


def rises(values: Sequence[float], _axis: Sequence[float], slack: float = 0.0) -> bool:
    """No figure is below the one before by more than the slack, a share; and the last is above."""
    return values[-1] > values[0] and all(
        after >= before - slack * abs(before) for before, after in pairwise(values)
    )


def falls(values: Sequence[float], axis: Sequence[float], slack: float = 0.0) -> bool:
    """The mirror of `rises`."""
    return rises([-value for value in values], axis, slack)


def flat(values: Sequence[float], _axis: Sequence[float], within: float) -> bool:
    """Largest and smallest are within that share of the largest."""
    return max(values) - min(values) <= within * abs(max(values))


def saturates(values: Sequence[float], axis: Sequence[float], at: float, within: float) -> bool:
    """From `at` on all are within that share of the last, and before it none is."""
    last = values[-1]
    return all(
        (abs(value - last) <= within * abs(last)) == (where >= at)
        for value, where in zip(values, axis, strict=True)
    )


def grows_by(values: Sequence[float], _axis: Sequence[float], least: float, most: float) -> bool:
    """The last is so many times the first."""
    return least <= values[-1] / values[0] <= most


def stays_below(values: Sequence[float], _axis: Sequence[float], most: float) -> bool:
    """All are at most that."""
    return max(values) <= most


def stays_above(values: Sequence[float], _axis: Sequence[float], least: float) -> bool:
    """All are at least that."""
    return min(values) >= least


def collapses(values: Sequence[float], axis: Sequence[float], after: float, to: float) -> bool:
    """Up to `after` all are above that share of the first; beyond it they fall below it."""
    return all(
        (value > to * values[0]) == (where <= after)
        for value, where in zip(values, axis, strict=True)
    )


def zero_until(values: Sequence[float], axis: Sequence[float], last: float) -> bool:
    """Nothing up to there, and something from there on."""
    return all((value > 0) == (where > last) for value, where in zip(values, axis, strict=True))


def knee(
    values: Sequence[float], axis: Sequence[float], at: float, below: float, above: float
) -> bool:
    """Before that place all are at most `below`, from it on all are at least `above`."""
    return all(
        value >= above if where >= at else value <= below
        for value, where in zip(values, axis, strict=True)
    )


def peaks(values: Sequence[float], axis: Sequence[float], at: float, slack: float = 0.0) -> bool:
    """The largest, or one within that share of it, is at that place of the axis."""
    there = dict(zip(axis, values, strict=True))[at]
    return there >= max(values) * (1 - slack)


def dips(values: Sequence[float], axis: Sequence[float], at: float, slack: float = 0.0) -> bool:
    """The smallest, or one within that share of it, is at that place of the axis."""
    there = dict(zip(axis, values, strict=True))[at]
    return there <= min(values) * (1 + slack)


TESTS: dict[str, Test] = {
    test.__name__: test
    for test in (
        rises,
        falls,
        flat,
        saturates,
        grows_by,
        stays_below,
        stays_above,
        collapses,
        zero_until,
        knee,
        peaks,
        dips,
    )
}
"""By the names that data use."""
