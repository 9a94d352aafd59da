"""Figures of a table that are computed from the metrics of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Figures = Mapping[str, float]
"""Metrics of a run, by name."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A figure computed from the metrics of a run.

    Attributes:
        label: name of the figure.
        unit: unit of the figure.
        digits: number of decimals to print.
        sum: metrics whose values are added up; a metric without a value counts as 0.
        per: metrics whose sum is the divisor; empty for none.
        scale: factor from the unit of the metrics to `unit`.
        less: constant that is subtracted from the sum, in its unit.
    """

    label: str
    unit: str
    digits: int
    sum: tuple[str, ...]
    per: tuple[str, ...] = ()
    scale: float = 1.0
    less: float = 0.0

    @classmethod
    def read(cls, entry: Mapping[str, Any]) -> Quantity:
        """Reads a quantity from a `[[column]]`."""
        return cls(
            entry["label"],
            entry["unit"],
            entry["digits"],
            tuple(entry["sum"]),
            tuple(entry.get("per", ())),
            entry.get("scale", 1.0),
            entry.get("less", 0.0),
        )

    @property
    def most(self) -> float:
        """Largest value that the figure can have: 100 for a share in percent."""
        return 100.0 if self.unit == "%" else math.inf

    def figure(self, figures: Figures) -> float:
        """Returns the figure of one run; NaN if its divisor is 0."""
        value = self.scale * (_total(self.sum, figures) - self.less)
        if not self.per:
            return value
        below = _total(self.per, figures)
        return value / below if below else math.nan


def _total(metrics: Sequence[str], figures: Figures) -> float:
    values = [figures[name] for name in metrics]
    return sum(0.0 if math.isnan(value) else value for value in values)
