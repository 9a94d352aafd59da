"""Claims about curves in the paper's text, as recorded in `stated.toml`, and their verdicts.

A claim is a bound on the values of a curve, or on values derived from them. The 95 % interval of
our mean decides. The claim holds if the interval lies within the bound. It is not reproduced if the
interval lies outside. It is undecided if an end of the bound lies within the interval. A difference
of two simulated values is taken seed by seed, because both have the same seeds. If both values come
from the same runs, they cannot differ, and nothing is judged. A value that was computed and not
simulated has no interval and is never undecided.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from goodqueue.core.intervals import Interval, t_interval
from goodqueue.papers.cells import Finding
from goodqueue.papers.findings import finding

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Sample(Interval):
    """The mean of values under common seeds, with its 95 % interval.

    Attributes:
        values: value under each seed, from seed 1 on.
    """

    values: tuple[float, ...] = ()

    @classmethod
    def of(cls, values: Sequence[float]) -> Sample:
        """Returns the mean and the 95 % interval of one value per seed."""
        mean = t_interval(values)
        return cls(mean.mean, mean.half_width, values=tuple(values))


Points = Mapping[int, Interval]
"""A value with its 95 % interval, for each number of flows."""

FLOWS, PREVIOUS, NEIGHBOURS, OTHERS = "flows", "previous", "neighbours", "others"
"""Divisors and subtrahends that are no curves; `stated.toml` explains them."""

SEEN, UNSEEN = "set after data", "set before data"


def stated() -> Mapping[str, Any]:
    """Returns the statements of the paper's text (`stated.toml`) by experiment."""
    return tomllib.loads(files(__package__).joinpath("stated.toml").read_text("utf-8"))


@dataclass(frozen=True, slots=True)
class Where:
    """A condition on another curve at the same number of flows.

    Attributes:
        curve: label of the other curve.
        between: smallest and largest value that it may have.
    """

    curve: str
    between: tuple[float, float]

    @classmethod
    def read(cls, entry: Mapping[str, Any]) -> Where:
        """Reads a condition from the data."""
        low, high = entry["between"]
        return cls(entry["curve"], (low, high))


@dataclass(frozen=True, slots=True)
class Judged:
    """One point that a claim concerns.

    Attributes:
        curve: label of its curve.
        flows: number of flows, or the range of numbers over which a slope is taken.
        value: the value that the bound applies to.
        finding: the verdict.
        why: explanation if the claim does not hold, or the reason why it is undecided.
    """

    curve: str
    flows: str
    value: Interval
    finding: Finding
    why: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A `[[claim]]` of `stated.toml`, whose comments explain the fields."""

    says: str
    curves: tuple[str, ...]
    bound: tuple[float, float]
    outside: bool = False
    at: tuple[int, ...] = ()
    first: float = 0
    last: float = math.inf
    over: str = ""
    less: str = ""
    slope: bool = False
    where: Where | None = None
    printed: str | None = None
    because: str = ""
    seen: bool = True
    counts: str = ""

    @classmethod
    def read(cls, entry: Mapping[str, Any]) -> Claim:
        """Reads a claim from the data."""
        low, high = entry["outside"] if "outside" in entry else entry["between"]
        same = ("says", "over", "less", "slope", "printed", "because", "seen", "counts")
        return cls(
            curves=tuple(entry["curves"]),
            bound=(low, high),
            outside="outside" in entry,
            at=tuple(entry.get("at", ())),
            first=entry.get("from", 0),
            last=entry.get("to", math.inf),
            where=Where.read(entry["where"]) if "where" in entry else None,
            **{key: entry[key] for key in same if key in entry},
        )

    @property
    def is_the_papers(self) -> bool:
        """True if the paper makes the claim; False if this project makes it of its estimates."""
        return not self.says.startswith("ours: ")

    def asked(self, unit: str) -> str:
        """Returns the bound in words, and states if it was set before the data were seen."""
        low, high = self.bound
        if self.outside:
            bound = f"not {low:g} to {high:g}"
        elif math.isinf(high):
            bound = f"at least {low:g}"
        elif math.isinf(low):
            bound = f"at most {high:g}"
        else:
            bound = f"{low:g} to {high:g}"
        return f"{bound} {self.unit(unit)}".rstrip() + f", {SEEN if self.seen else UNSEEN}"

    def unit(self, unit: str) -> str:
        """Returns the unit of the value that is judged; a ratio has none."""
        if self.counts:
            return self.counts
        if self.slope:
            return f"{unit} per flow"
        if self.less and unit == "%":
            return "points"
        return "" if self.over else unit

    def judged(self, curves: Mapping[str, Points]) -> Iterator[Judged]:
        """Yields every point that the claim concerns, with its verdict."""
        for name in self.curves:
            for flows, value in self._values(curves, name):
                finding, why = self._finding(value, curves, flows)
                yield Judged(name, flows, value, finding, why)

    def _finding(
        self, value: Interval, curves: Mapping[str, Points], flows: str
    ) -> tuple[Finding, str]:
        if self.where is not None:
            other = curves[self.where.curve][int(flows)]
            if finding(other, self.where.between) is not Finding.HOLDS:
                return Finding.UNDECIDED, self._unless(other)
        found = finding(value, self.bound, outside=self.outside)
        if found is Finding.UNDECIDED:
            return found, "the interval of the mean contains an end of the bound"
        return found, "" if found is Finding.HOLDS else self.because

    def _unless(self, other: Interval) -> str:
        assert self.where is not None
        low, high = self.where.between
        return (
            f"{self.where.curve} is {other.mean:.2f} ± {other.half_width:.2f} and not surely "
            f"{low:g} to {high:g}"
        )

    def _values(self, curves: Mapping[str, Points], name: str) -> Iterator[tuple[str, Interval]]:
        points = curves[name]
        chosen = [count for count in points if self._speaks_of(count)]
        if self.slope:
            yield f"{chosen[0]} to {chosen[-1]}", _slope({one: points[one] for one in chosen})
            return
        for count in chosen:
            if not (self.less or self.over):
                yield str(count), points[count]
            elif (other := self._other(curves, points, count)) and not _same(points[count], other):
                relate = _difference if self.less else _ratio
                yield str(count), relate(points[count], other)

    def _speaks_of(self, count: int) -> bool:
        return count in self.at if self.at else self.first <= count <= self.last

    def _other(self, curves: Mapping[str, Points], points: Points, count: int) -> Interval | None:
        """Returns the subtrahend or divisor of a value; None if no value precedes it."""
        other = self.less or self.over
        if other == FLOWS:
            return Interval(count, 0)
        if other in curves:
            return curves[other][count]
        order = sorted(points)
        place = order.index(count)
        before = [points[one] for one in order[max(place - 1, 0) : place]]
        if other == PREVIOUS:
            return before[0] if before else None
        if other == NEIGHBOURS:
            after = [points[one] for one in order[place + 1 : place + 2]]
            return max([*before, *after], key=_mean)
        assert other == OTHERS, other
        return min((points[one] for one in order if one != count), key=_mean)


def claims(entries: Sequence[Mapping[str, Any]]) -> list[Claim]:
    """Reads the claims of an experiment."""
    return [Claim.read(entry) for entry in entries]


def _mean(interval: Interval) -> float:
    return interval.mean


def _same(one: Interval, other: Interval) -> bool:
    """Returns True if both values come from the same runs, as when two rules give one buffer."""
    return isinstance(one, Sample) and one == other


def _ratio(above: Interval, below: Interval) -> Interval:
    """Returns the ratio; its relative error adds the parts' errors in quadrature (independent)."""
    ratio = above.mean / below.mean
    relative = math.hypot(above.half_width / above.mean, below.half_width / below.mean)
    return Interval(ratio, ratio * relative)


def _difference(one: Interval, other: Interval) -> Interval:
    """Returns the difference: seed by seed if the seeds are common, else as if independent."""
    if isinstance(one, Sample) and isinstance(other, Sample):
        pairs = zip(one.values, other.values, strict=True)
        return t_interval([mine - theirs for mine, theirs in pairs])
    return Interval(one.mean - other.mean, math.hypot(one.half_width, other.half_width))


def _slope(points: Points) -> Interval:
    """Returns the slope of the least-squares line; the points' errors are independent."""
    middle = math.fsum(points) / len(points)
    squares = math.fsum((count - middle) ** 2 for count in points)
    weights = {count: (count - middle) / squares for count in points}
    return Interval(
        math.fsum(weight * points[count].mean for count, weight in weights.items()),
        math.hypot(*(weight * points[count].half_width for count, weight in weights.items())),
    )
