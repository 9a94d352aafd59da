"""A published figure beside ours, and what is to be thought of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import StrEnum
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from goodqueue.intervals import prediction_half_width

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goodqueue.plots.style import Picture


class Verdict(StrEnum):
    """What is to be thought of a published figure."""

    MATCHES = "matches"
    SHAPE = "matches in shape"
    NOT = "does not match"


class Finding(StrEnum):
    """What is to be thought of a conclusion of a paper, for a pair of rows.

    `UNREPRODUCED`: the paper's figures bear it out, ours do not. `CONTRADICTED`: neither do.
    `ELSEWHERE`: it fails under conditions of which the paper prints no figures.
    """

    HOLDS = "holds"
    UNDECIDED = "undecided"
    UNREPRODUCED = "not reproduced"
    CONTRADICTED = "contradicted by the paper"
    ELSEWHERE = "fails elsewhere"


WEAK = "a match with an interval wider than half of our mean, which says little"


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure of ours: its mean over runs, and where one run lies, 95 times in 100.

    Attributes:
        mean: over the runs.
        low: lower end of the prediction interval for one run.
        high: its upper end.
        error: standard error of the mean; 0 where nothing is left to chance.
        values: of the runs, in the order of seeds or phases; none where they are not known.
    """

    mean: float
    low: float
    high: float
    error: float = 0.0
    values: tuple[float, ...] = field(default=(), compare=False, repr=False)

    @classmethod
    def exact(cls, value: float) -> Spread:
        """A figure that nothing left open changes."""
        return cls(value, value, value)

    @classmethod
    def of_seeds(cls, values: Sequence[float], least: float = -math.inf) -> Spread:
        """Student's prediction interval over independent seeds; no value is below `least`."""
        if len(values) == 1:
            return cls.exact(values[0])
        made = cls.of_sample(fmean(values), stdev(values), len(values), least)
        return replace(made, values=tuple(values))

    @classmethod
    def of_sample(
        cls, mean: float, deviation: float, count: int, least: float = -math.inf
    ) -> Spread:
        """The same from the mean and the standard deviation of so many."""
        if count == 1:
            return cls.exact(mean)
        half = prediction_half_width(deviation, count)
        low = max(mean - half, least)
        return cls(mean, low, mean + half, deviation / math.sqrt(count))

    @classmethod
    def of_range(cls, values: Sequence[float]) -> Spread:
        """The range, which needs no law: n values hold one more with probability (n-1)/(n+1).

        The error is that of independent values; of evenly spaced phases it is an upper bound.
        """
        error = stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
        return cls(fmean(values), min(values), max(values), error, tuple(values))

    def explains(self, printed: str, tolerance: float = 0.0) -> bool:
        """Whether some value in here, rounded or cut to the printed digits, is printed so.

        `tolerance` widens it at both ends by that share of the printed figure.
        """
        unit, value, slack = printed_unit(printed), float(printed), 1e-9
        more = abs(tolerance * value)
        return (
            self.high + more >= value - unit / 2 - slack and self.low - more < value + unit - slack
        )

    def text(self, digits: int) -> str:
        """From where to where; one figure if both are printed the same."""
        low, high = f"{self.low:.{digits}f}", f"{self.high:.{digits}f}"
        return low if low == high else f"{low} .. {high}"


def printed_unit(printed: str) -> float:
    """What one in the last printed digit is worth."""
    return float(10.0 ** -len(printed.partition(".")[2]))


@dataclass(frozen=True, slots=True)
class Beside:
    """The same figure by somebody else's simulator.

    Attributes:
        label: whose.
        spread: its mean, NaN if only the range is known, and the interval or range of its runs.
        agrees: whether ours agrees with it; None if that is not judged.
    """

    label: str
    spread: Spread
    agrees: bool | None = None


@dataclass(frozen=True, slots=True)
class Remark:
    """What is known about a figure that does not match.

    Attributes:
        text: why, in a sentence without a full stop.
        reads: what a misprint should read, if it is one.
    """

    text: str
    reads: str | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One published figure beside ours.

    Attributes:
        row: its row: values of the key columns, as printed.
        quantity: what it is.
        unit: its unit; "" for counts and shares.
        digits: decimals to print.
        published: as printed; None where the paper prints no number.
        ours: our figure.
        shape: whether the tests of the shape that it is part of hold; None if there are none.
        tolerance: what the interval is widened by, as a share of the published figure.
        remark: what is known if it does not match.
        beside: other simulators' figures.
        variants: ours under other settings, or measured in another way, by name.
        controls: figures of models that are wrong on purpose, by name.
        finding: the verdict on a conclusion; None of a figure.
        repeats: the experiment of the same paper in which the same run is a cell already; "" if
            there is none.
        asked: the bound that decides between the verdicts, in words; "" if none is stated. Where
            there is a finding too, the ends of `ours` are those of the mean's 95 % interval.
    """

    row: Mapping[str, str]
    quantity: str
    unit: str
    digits: int
    published: str | None
    ours: Spread
    shape: bool | None = None
    tolerance: float = 0.0
    remark: Remark | None = None
    beside: Sequence[Beside] = ()
    variants: Mapping[str, Spread] = field(default_factory=dict)
    controls: Mapping[str, Spread] = field(default_factory=dict)
    finding: Finding | None = None
    repeats: str = ""
    asked: str = ""

    @property
    def verdict(self) -> Verdict | Finding | None:
        """None if nothing was published that could match."""
        if self.finding is not None:
            return self.finding
        if self.published is not None and self.ours.explains(self.published, self.tolerance):
            return Verdict.MATCHES
        if self.shape is not None or self.published is not None:
            return Verdict.SHAPE if self.shape else Verdict.NOT
        return None

    @property
    def note(self) -> str:
        """What is known about a figure that does not match as printed."""
        if self.remark is None or self.verdict is Verdict.MATCHES:
            return ""
        if self.remark.reads is None:
            return self.remark.text
        reads = self.remark.reads
        found = "matches" if self.ours.explains(reads, self.tolerance) else "does not match either"
        return f"{self.remark.text}; read as {reads} it {found}"

    @property
    def interval_of(self) -> str:
        """Head of the column with the ends of `ours`."""
        return "one run lies in" if self.finding is None else "95 % interval"

    @property
    def weak(self) -> bool:
        """Whether it matches, of an interval wider than half of our mean."""
        width = self.ours.high - self.ours.low
        return self.verdict is Verdict.MATCHES and width > abs(self.ours.mean) / 2

    def controlled(self, name: str) -> Cell:
        """The same published figure beside that of a model that is wrong on purpose.

        Shapes are not tested of it: it matches, weakly or not, or does not.
        """
        return replace(self, ours=self.controls[name], shape=None, controls={})

    @property
    def said(self) -> str:
        """The note, or that a match says little."""
        return WEAK if self.weak else self.note

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "row": dict(self.row),
            "quantity": self.quantity,
            "unit": self.unit,
            "published": None if self.published is None else float(self.published),
            "simulated": _finite(self.ours.mean),
            "low": _finite(self.ours.low),
            "high": _finite(self.ours.high),
            "tolerance": self.tolerance,
            "verdict": None if self.verdict is None else str(self.verdict),
            "asked": self.asked or None,
            "conclusion": self.finding is not None,
            "note": self.note,
            "weak": self.weak,
            "beside": {
                one.label: _as_dict(one.spread) | {"agrees": one.agrees} for one in self.beside
            },
            "variants": {name: _as_dict(spread) for name, spread in self.variants.items()},
            "controls": {
                name: _as_dict(spread)
                | {"matches": self.controlled(name).verdict is Verdict.MATCHES}
                for name, spread in self.controls.items()
            },
            "repeats": self.repeats or None,
        }


@dataclass(frozen=True, slots=True)
class Reproduction:
    """What an experiment came to.

    Attributes:
        cells: published figures beside ours.
        sentences: what must be said with them: what was left open, what the intervals are.
        pictures: draws them; called only where somebody looks at them.
    """

    cells: Sequence[Cell]
    sentences: Sequence[str] = ()
    pictures: Callable[[], Sequence[Picture]] = tuple


def remarks(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    """What people are told of cells, each sentence once, with the cells it is said of."""
    said: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell.said:
            said.setdefault(f"{cell.quantity}: {cell.said}", []).append(cell)
    return said


def _as_dict(spread: Spread) -> dict[str, float | None]:
    return {
        "simulated": _finite(spread.mean),
        "low": _finite(spread.low),
        "high": _finite(spread.high),
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
