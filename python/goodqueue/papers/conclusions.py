"""Conclusions of a paper, as data: each bounds the ratio of two figures.

The two figures are in rows that differ in one key. The bound is judged for every such pair of rows
under every variant, which shows the conditions under which it holds. The 95 % interval of the ratio
of the two means decides. If an end of the bound lies within the interval, the conclusion is
undecided.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from goodqueue.core.intervals import t_quantile
from goodqueue.papers.cells import Cell, Finding, Remark, Spread

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


DIGITS = 3
"""Number of decimals of a ratio."""

FAILS = frozenset({Finding.UNREPRODUCED, Finding.CONTRADICTED, Finding.ELSEWHERE})


@dataclass(frozen=True, slots=True)
class Sample:
    """One row to which conclusions refer.

    Attributes:
        row: values of its keys.
        ours: our figure.
        printed: the paper's figure; None if the paper did not run the row or prints no figure.
    """

    row: Mapping[str, str]
    ours: Spread
    printed: float | None = None


@dataclass(frozen=True, slots=True)
class Conclusion:
    """One `[[conclusion]]` of a paper's data.

    Attributes:
        says: the paper's words, shortened.
        column: column of the figures that are compared.
        along: the key in which the two rows differ.
        of: value of that key in the row of the dividend.
        over: value of that key in the row of the divisor.
        least: smallest ratio for which the conclusion holds.
        most: largest ratio for which the conclusion holds.
        row: values of other keys to which the conclusion is restricted.
        because: explanation that is printed where the conclusion does not hold.
        average: key over whose values both figures are averaged first; "" for none.
        stated: True if the paper claims it for rows of which it prints no figures.
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
    stated: bool = False

    @property
    def bound(self) -> str:
        """The ratios for which the conclusion holds, in words."""
        if math.isinf(self.most):
            return f"at least {self.least:g}"
        if math.isinf(self.least):
            return f"at most {self.most:g}"
        return f"{self.least:g} to {self.most:g}"

    def finding(self, times: Spread, printed: float | None) -> Finding:
        """Returns the verdict on one of our ratios.

        Args:
            times: mean of the ratio, and the ends of its 95 % interval.
            printed: ratio of the paper's own figures; None if the paper did not run these rows.
        """
        if self.least <= times.low and times.high <= self.most:
            return Finding.HOLDS
        if times.high >= self.least and times.low <= self.most:
            return Finding.UNDECIDED
        if printed is None:
            return Finding.UNREPRODUCED if self.stated else Finding.ELSEWHERE
        if not self.least <= printed <= self.most:
            return Finding.CONTRADICTED
        return Finding.UNREPRODUCED

    def cells(
        self, samples: Sequence[Sample], quantity: str, under: Mapping[str, str]
    ) -> Iterator[Cell]:
        """Yields the ratio of every pair of rows with its verdict.

        Args:
            samples: the rows.
            quantity: description of the ratio, in words.
            under: further keys of the cells, such as the variant.
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
    """Returns the mean of several rows, taken seed by seed."""
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

    Runs with the same seed form a pair, because they share their random numbers. The standard error
    is therefore that of the difference, seed by seed, between the values as shares of their means.
    If neither figure depends on chance, the ratio is exact.
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
