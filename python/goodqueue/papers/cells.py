"""Published figures beside our own figures, with a verdict on each pair."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import StrEnum
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from goodqueue.core.intervals import prediction_half_width

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goodqueue._core import Scenario
    from goodqueue.plots.style import Picture


class Verdict(StrEnum):
    """The verdict on a published figure."""

    MATCHES = "matches"
    WEAK = "weak match"
    SHAPE = "matches in shape"
    NOT = "does not match"


class Finding(StrEnum):
    """The verdict on a paper's conclusion, for one pair of rows.

    `UNREPRODUCED`: the paper's own figures support the conclusion, ours do not. `CONTRADICTED`:
    neither the paper's figures nor ours support it. `ELSEWHERE`: the conclusion fails under
    conditions for which the paper prints no figures.
    """

    HOLDS = "holds"
    UNDECIDED = "undecided"
    UNREPRODUCED = "not reproduced"
    CONTRADICTED = "contradicted by the paper"
    ELSEWHERE = "fails elsewhere"


GRADES: dict[Verdict | Finding, str] = {
    Verdict.MATCHES: "matches",
    Verdict.WEAK: "shape",
    Verdict.SHAPE: "shape",
    Finding.HOLDS: "matches",
    Finding.UNDECIDED: "shape",
}
"""Class of a verdict on the HTML page, which also sets its colour; `not` for all others."""

OURS = '"ours: '
"""Prefix of a claim that this project makes, and not the paper."""

OTHER_SETTINGS = "other settings"
"""Mark of a row that `--set` has changed, in place of a verdict."""

WEAK = "a match with an interval wider than half of our mean, which says little"


@dataclass(frozen=True, slots=True)
class Spread:
    """One of our figures: its mean over runs, and the 95 % prediction interval for one run.

    Attributes:
        mean: mean over the runs.
        low: lower end of the prediction interval for one run.
        high: upper end of the prediction interval for one run.
        error: standard error of the mean; 0 for a figure that does not depend on chance.
        values: value of each run, in the order of seeds or phases; empty if the values are not
            known.
    """

    mean: float
    low: float
    high: float
    error: float = 0.0
    values: tuple[float, ...] = field(default=(), compare=False, repr=False)

    @classmethod
    def exact(cls, value: float) -> Spread:
        """Returns the spread of a figure that is the same in every run."""
        return cls(value, value, value)

    @classmethod
    def of_seeds(
        cls, values: Sequence[float], least: float = -math.inf, most: float = math.inf
    ) -> Spread:
        """Returns Student's prediction interval over independent seeds.

        Args:
            values: the figure under each seed.
            least: smallest value that the figure can have; the interval is cut there.
            most: largest value that the figure can have; the interval is cut there, too.
        """
        if len(values) == 1:
            return cls.exact(values[0])
        made = cls.of_sample(fmean(values), stdev(values), len(values), least)
        return replace(made, high=min(made.high, most), values=tuple(values))

    @classmethod
    def of_sample(
        cls, mean: float, deviation: float, count: int, least: float = -math.inf
    ) -> Spread:
        """Returns Student's prediction interval from the mean and standard deviation of a sample.

        Args:
            mean: mean of the sample.
            deviation: standard deviation of the sample.
            count: size of the sample.
            least: smallest value that the figure can have; the interval is cut there.
        """
        if count == 1:
            return cls.exact(mean)
        half = prediction_half_width(deviation, count)
        low = max(mean - half, least)
        return cls(mean, low, mean + half, deviation / math.sqrt(count))

    @classmethod
    def of_range(cls, values: Sequence[float]) -> Spread:
        """Returns the range of the values as the interval, which assumes no distribution.

        The range of n independent values contains one more value with probability (n-1)/(n+1). The
        standard error is that of independent values; for evenly spaced phases it is an upper bound.
        """
        error = stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
        return cls(fmean(values), min(values), max(values), error, tuple(values))

    def explains(self, printed: str, tolerance: float = 0.0) -> bool:
        """Returns True if a value in the interval gives the printed one by rounding or cutting.

        Args:
            printed: the published figure, as printed.
            tolerance: share of the published figure by which both ends of the interval are widened.
        """
        unit, value, slack = printed_unit(printed), float(printed), 1e-9
        more = abs(tolerance * value)
        return (
            self.high + more >= value - unit / 2 - slack and self.low - more < value + unit - slack
        )

    def text(self, digits: int) -> str:
        """Formats the ends of the interval, or a single number if both ends print the same."""
        low, high = number(self.low, digits), number(self.high, digits)
        return low if low == high else f"{low} .. {high}"


UNKNOWN = Spread.exact(math.nan)
"""The figure of a cell that has none, such as a claim about the shape of a row."""


def number(value: float, digits: int) -> str:
    """Formats a figure: a dash if it has no value, and a rounded zero without a minus sign."""
    return "-" if math.isnan(value) else f"{round(value, digits) + 0.0:.{digits}f}"


def printed_unit(printed: str) -> float:
    """Returns the value of one unit in the last printed digit."""
    return float(10.0 ** -len(printed.partition(".")[2]))


@dataclass(frozen=True, slots=True)
class Beside:
    """The same figure from another simulator.

    Attributes:
        label: name of the simulator.
        spread: mean of its runs (NaN if only their range is known), and their interval or range.
        agrees: True if our figure agrees with it; None if agreement is not judged.
        drawn: True if pictures show it, too.
    """

    label: str
    spread: Spread
    agrees: bool | None = None
    drawn: bool = True


@dataclass(frozen=True, slots=True)
class Remark:
    """An explanation of a figure that does not match.

    Attributes:
        text: the reason, as a sentence without a full stop.
        reads: correct reading of a misprinted figure; None if the figure is no misprint.
    """

    text: str
    reads: str | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One published figure beside ours.

    Attributes:
        row: values of the key columns of its row, as printed.
        quantity: name of the quantity.
        unit: unit of the quantity; "" for counts and shares.
        digits: number of decimals to print.
        published: the published figure, as printed; None if the paper prints no number.
        ours: our figure; `UNKNOWN` for a claim about the shape of a row.
        shape: True if the tests of its row's shape hold; None if there are no such tests. Only a
            published figure is judged by it.
        tolerance: share of the published figure by which the interval is widened.
        remark: explanation that is printed if the figure does not match.
        beside: figures of other simulators.
        variants: our figures under other settings, or measured by another method, by name.
        controls: figures of models that are wrong on purpose, by name.
        finding: the verdict on a conclusion; None if the cell is a figure.
        repeats: experiment of the same paper that already has a cell for the same run; "" if none
            has.
        changed: True if its row was run with other settings than the paper's, so that the published
            figure is no figure of it.
        asked: the bound that decides between the verdicts, in words; "" if no bound is given. If
            the cell also has a finding, the ends of `ours` are those of the mean's 95 % interval.
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
    changed: bool = False

    @property
    def verdict(self) -> Verdict | Finding | None:
        """The verdict on the cell; None if nothing was published that could match."""
        if self.finding is not None:
            return self.finding
        if self.published is None or self.changed:
            return None
        if self.ours.explains(self.published, self.tolerance):
            width = self.ours.high - self.ours.low
            return Verdict.WEAK if width > abs(self.ours.mean) / 2 else Verdict.MATCHES
        return Verdict.SHAPE if self.shape else Verdict.NOT

    @property
    def verdict_text(self) -> str:
        """The verdict, or a mark for a row that was run with other settings than the paper's."""
        if self.changed and self.finding is None:
            return OTHER_SETTINGS
        return str(self.verdict or "")

    @property
    def note(self) -> str:
        """The remark on a figure that does not match as printed; "" if there is none."""
        if self.remark is None or self.matches or self.changed:
            return ""
        if self.remark.reads is None:
            return self.remark.text
        reads = self.remark.reads
        found = "matches" if self.ours.explains(reads, self.tolerance) else "does not match either"
        return f"{self.remark.text}; read as {reads} it {found}"

    @property
    def is_ours(self) -> bool:
        """True for a claim that this project makes, and not the paper."""
        return self.finding is not None and self.quantity.startswith(OURS)

    @property
    def interval_of(self) -> str:
        """Heading of the column that shows the ends of `ours`."""
        return "one run lies in" if self.finding is None else "95 % interval"

    @property
    def heads(self) -> list[str]:
        """Headings of its columns in a table: the key columns, those of `texts`, the verdict."""
        asked = ["asked"] if self.asked else []
        others = [*(one.label for one in self.beside), *self.variants, *asked]
        return [*self.row, "paper", "ours", self.interval_of, *others, "verdict"]

    @property
    def texts(self) -> list[str]:
        """The published figure, ours, its interval, and the figures beside it, for a table."""
        ours = self.ours
        spreads = [ours, *(one.spread for one in self.beside), *self.variants.values()]
        texts = [self.published or "-", number(ours.mean, self.digits)]
        texts += [spread.text(self.digits) for spread in spreads]
        return [*texts, *([self.asked] if self.asked else [])]

    @property
    def matches(self) -> bool:
        """True if the published figure lies in our interval, however wide it is."""
        return self.verdict in {Verdict.MATCHES, Verdict.WEAK}

    @property
    def weak(self) -> bool:
        """True if the figure matches, but its interval is wider than half of our mean."""
        return self.verdict is Verdict.WEAK

    def controlled(self, name: str) -> Cell:
        """Returns the cell with the figure of a control in place of ours.

        A control is a model that is wrong on purpose. Its shape is not tested: its figure matches,
        matches weakly, or does not match.
        """
        return replace(self, ours=self.controls[name], shape=None, controls={})

    @property
    def said(self) -> str:
        """Note on the cell, or a warning that the match is weak."""
        return WEAK if self.weak else self.note

    def as_dict(self) -> dict[str, Any]:
        """Returns the cell as a dictionary that JSON can hold."""
        return {
            "row": dict(self.row),
            "quantity": self.quantity,
            "unit": self.unit,
            "published": None if self.published is None else float(self.published),
            "simulated": _finite(self.ours.mean),
            "low": _finite(self.ours.low),
            "high": _finite(self.ours.high),
            "tolerance": self.tolerance,
            "changed": self.changed,
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
                name: _as_dict(spread) | {"matches": self.controlled(name).matches}
                for name, spread in self.controls.items()
            },
            "repeats": self.repeats or None,
        }


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The outcome of an experiment.

    Attributes:
        cells: published figures beside ours.
        sentences: sentences printed with the cells: what the paper leaves open, and what the
            intervals mean.
        pictures: function that draws the pictures; it is called only if they are wanted.
        scenarios: scenario of the first run of each row, by the values of its keys.
    """

    cells: Sequence[Cell]
    sentences: Sequence[str] = ()
    pictures: Callable[[], Sequence[Picture]] = tuple
    scenarios: Mapping[tuple[str, ...], Scenario] = field(default_factory=dict)


def remarks(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    """Groups cells by the remark that is printed about them; each remark is printed once."""
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
