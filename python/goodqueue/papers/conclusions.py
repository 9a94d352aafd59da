"""What a paper concludes, as data: a bound on how many times one figure is another.

The two figures stand in rows that differ in one key. It is judged for every such pair, under
every variant, so that it is seen under which conditions it holds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goodqueue.papers.cells import Cell, Remark, Spread

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


DIGITS = 3
"""Of a ratio."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """A `[[conclusion]]`.

    Attributes:
        says: what the paper says, in a few words.
        column: whose figures it speaks of.
        along: the key that differs.
        of: its value in the row of the first figure.
        over: its value in the row of the second, by which the first is divided.
        least: the least ratio with which it holds.
        most: the largest.
        row: values of keys that it is restricted to.
        because: what is known where it does not hold.
    """

    says: str
    column: str
    along: str
    of: str
    over: str
    least: float = -math.inf
    most: float = math.inf
    row: Mapping[str, str] = field(default_factory=dict)
    because: str = ""

    @property
    def bound(self) -> str:
        """The ratios with which it holds."""
        if math.isinf(self.most):
            return f"at least {self.least:g}"
        if math.isinf(self.least):
            return f"at most {self.most:g}"
        return f"{self.least:g} to {self.most:g}"

    def cells(
        self,
        rows: Sequence[Mapping[str, str]],
        ours: Sequence[Spread],
        quantity: str,
        under: Mapping[str, str],
    ) -> Iterator[Cell]:
        """The ratio of every pair of rows, and whether it holds there.

        Args:
            rows: the keys of each row.
            ours: its figure.
            quantity: what the ratio is, in words.
            under: what else is said of the rows.
        """
        groups: dict[tuple[tuple[str, str], ...], dict[str, Spread]] = {}
        for row, spread in zip(rows, ours, strict=True):
            if self.row.items() <= row.items():
                rest = tuple(item for item in row.items() if item[0] != self.along)
                groups.setdefault(rest, {})[row[self.along]] = spread
        for rest, found in groups.items():
            if found.keys() >= {self.of, self.over} and found[self.over].mean:
                times = ratio(found[self.of], found[self.over])
                holds = self.least <= times.mean <= self.most
                row = {**dict(rest), **under}
                remark = Remark(self.because) if self.because and not holds else None
                yield Cell(row, quantity, "", DIGITS, None, times, holds, remark=remark)


def ratio(above: Spread, below: Spread) -> Spread:
    """Of two figures, as if they were independent: common seeds make it no wider."""
    mean = above.mean / below.mean
    if mean == 0:
        return Spread.exact(0.0)
    down = math.hypot(1 - above.low / above.mean, below.high / below.mean - 1)
    up = math.hypot(above.high / above.mean - 1, 1 - below.low / below.mean)
    return Spread(mean, max(mean * (1 - down), 0.0), mean * (1 + up))
