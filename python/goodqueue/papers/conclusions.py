"""What a paper concludes, as data: a bound on how many times one figure is another.

The two figures stand in rows that differ in one key. The bound is judged for every such pair, under
every variant, so that it is seen under which conditions it holds. It is judged by the 95 % interval
of the ratio of two means: an interval that straddles a bound decides nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from goodqueue.intervals import t_quantile
from goodqueue.papers.cells import Cell, Finding, Remark, Spread

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


DIGITS = 3
"""Of a ratio."""

FAILS = frozenset({Finding.UNREPRODUCED, Finding.CONTRADICTED, Finding.ELSEWHERE})


@dataclass(frozen=True, slots=True)
class Sample:
    """A row that conclusions speak of.

    Attributes:
        row: its keys.
        ours: our figure.
        printed: the paper's figure; None where it did not run the row or prints none.
    """

    row: Mapping[str, str]
    ours: Spread
    printed: float | None = None


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
        average: the key over whose values both figures are averaged first; "" for none.
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
    average: str = ""

    @property
    def bound(self) -> str:
        """The ratios with which it holds."""
        if math.isinf(self.most):
            return f"at least {self.least:g}"
        if math.isinf(self.least):
            return f"at most {self.most:g}"
        return f"{self.least:g} to {self.most:g}"

    def finding(self, times: Spread, printed: float | None) -> Finding:
        """The verdict on a ratio of ours.

        Args:
            times: its mean and the ends of its 95 % interval.
            printed: the ratio of the paper's own figures; None outside of what it ran.
        """
        if self.least <= times.low and times.high <= self.most:
            return Finding.HOLDS
        if times.high >= self.least and times.low <= self.most:
            return Finding.UNDECIDED
        if printed is None:
            return Finding.ELSEWHERE
        if not self.least <= printed <= self.most:
            return Finding.CONTRADICTED
        return Finding.UNREPRODUCED

    def cells(
        self, samples: Sequence[Sample], quantity: str, under: Mapping[str, str]
    ) -> Iterator[Cell]:
        """The ratio of every pair of rows, and whether it holds there.

        Args:
            samples: the rows.
            quantity: what the ratio is, in words.
            under: what else is said of the rows.
        """
        groups: dict[tuple[tuple[str, str], ...], dict[str, list[Sample]]] = {}
        for one in samples:
            if self.row.items() <= one.row.items():
                apart = {self.along, self.average}
                rest = tuple(item for item in one.row.items() if item[0] not in apart)
                groups.setdefault(rest, {}).setdefault(one.row[self.along], []).append(one)
        for rest, found in groups.items():
            if not found.keys() >= {self.of, self.over}:
                continue
            above, below = _averaged(found[self.of]), _averaged(found[self.over])
            if not below.ours.mean:
                continue
            times = ratio(above.ours, below.ours)
            printed = None
            if above.printed is not None and below.printed:
                printed = above.printed / below.printed
            finding = self.finding(times, printed)
            remark = Remark(self.because) if self.because and finding in FAILS else None
            yield Cell(
                {**under, **dict(rest)},
                quantity,
                "",
                DIGITS,
                None if printed is None else f"{printed:.{DIGITS}f}",
                times,
                remark=remark,
                finding=finding,
            )


def _averaged(samples: Sequence[Sample]) -> Sample:
    """The mean of rows, seed by seed."""
    if len(samples) == 1:
        return samples[0]
    spreads = [one.ours for one in samples]
    printed = [one.printed for one in samples if one.printed is not None]
    means = [fmean(values) for values in zip(*(one.values for one in spreads), strict=True)]
    exact = Spread.exact(fmean(one.mean for one in spreads))
    whole = fmean(printed) if len(printed) == len(samples) else None
    return Sample(samples[0].row, Spread.of_seeds(means) if means else exact, whole)


def ratio(above: Spread, below: Spread) -> Spread:
    """Returns the ratio of two means, with Student's 95 % interval of its logarithm.

    Runs of the same seed are a pair, since they share what chance draws: what counts is how far
    their shares of the two means differ. Where nothing is left to chance the ratio is exact.
    """
    mean = above.mean / below.mean
    if not above.values or not below.values or not above.mean:
        return Spread.exact(mean)
    apart = [
        one / above.mean - other / below.mean
        for one, other in zip(above.values, below.values, strict=True)
    ]
    error = stdev(apart) / math.sqrt(len(apart))
    half = t_quantile(len(apart) - 1) * error
    return Spread(mean, mean * math.exp(-half), mean * math.exp(half), mean * error)
