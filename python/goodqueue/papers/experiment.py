"""A published table as data: its rows as overrides of a scenario, its columns as sums of results.

A table's TOML file names a scenario, the published figures (CSV) and, if there are any, those of
an independent simulation (CSV with `_min` and `_max` columns). What the publication leaves open,
such as the phase of a probe, is tried at evenly spaced values (the middles of equal parts of its
span); every figure of ours is the range over them.
"""

from __future__ import annotations

import csv
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from importlib.resources.abc import Traversable

Override = tuple[str, str]
Summary = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A figure computed from the summary of a run.

    Attributes:
        label: what it is, with its unit.
        sum: paths into the summary whose values are added up; one that is null counts 0.
        scale: factor from the unit of the summary to that of the label.
        digits: decimals to print.
    """

    label: str
    sum: tuple[str, ...]
    scale: float
    digits: int

    def of(self, summary: Summary) -> float:
        """The figure of one run."""
        return self.scale * sum(_look_up(summary, path) for path in self.sum)


@dataclass(frozen=True, slots=True)
class Column:
    """A published column, and possibly a second way to measure the same thing."""

    published: str
    quantity: Quantity
    beside: Quantity | None


@dataclass(frozen=True, slots=True)
class Range:
    """Smallest and largest of several figures."""

    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Range:
        """The range of some values."""
        values = list(values)
        return cls(min(values), max(values))

    def explains(self, printed: str) -> bool:
        """Whether some value of the range, rounded or cut to the printed digits, is printed so."""
        unit, value, slack = printed_unit(printed), float(printed), 1e-9
        return self.high >= value - unit / 2 - slack and self.low < value + unit - slack

    def distance(self, printed: str) -> float:
        """From the published figure to the nearest value of the range; 0 inside it."""
        value = float(printed)
        return min(max(self.low, value), self.high) - value


def printed_unit(printed: str) -> float:
    """What one in the last printed digit is worth."""
    return 10.0 ** -len(printed.partition(".")[2])


@dataclass(frozen=True, slots=True)
class Cell:
    """One published figure beside ours.

    Attributes:
        column: the column it belongs to.
        published: the figure as printed.
        ours: range over what the publication leaves open.
        beside: the same, measured the column's second way.
        independent: what an independent simulation found.
        variants: range under each variant of the scenario, by name.
        remark: what is known about a figure that does not fit.
    """

    column: Column
    published: str
    ours: Range
    beside: Range | None
    independent: Range | None
    variants: dict[str, Range]
    remark: str

    @property
    def verdict(self) -> str:
        """Who explains the published figure: `ours`, `independent` (alone) or `nobody`."""
        if self.ours.explains(self.published):
            return "ours"
        if self.independent is not None and self.independent.explains(self.published):
            return "independent"
        return "nobody"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the published table."""

    value: str
    cells: tuple[Cell, ...]


class Experiment:
    """A published table and how to run it."""

    def __init__(self, paper: str, table: str) -> None:
        folder = files("goodqueue.papers").joinpath(paper)
        data = tomllib.loads(folder.joinpath(f"{table}.toml").read_text("utf-8"))
        self.title: str = data["title"]
        self.scenario = folder.joinpath(data["scenario"])
        self.set: tuple[Override, ...] = tuple(_override(text) for text in data.get("set", ()))
        self.rows_label: str = data["rows"]["label"]
        self._rows_column: str = data["rows"]["column"]
        self._rows_set: str = data["rows"]["set"]
        self.phases: dict[str, Any] = data["phases"]
        self.columns = tuple(_column(entry) for entry in data["column"])
        self.variants: dict[str, tuple[Override, ...]] = {
            variant["name"]: tuple(_override(text) for text in variant["set"])
            for variant in data.get("variant", ())
        }
        self._remarks = {
            (str(remark["row"]), remark["column"]): remark["text"]
            for remark in data.get("remark", ())
        }
        self._published = _read_csv(folder.joinpath(data["published"]), self._rows_column)
        self._independent = _read_csv(folder.joinpath(data["independent"]), self._rows_column)

    @property
    def row_values(self) -> list[str]:
        """The values of the table's rows, as printed."""
        return list(self._published)

    def printed(self, row: str, column: str) -> str:
        """A published figure, as printed."""
        return self._published[row][column]

    def overrides(self) -> Iterator[tuple[str, str, int, tuple[Override, ...]]]:
        """Every run of the table: its row, variant ("" for the plain one), phase, overrides."""
        for row in self._published:
            for variant, extra in {"": (), **self.variants}.items():
                for phase in range(self.phases["count"]):
                    start = self.phases["span_s"] * (phase + 0.5) / self.phases["count"]
                    yield (
                        row,
                        variant,
                        phase,
                        (
                            *self.set,
                            _override(self._rows_set.format(row)),
                            *extra,
                            _override(self.phases["set"].format(f"{start:.9f}")),
                        ),
                    )

    def compare(
        self, run_all: Callable[[Sequence[tuple[Override, ...]]], list[Summary]]
    ) -> list[Row]:
        """Runs the table and puts our figures beside the published ones.

        Args:
            run_all: runs the scenario under each set of overrides and returns the summaries in
                the same order.
        """
        runs = list(self.overrides())
        summaries: dict[tuple[str, str], list[Summary]] = {}
        for (row, variant, _, _), summary in zip(
            runs, run_all([run[3] for run in runs]), strict=True
        ):
            summaries.setdefault((row, variant), []).append(summary)
        return [
            Row(row, tuple(self._cell(row, column, summaries) for column in self.columns))
            for row in self._published
        ]

    def _cell(
        self, row: str, column: Column, summaries: dict[tuple[str, str], list[Summary]]
    ) -> Cell:
        def over_phases(quantity: Quantity, variant: str = "") -> Range:
            return Range.of(quantity.of(summary) for summary in summaries[row, variant])

        return Cell(
            column,
            published=self.printed(row, column.published),
            ours=over_phases(column.quantity),
            beside=over_phases(column.beside) if column.beside else None,
            independent=_band(self._independent.get(row, {}), column.published),
            variants={name: over_phases(column.quantity, name) for name in self.variants},
            remark=self._remarks.get((row, column.published), ""),
        )


def tables(paper: str) -> list[str]:
    """The tables of a paper that can be run."""
    folder = files("goodqueue.papers").joinpath(paper)
    return sorted(
        entry.name.removesuffix(".toml")
        for entry in folder.iterdir()
        if entry.name.startswith(("table", "figure")) and entry.name.endswith(".toml")
    )


def papers() -> list[str]:
    """The papers that have anything to run."""
    return sorted(
        entry.name
        for entry in files("goodqueue.papers").iterdir()
        if entry.is_dir() and entry.joinpath("__init__.py").is_file() and tables(entry.name)
    )


def _column(entry: dict[str, Any]) -> Column:
    beside = entry.get("beside")
    return Column(
        entry["published"], _quantity(entry), _quantity({**entry, **beside}) if beside else None
    )


def _quantity(entry: dict[str, Any]) -> Quantity:
    return Quantity(entry["label"], tuple(entry["sum"]), entry.get("scale", 1.0), entry["digits"])


def _override(text: str) -> Override:
    path, _, value = text.partition("=")
    return path, value


def _read_csv(file: Traversable, key: str) -> dict[str, dict[str, str]]:
    rows = csv.DictReader(file.read_text("utf-8").splitlines())
    return {row[key]: row for row in rows}


def _band(row: dict[str, str], column: str) -> Range | None:
    if f"{column}_min" not in row:
        return None
    return Range(float(row[f"{column}_min"]), float(row[f"{column}_max"]))


def _look_up(summary: Summary, path: str) -> float:
    value: Any = summary
    for part in path.split("."):
        value = value[part]
    return float(value or 0)
