"""Runs of a study for a picture: parts of a table, and points with their bands."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from goodqueue.core.columns import Column, Value, column, in_order
from goodqueue.core.intervals import Interval, t_interval
from goodqueue.core.metrics import range_of
from goodqueue.study.stopping import anytime_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.study.model import PlotSpec


@dataclass(frozen=True, slots=True)
class Point:
    """The values of one metric in the runs of one variant.

    Attributes:
        values: the metric's values, by rising seed, without missing ones.
        mean: their mean.
        low: the lower end of the band.
        high: its upper end.
        interval: the 95 % interval of the mean, whatever the band.
    """

    values: tuple[float, ...]
    mean: float
    low: float
    high: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Table:
    """The runs from which a picture is drawn.

    Attributes:
        frame: one row per run that the picture shows, by seed.
        spec: description of the picture.
        axes: the study's axes.
        watched: True if a stopping rule chose the number of replicates.
    """

    frame: pl.DataFrame
    spec: PlotSpec
    axes: tuple[str, ...]
    watched: bool

    @classmethod
    def from_runs(
        cls, frame: pl.DataFrame, spec: PlotSpec, axes: Sequence[str], *, watched: bool
    ) -> Table:
        """Returns the runs that a picture shows: those with the values that its `where` names."""
        ordered = frame.sort("seed", maintain_order=True)
        for axis, values in spec.where.items():
            known = pl.Series(values, dtype=frame[axis].dtype, strict=False)
            ordered = ordered.filter(pl.col(axis).is_in(known.implode()))
        return cls(ordered, spec, tuple(axes), watched)

    def column(self, name: str) -> Column:
        """Returns a column in words and in its unit."""
        return column(self.frame, name)

    def values(self, axis: str) -> list[Value]:
        """Returns an axis's values in their order."""
        return in_order(self.frame[axis])

    def part(self, axis: str, value: Value) -> Table:
        """Returns the rows with one value of an axis."""
        rows = self.frame.filter(self.frame[axis] == value)
        return Table(rows, self.spec, self.axes, self.watched)

    def sample(self, metric: str) -> list[float]:
        """Returns every run's value of a metric, without missing ones."""
        present = self.frame[metric].cast(float).fill_nan(None).drop_nulls()
        return [float(value) for value in present]

    def point(self, metric: str) -> Point | None:
        """Returns all rows as one point; None if no run has the metric."""
        values = self.sample(metric)
        if not values:
            return None
        interval = anytime_interval(values) if self.watched else t_interval(values)
        interval = interval.within(*range_of(metric))
        low = high = interval.mean
        if self.spec.band == "interval" and math.isfinite(interval.half_width):
            low, high = interval.low, interval.high
        elif self.spec.band == "range":
            low, high = min(values), max(values)
        return Point(tuple(values), interval.mean, low, high, interval)

    def points(self, axis: str, metric: str) -> list[tuple[Value, Point]]:
        """Returns one point for each value of an axis that has any."""
        found = [(value, self.part(axis, value).point(metric)) for value in self.values(axis)]
        return [(value, point) for value, point in found if point is not None]

    def series(self) -> list[tuple[Value | None, Table]]:
        """Returns the parts of a panel that have their own lines."""
        axis = self.spec.series
        if axis is None or self.spec.kind == "heatmap":
            return [(None, self)]
        return [(value, self.part(axis, value)) for value in self.values(axis)]
