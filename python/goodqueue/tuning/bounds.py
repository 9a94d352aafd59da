"""Bounds on figures, as `--keep` has them, and the goal of `--most` and `--least`."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.errors import RequestError
from goodqueue.sizing.search.trials import MARGIN_OF_BOUND, MIN_IDLE, Target
from goodqueue.tuning.figures import UNITS, Figure, figure_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

WRITTEN = re.compile(r"(?P<figure>[^<>=]+?)\s*(?P<sign><=|>=)\s*(?P<value>[^<>=]+)")


class Bound(Target):
    """A bound on a figure that may be a share, a rate, a time or a count.

    The margin and the miss of a utilisation that must be large are those of `Target`, by its idle
    part. All others are relative to the bound. One per cent of another figure that must be large,
    such as a goodput, counts as three per cent of a delay or a loss.
    """

    __slots__ = ()

    @property
    def margin(self) -> float:
        """Distance from the bound below which no replicates are spent on a decision."""
        if self._of_idle:
            return super().margin
        return MARGIN_OF_BOUND * abs(self.bound) / (3 if self.at_least else 1)

    def miss(self, mean: float) -> float:
        """Returns by how much a mean misses the bound: 0 on the bound, negative if it keeps it."""
        if self._of_idle or not self.at_least:
            return super().miss(mean)
        floor = 0.1 * self.bound or MIN_IDLE
        return 3 * math.log((self.bound + floor) / (max(mean, 0.0) + floor))

    @property
    def _of_idle(self) -> bool:
        return self.at_least and self.figure.endswith("utilization")


@dataclass(frozen=True, slots=True)
class Keep:
    """A bound as it was written.

    Attributes:
        text: the bound, such as `ping.p99<=60ms`.
        figure: its figure.
        bound: the bound as a target of a search.
    """

    text: str
    figure: Figure
    bound: Bound


@dataclass(frozen=True, slots=True)
class Goal:
    """A figure that should be large or small.

    Attributes:
        figure: the figure.
        most: True if it should be large, False if small.
    """

    figure: Figure
    most: bool

    @property
    def of_parameter(self) -> bool:
        """True if the figure is the parameter itself, which has no metric."""
        return not self.figure.metrics

    def gain(self, better: float, worse: float) -> float:
        """Returns by how much the first value is better than the second."""
        return better - worse if self.most else worse - better


def keep_of(text: str, names: Collection[str]) -> Keep:
    """Returns a bound of `--keep`.

    Args:
        text: the bound as written.
        names: the metrics of the scenario.

    Raises:
        RequestError: if it is no bound, or if the scenario has no such figure.
    """
    found = WRITTEN.fullmatch(text.strip())
    if found is None:
        raise RequestError(
            f"--keep {text}: write a figure, <= or >=, and a value, as in --keep 'ping.p99<=60ms'"
        )
    figure = figure_of(found["figure"].strip(), names)
    value = _value(text, found["value"].strip(), figure)
    at_least = found["sign"] == ">="
    if figure.is_share and value >= 1 and not at_least:
        raise RequestError(f"--keep {text}: a share is never above 100%, so this excludes nothing")
    if value == 0 and at_least:
        raise RequestError(f"--keep {text}: no figure is below 0, so this excludes nothing")
    return Keep(text.strip(), figure, Bound(figure.key, value, at_least))


def goal_of(text: str, names: Collection[str], columns: Mapping[str, str], *, most: bool) -> Goal:
    """Returns the goal of `--most` or `--least`: a figure, or a parameter by its path.

    Args:
        text: the figure or the path as written.
        names: the metrics of the scenario.
        columns: names of the parameters' values among figures, by path.
        most: True if it should be large.

    Raises:
        RequestError: if the scenario has no such figure.
    """
    if text in columns:
        return Goal(Figure(text, columns[text], ()), most)
    return Goal(figure_of(text, names), most)


def _value(text: str, value: str, figure: Figure) -> float:
    """Returns the value of a bound in the unit of its figure."""
    measured = _core.measure(value)
    if measured is None:
        try:
            measured = (float(value), "")
        except ValueError:
            measured = (math.nan, "")
    number, unit = measured
    if unit != figure.unit or not 0 <= number < math.inf:
        plain = "a share such as 1% or 0.01" if figure.is_share else "a plain number"
        wanted = UNITS.get(figure.unit, plain)
        raise RequestError(f"--keep {text}: {figure.name} is {figure.key}; write {wanted}")
    return number
