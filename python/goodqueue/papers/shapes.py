"""Named tests of the shape of a row of figures, for pictures that print no numbers.

Each test takes the figures in ascending order of the axis, the positions on that axis, and its
parameters from the data. It returns True if the figures have the shape. The tests are applied both
to our means and to the published figures.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Test = Callable[..., bool]


def rises(values: Sequence[float], _axis: Sequence[float], slack: float = 0.0) -> bool:
    """Returns True if the last figure exceeds the first, and no step falls by more than the slack.

    The slack is a share of the figure before the step.
    """
    return values[-1] > values[0] and all(
        after >= before - slack * abs(before) for before, after in pairwise(values)
    )


def falls(values: Sequence[float], axis: Sequence[float], slack: float = 0.0) -> bool:
    """Returns True if the figures fall: the mirror image of `rises`."""
    return rises([-value for value in values], axis, slack)


def flat(values: Sequence[float], _axis: Sequence[float], within: float) -> bool:
    """Returns True if the figures differ by at most the share `within` of the largest."""
    return max(values) - min(values) <= within * abs(max(values))


def saturates(values: Sequence[float], axis: Sequence[float], at: float, within: float) -> bool:
    """Returns True if the figures from `at` on are near the last figure, and the others are not.

    A figure is near the last one if they differ by at most the share `within` of the last one.
    """
    last = values[-1]
    return all(
        (abs(value - last) <= within * abs(last)) == (where >= at)
        for value, where in zip(values, axis, strict=True)
    )


def grows_by(values: Sequence[float], _axis: Sequence[float], least: float, most: float) -> bool:
    """Returns True if the ratio of the last figure to the first lies between `least` and `most`."""
    return least <= values[-1] / values[0] <= most


def stays_below(values: Sequence[float], _axis: Sequence[float], most: float) -> bool:
    """Returns True if no figure exceeds `most`."""
    return max(values) <= most


def stays_above(values: Sequence[float], _axis: Sequence[float], least: float) -> bool:
    """Returns True if no figure is less than `least`."""
    return min(values) >= least


def reaches_axis(values: Sequence[float], axis: Sequence[float]) -> bool:
    """Returns True if every figure is its position on the axis, such as a queue its buffer."""
    return all(value == where for value, where in zip(values, axis, strict=True))


def collapses(values: Sequence[float], axis: Sequence[float], after: float, to: float) -> bool:
    """Returns True if figures up to `after` exceed `to` times the first, and no later one does."""
    return all(
        (value > to * values[0]) == (where <= after)
        for value, where in zip(values, axis, strict=True)
    )


def zero_until(values: Sequence[float], axis: Sequence[float], last: float) -> bool:
    """Returns True if the figures are 0 up to `last` on the axis, and positive beyond it."""
    return all((value > 0) == (where > last) for value, where in zip(values, axis, strict=True))


def knee(
    values: Sequence[float], axis: Sequence[float], at: float, below: float, above: float
) -> bool:
    """Returns True if figures before `at` are at most `below`, and the others at least `above`."""
    return all(
        value >= above if where >= at else value <= below
        for value, where in zip(values, axis, strict=True)
    )


def peaks(values: Sequence[float], axis: Sequence[float], at: float, slack: float = 0.0) -> bool:
    """Returns True if the figure at `at` is the largest, or within `slack` (a share) of it."""
    there = dict(zip(axis, values, strict=True))[at]
    return there >= max(values) * (1 - slack)


def dips(values: Sequence[float], axis: Sequence[float], at: float, slack: float = 0.0) -> bool:
    """Returns True if the figure at `at` is the smallest, or within `slack` (a share) of it."""
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
        reaches_axis,
        collapses,
        zero_until,
        knee,
        peaks,
        dips,
    )
}
"""Tests by the names that the data use."""
