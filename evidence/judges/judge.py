"""Judges: rows that a laboratory published, our runs of them, and the bar that both are held to."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import math
from dataclasses import dataclass
from functools import partial
from itertools import groupby, product
from pathlib import Path
from statistics import stdev
from typing import TYPE_CHECKING, Any, Protocol

from evidence.core.cells import Cell
from evidence.core.derived import scratch
from goodqueue.core.files.unfinished import unfinished_file
from goodqueue.core.intervals import t_interval
from goodqueue.core.parallel import workers
from goodqueue.runs.api import load
from goodqueue.runs.results.result import Result as Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Future

    from goodqueue._core import Cancel

FOLDER = Path(__file__).parent

DUMBBELL = """\
schema_version = 1
duration = "{seconds}s"
warmup = "0s"

[topology]
shape = "dumbbell"
framing = "14B"
access = {{ rate = "unlimited" }}

"""
"""Beginning of a scenario whose hosts reach one bottleneck over Ethernet."""

COLUMNS = ("row", "figure", "theirs", "ours", "half_width", "low", "high", "inside")
"""Columns of a file of results."""

MAX_KINDS = 10
"""Largest number of kinds of scenarios in a canary."""


@dataclass(frozen=True)
class Bar:
    """The range in which our mean must lie.

    Attributes:
        low: smallest value inside.
        high: largest value inside.
        or_interval: True if it is enough that the published figure lies in the 95 % interval of
            our mean.
        or_deviations: a mean as many standard deviations of our runs away is inside, too: the
            published figure is of a single run.
    """

    low: float
    high: float
    or_interval: bool = False
    or_deviations: float = 0.0

    @classmethod
    def around(
        cls, value: float, share: float, least: float = 0.0, *, or_interval: bool = False
    ) -> Bar:
        """Returns the bar of a share of a value, or of `least` in the unit of the value."""
        allowed = max(share * abs(value), least)
        return cls(value - allowed, value + allowed, or_interval)

    @classmethod
    def factor(cls, value: float, factor: float) -> Bar:
        """Returns the bar of a factor."""
        return cls(value / factor, value * factor)


Figures = dict[str, float]
"""Figures of a run by name, with the unit at the end of the name."""

OVER_TIME = "over_time"
"""Key of the summary of a run with the figures that a judge takes from series over time."""


class Row(Protocol):
    """A published row."""

    @property
    def name(self) -> str:
        """Its name, which no other row of the judge has."""

    @property
    def theirs(self) -> Mapping[str, float]:
        """The published figures by name."""

    def scenario(self, seed: int) -> str:
        """Returns the scenario as text; the seed decides what the row draws at random itself."""

    def figures(self, summary: Mapping[str, Any]) -> Figures:
        """Returns our figures of the same names from the summary of a run."""

    def bar(self, figure: str) -> Bar:
        """Returns the bar of a figure."""


@dataclass(frozen=True)
class Trial:
    """Other settings of all rows, whose effect on the share inside the bar the page reports.

    Attributes:
        words: description of the change that completes a sentence after "with".
        settings: the values that replace those of each scenario, by path.
    """

    words: str
    settings: Mapping[str, str]


@dataclass(frozen=True)
class Judge:
    """A laboratory and its data.

    Attributes:
        name: name of the judge, and of its files.
        title: heading of its table.
        who: the laboratory, the year and its equipment.
        bar: the bar in words.
        setting: paragraph of the page on the scenario of a row.
        read_rows: returns the rows of a file of this form in sorted order.
        seeds: seeds of our runs.
        every: every which row is compared, in this order; 1 for all.
        over_time: returns figures of the series of a run, for the key `OVER_TIME` of its summary;
            None if the summary has all that the rows compare.
        trials: other settings that are tried on the same rows.
        cause: cause of the worst row as far as it is known.
        reading: findings of the comparison, as Markdown.
    """

    name: str
    title: str
    who: str
    bar: str
    setting: str
    read_rows: Callable[[Path], Sequence[Row]]
    seeds: range
    every: int = 1
    over_time: Callable[[Run], Figures] | None = None
    trials: tuple[Trial, ...] = ()
    cause: str = ""
    reading: str = ""

    @property
    def published(self) -> Path:
        """The file of published rows."""
        return FOLDER / "published" / f"{self.name}.csv"

    @property
    def found(self) -> Path:
        """The file of results."""
        return FOLDER / "found" / f"{self.name}.csv"

    def rows(self) -> Sequence[Row]:
        """Returns all published rows."""
        return self.read_rows(self.published)

    def chosen(self) -> Sequence[Row]:
        """Returns the rows that are compared."""
        return self.rows()[:: self.every]

    def cells(self) -> Iterator[Cell]:
        """Yields the runs of the first seed, of which a canary is chosen, up to a number of kinds.

        The number bounds the canary; rows of further kinds are left out.
        """
        kinds: set[str] = set()
        for row in self.chosen():
            cell = Cell(row.scenario(self.seeds[0]), seed=self.seeds[0])
            if cell.kind in kinds or len(kinds) < MAX_KINDS:
                kinds.add(cell.kind)
                yield cell

    def found_with(self, trial: Trial) -> Path:
        """The file of results of a trial."""
        number = self.trials.index(trial) + 1
        return self.found.with_name(f"{self.name}.trial{number}.csv")

    def make(self) -> None:
        """Runs all chosen rows, and those of the trials, and writes the results."""
        write(self.found, self.judged(self.chosen(), self.seeds))
        for trial in self.trials:
            write(self.found_with(trial), self.judged(self.chosen(), self.seeds, trial.settings))

    def judged(
        self,
        rows: Sequence[Row],
        seeds: Sequence[int],
        settings: Mapping[str, str] | None = None,
    ) -> list[Result]:
        """Runs rows under seeds, and returns one result for each figure.

        Rows of the same scenario share its runs.

        Args:
            rows: the rows.
            seeds: the seeds.
            settings: values that replace those of each scenario, by path.
        """
        changes = json.dumps(settings or {})
        runs: dict[tuple[str, int], Future[dict[str, Any]]] = {}
        with workers() as threads:
            for row, seed in product(rows, seeds):
                run = row.scenario(seed), seed
                if run not in runs:
                    work = partial(summary_of, run[0], changes, seed, self.over_time)
                    runs[run] = threads.submit(work)
            found = []
            for row in rows:
                own = [row.figures(runs[row.scenario(seed), seed].result()) for seed in seeds]
                found += [result(row, name, [one[name] for one in own]) for name in row.theirs]
        return found


@dataclass(frozen=True)
class Result:
    """One figure of one row.

    Attributes:
        row: name of the row.
        figure: name of the figure.
        theirs: the published value.
        ours: our mean over the seeds.
        half_width: half the width of its 95 % interval; infinite with one seed.
        low: smallest value inside the bar, with our interval and deviations if they count.
        high: largest value inside it.
        inside: True if our mean is inside.
    """

    row: str
    figure: str
    theirs: float
    ours: float
    half_width: float
    low: float
    high: float
    inside: bool

    @property
    def distance(self) -> float:
        """Distance of our mean from the published value, in units of the allowed distance."""
        if self.ours == self.theirs:
            return 0.0
        allowed = self.high - self.theirs if self.ours > self.theirs else self.theirs - self.low
        return abs(self.ours - self.theirs) / allowed if allowed > 0 else math.inf


def published(path: Path) -> Iterator[dict[str, str]]:
    """Yields the rows of a published file, which may be compressed, without its comments."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        yield from csv.DictReader(line for line in file if not line.startswith("#"))


def result(row: Row, figure: str, ours: Sequence[float]) -> Result:
    """Returns the result of one figure from our values, one of each seed."""
    theirs, bar, interval = row.theirs[figure], row.bar(figure), t_interval(ours)
    low, high = bar.low, bar.high
    if len(ours) > 1:
        chance = bar.or_deviations * stdev(ours)
        chance = max(chance, interval.half_width if bar.or_interval else 0.0)
        low, high = min(low, theirs - chance), max(high, theirs + chance)
    return Result(
        row=row.name,
        figure=figure,
        theirs=theirs,
        ours=interval.mean,
        half_width=interval.half_width,
        low=low,
        high=high,
        inside=low <= interval.mean <= high,
    )


def summary_of(
    text: str,
    changes: str,
    seed: int,
    over_time: Callable[[Run], Figures] | None = None,
    cancel: Cancel | None = None,
) -> dict[str, Any]:
    """Returns the summary of a run; a finished one is read from the folder of unfinished data.

    Args:
        text: the scenario.
        changes: values that replace the scenario's by path, as JSON.
        seed: the seed.
        over_time: returns figures of the series of the run, which the summary then has, too.
        cancel: stops the run.
    """
    key = hashlib.sha256(f"{seed} {changes} {text}".encode()).hexdigest()[:24]
    kept = scratch() / "judges" / f"{key}.json"
    if not kept.exists():
        kept.parent.mkdir(exist_ok=True)
        scenario = load(text, set=json.loads(changes), seed=seed)
        run = Run(scenario.run(series=over_time is not None, cancel=cancel), text)
        summary = run.summary | {OVER_TIME: over_time(run) if over_time else {}}
        with unfinished_file(kept) as unfinished:
            unfinished.write_text(json.dumps(summary), encoding="utf-8")
    found: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
    return found


def write(path: Path, results: Iterable[Result]) -> None:
    """Writes results as CSV."""
    with unfinished_file(path) as unfinished, unfinished.open("w", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for one in results:
            numbers = (one.theirs, one.ours, one.half_width, one.low, one.high)
            shown = [f"{number:.6g}" for number in numbers]
            table.writerow([one.row, one.figure, *shown, "yes" if one.inside else "no"])


def read(path: Path) -> list[Result]:
    """Reads results."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Result(
                row=line["row"],
                figure=line["figure"],
                theirs=float(line["theirs"]),
                ours=float(line["ours"]),
                half_width=float(line["half_width"]),
                low=float(line["low"]),
                high=float(line["high"]),
                inside=line["inside"] == "yes",
            )
            for line in csv.DictReader(file)
        ]


def by_row(results: Sequence[Result]) -> dict[str, list[Result]]:
    """Returns the results of each row, in their order."""
    return {name: list(group) for name, group in groupby(results, key=lambda one: one.row)}
