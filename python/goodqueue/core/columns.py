"""Names and units of a table's columns for pictures."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue.core.metrics import is_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

OF_JAIN = "Jain's index of the "

Value = str | int | float | bool

_STEPS: dict[str, list[tuple[float, str]]] = {
    "s": [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")],
    "bps": [(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")],
    "bytes": [(1e6, "MB"), (1e3, "kB"), (1.0, "bytes")],
    "packets": [(1.0, "packets")],
    "ms": [(1.0, "ms")],
    "bdp": [(1.0, "BDP")],
}
"""Units in which values are drawn, the largest first, for each unit at the end of a column's name.
"""

_HIGHER_IS_BETTER = re.compile(
    "utilization|.*goodput_bps|throughput_bps|.*jain_index|jain|mos|r_factor|video_bitrate_bps"
    "|round_trips_per_minute|.*responsiveness_rpm|.*playout_buffer_s|packets_received|delivered|delivered_forward"
    "|departures|segments|.*transfers|pages|objects|exchanges"
)
"""Metrics whose larger values are better, by the last part of their names. Smaller values of all
other metrics are better: delays, losses, retransmissions, backlogs, limits, completion times.
"""

_AGGREGATES = {"sum": "total", "min": "least", "max": "largest", "mean": "mean"}
"""Names of aggregates over the flows of a group, by the last part of a column's name."""

_PLACES = {"topology", "flow", "flows", "links", "queue", "tcp"}
"""Parts of a column's name that are omitted."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column as it is drawn.

    Attributes:
        name: the column.
        label: its name in words, without its unit.
        unit: the unit in which it is drawn; may be empty.
        scale: divisor of values for this unit.
    """

    name: str
    label: str
    unit: str
    scale: float

    @property
    def title(self) -> str:
        """Label of an axis: the name with its unit."""
        return f"{self.label}, {self.unit}" if self.unit else self.label

    def text(self, value: Value) -> str:
        """Returns a value with a suitable unit."""
        if not self.unit or isinstance(value, (str, bool)):
            return self.bare(value)
        scale, unit = self.scale, self.unit
        for steps in _STEPS.values():
            if (scale, unit) in steps:
                scale, unit = _fitting(steps, abs(value)) or (scale, unit)
        return f"{value / scale:,.5g} {unit}"

    def bare(self, value: Value) -> str:
        """Returns a value without its unit, which is written elsewhere."""
        if isinstance(value, (str, bool)):
            return str(value)
        return f"{value / self.scale:,.5g}"

    @property
    def short(self) -> str:
        """The label without the name of its owner."""
        whole = self.label.removeprefix("number of ")
        if whole.startswith(OF_JAIN):
            return OF_JAIN + whole.removeprefix(OF_JAIN).partition(" of ")[0]
        return whole.partition(" of ")[0]

    @property
    def higher_is_better(self) -> bool:
        """True if larger values are better, as for goodput; False for delays and other metrics."""
        *_, figure = self.name.removesuffix(".jain").split(".")
        if figure in _AGGREGATES:
            figure = self.name.split(".")[-2]
        return _HIGHER_IS_BETTER.fullmatch(figure) is not None


def column(frame: pl.DataFrame, name: str) -> Column:
    """Returns the name of a column in words, and a unit for its values."""
    *places, last = name.split(".")
    aggregate = ""
    if len(places) > 1 and (last in _AGGREGATES or last == "jain"):
        aggregate, last = last, places.pop()
    elif places and places[-1] == "limit":
        last = f"{places.pop()}_{last}"
    values = frame[name]
    numeric = values.dtype.is_numeric()
    stem, _, ending = last.rpartition("_")
    unit, scale = "", 1.0
    if numeric and ending in _STEPS and stem:
        last, (scale, unit) = stem, _step(ending, values)
    elif numeric and is_share(name):
        unit, scale = "%", 0.01
    if aggregate == "jain":
        unit, scale = "", 1.0
    return Column(name, _label(places, last, aggregate), unit, scale)


def _label(places: list[str], last: str, aggregate: str) -> str:
    """Returns a name in words: the quantity and its owner."""
    words = last.replace("_", " ").replace("utilization", "utilisation")
    words = re.sub(r"\brtt\b", "RTT", words.replace("jain index", "Jain's index"))
    if aggregate == "jain":
        words = f"{OF_JAIN}{words}"
    elif aggregate:
        words = f"{_AGGREGATES[aggregate]} {words}"
    if places and places[-1] == "queue":
        words = f"queue {words}"
    owner = " ".join(place for place in places if place not in _PLACES).replace("_", " ")
    if places == ["flows"]:
        owner = "all flows"
    if places and places[0] == "flow" and words == "count":
        return f"number of {owner} flows"
    return f"{words} of {owner}" if owner else words


def _step(ending: str, values: pl.Series) -> tuple[float, str]:
    """Returns the largest unit in which the largest value is at least 1."""
    steps = _STEPS[ending]
    largest = values.cast(float).fill_nan(None).abs().max()
    assert largest is None or isinstance(largest, float)
    return _fitting(steps, largest or 0) or (steps[-1] if largest else steps[0])


def _fitting(steps: list[tuple[float, str]], value: float) -> tuple[float, str] | None:
    """Returns the largest unit in which a value is at least 1, if there is one."""
    return next((step for step in steps if value >= step[0]), None)


def distinct_ends(paths: Sequence[str]) -> dict[str, str]:
    """Returns the shortest end of each path that no other path has; none for equal paths."""

    def end(path: str, parts: int) -> str:
        return ".".join(path.split(".")[-parts:])

    found = {}
    for path in paths:
        for parts in range(path.count(".") + 1, 0, -1):
            if [end(other, parts) for other in paths].count(end(path, parts)) == 1:
                found[path] = end(path, parts)
    return found


def in_order(values: pl.Series) -> list[Value]:
    """Returns the distinct values: numbers by size, texts in order of first appearance."""
    distinct = values.unique(maintain_order=True).to_list()
    return sorted(distinct) if values.dtype.is_numeric() else distinct
