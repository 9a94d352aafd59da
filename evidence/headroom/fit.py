"""Headroom tables of switches by one formula, whose constants come from two speeds and two cables.

The formula of `goodqueue.sizing.lossless.headroom` for a table, in bytes of memory:

    xoff = b + w (2 L C / v + r(C)) + w C t

b: frames, which take no more bytes at a higher rate. w: memory of a byte on the line. L, C, v:
length of the cable, line rate, speed of light in glass. r: bytes during the sender's reaction. t:
all delays that are constant times. The reaction has one of two laws: the quanta of IEEE 802.3, or a
constant time, which is then a part of t. If one law fits the rows clearly better, it is taken. Two
speeds often fit both, because b and t adapt; then the law of 802.3 is taken if it leaves no more to
t than MAC and PHY may take.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import nnls

from goodqueue.sizing.lossless.headroom import PAUSE_QUANTA, PER_METRE_S, QUANTUM_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PUBLISHED = Path(__file__).parent / "published" / "sonic.csv"

NEAREST_M = 300
"""Cables of a device's own constants are at most so long, if it has two of them. Rows of longer
cables were added to few tables, and some are less than the cable holds."""

CLEARLY = 0.01
"""A law fits clearly better if its error is so much smaller."""

INTERFACE_S = 500e-9
"""Delay of MAC and PHY that `goodqueue headroom` assumes."""

MARGIN = 0.05
"""A prediction agrees with a row if it differs by at most this share of it."""

LAWS = ("802.3", "constant")
"""Laws of the sender's reaction."""


@dataclass(frozen=True)
class Row:
    """A row of a table: headroom in bytes for a line rate in bit/s and a cable in metres."""

    vendor: str
    platform: str
    sku: str
    speed: int
    cable: int
    xoff: int

    @property
    def device(self) -> tuple[str, str, str]:
        """The switch that has the table."""
        return (self.vendor, self.platform, self.sku)

    @property
    def on_cable(self) -> float:
        """Bytes that the cable holds both ways."""
        return float(2 * self.cable * PER_METRE_S * self.speed / 8)

    @property
    def reaction(self) -> int:
        """Bytes during the reaction time of 802.3."""
        return PAUSE_QUANTA[self.speed] * QUANTUM_BYTES


@dataclass(frozen=True)
class Constants:
    """Constants of a table.

    Attributes:
        law: law of the reaction.
        fixed: b, in bytes.
        memory: w, bytes of memory for a byte on the line.
        delayed_s: w t, in seconds.
        error: root of the mean square of the relative errors of the fitted rows.
    """

    law: str
    fixed: float
    memory: float
    delayed_s: float
    error: float

    def parts(self, row: Row) -> tuple[float, float, float]:
        """Returns bytes of frames, of the reaction with constant delays, and of the cable."""
        reaction = row.reaction if self.law == "802.3" else 0
        timed = self.memory * reaction + self.delayed_s * row.speed / 8
        return self.fixed, timed, self.memory * row.on_cable

    def predicted(self, row: Row) -> float:
        """Returns the headroom."""
        return sum(self.parts(row))

    def agrees(self, row: Row) -> bool:
        """Returns True if the prediction is within the margin."""
        return abs(self.predicted(row) - row.xoff) <= MARGIN * row.xoff


def rows() -> list[Row]:
    """Returns the published rows."""
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        return [
            Row(
                one["vendor"],
                one["platform"],
                one["sku"],
                int(one["speed_mbps"]) * 10**6,
                int(one["cable"].removesuffix("m")),
                int(one["xoff_bytes"]),
            )
            for one in csv.DictReader(file)
        ]


def most_common(values: Iterable[int]) -> set[int]:
    """Returns the two values that occur most; the larger one of equally frequent ones."""
    counts = Counter(values)
    return set(sorted(counts, key=lambda value: (counts[value], value))[-2:])


def of_vendor(some: Sequence[Row]) -> list[Row]:
    """Returns the rows of the two most frequent speeds and cables of a vendor."""
    return _at(some, *(most_common(values) for values in _axes(some)))


def of_device(some: Sequence[Row]) -> list[Row]:
    """Returns the rows of the lowest and highest speed, and the shortest and longest near cable."""
    speeds, cables = (set(values) for values in _axes(some))
    near = {cable for cable in cables if cable <= NEAREST_M}
    if len(near) > 1:
        cables = near
    return _at(some, {min(speeds), max(speeds)}, {min(cables), max(cables)})


def _axes(some: Sequence[Row]) -> tuple[list[int], list[int]]:
    return [row.speed for row in some], [row.cable for row in some]


def _at(some: Sequence[Row], speeds: set[int], cables: set[int]) -> list[Row]:
    return [row for row in some if row.speed in speeds and row.cable in cables]


def fit(some: Sequence[Row], law: str) -> Constants:
    """Fits the constants of a law by least squares of the relative errors; none is negative."""
    of_memory = [row.on_cable + (row.reaction if law == "802.3" else 0) for row in some]
    terms = np.array([[1.0, one, row.speed / 8] for row, one in zip(some, of_memory, strict=True)])
    published = np.array([float(row.xoff) for row in some])
    scale = np.abs(terms).max(axis=0)
    found, residual = nnls(terms / scale / published[:, None], np.ones(len(some)))
    fixed, memory, delayed = (float(value) for value in found / scale)
    return Constants(law, fixed, memory, delayed, float(residual) / math.sqrt(len(some)))


def best(some: Sequence[Row]) -> Constants:
    """Returns the constants of the law that these rows suggest."""
    standard, constant = (fit(some, law) for law in LAWS)
    if abs(standard.error - constant.error) > CLEARLY:
        return min(standard, constant, key=lambda one: one.error)
    plausible = standard.delayed_s <= INTERFACE_S * max(standard.memory, 1.0)
    return standard if plausible else constant


def impossible(row: Row) -> bool:
    """Returns True if the row is less than what the cable alone holds."""
    return row.xoff < row.on_cable
