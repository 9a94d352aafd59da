"""Comparison of two ns-2 studies of buffer sizes with ns-2, for each cell of their tables.

`python -m evidence.validation.papers.ns2_studies` runs ns-2 and stores its means and standard
deviations beside the published tables, where `goodqueue reproduce` reads them.
"""

from __future__ import annotations

import csv
import math
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from evidence.validation.reading import STUDIES_HEAD, STUDIES_READING
from evidence.validation.simulators import ns2_figures
from goodqueue.core.parallel import workers
from goodqueue.papers.cells import Spread
from goodqueue.papers.experiment import experiment
from goodqueue.papers.table import TableExperiment
from goodqueue.study.runner import Runner, user_store
from goodqueue.study.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from concurrent.futures import Future

    from evidence.validation.simulators import Figures
    from goodqueue._core import Cancel
    from goodqueue.core.parallel import Workers

SCRIPT = "tools/ns2/lossy-link.tcl"

STUDIES = {"ahmad2020": "DropTail", "wisdom2021": "RED"}
"""ns-2's name for the queue of each study."""

LOSS = {"table3": "0.01", "table4": "0.02", "table5": "0.05"}

AGENTS = {"sack": "Sack1", "reno": "Reno"}

COLUMNS = {"delay_ms": 2, "throughput_kbps": 2, "lost": 1}
"""Compared columns of the published tables, with the number of digits to print."""

RELATIVE, ERRORS = 0.05, 3
"""Means agree if they differ by no more than this share of ns-2's mean, or by no more than this
many standard errors of the difference."""

MOST_MISSES = 2
"""Largest number of the 414 means of delay and throughput that may disagree."""

MEAN_DIFFERENCE = 0.03
"""Largest mean relative difference between the two simulators."""

RECORDED_SEEDS = range(1, 31)


@dataclass(frozen=True)
class Cell:
    """One row of a published table, for both simulators.

    Attributes:
        study: name of its paper.
        table: name of its table.
        row: texts of the row, by column.
    """

    study: str
    table: str
    row: Mapping[str, str]

    @property
    def arguments(self) -> list[str]:
        """The arguments of ns-2, without the seed."""
        return [
            SCRIPT,
            f"queue={STUDIES[self.study]}",
            f"rate={self.row['rate_mbps']}",
            f"loss={LOSS[self.table]}",
            f"buffer={self.row['buffer']}",
            f"tcp={AGENTS[self.row['recovery']]}",
        ]

    @property
    def name(self) -> str:
        """A description of the cell for messages."""
        row = self.row
        return f"{self.study} {self.table} {row['scheme']} {row['rate_mbps']} Mb/s {row['buffer']}"


@dataclass(frozen=True)
class Check:
    """One figure of a cell in both simulators."""

    cell: Cell
    column: str
    theirs: Spread
    ours: Spread

    @property
    def difference(self) -> float:
        """Our mean minus ns-2's."""
        return self.ours.mean - self.theirs.mean

    @property
    def allowed(self) -> float:
        """The largest difference that counts as agreement, in the unit of the figure."""
        errors = ERRORS * math.hypot(self.ours.error, self.theirs.error)
        return max(RELATIVE * abs(self.theirs.mean), errors)

    @property
    def agrees(self) -> bool:
        """True if the difference is no more than `allowed`."""
        return abs(self.difference) <= self.allowed


def tables() -> list[TableExperiment]:
    """Returns the tables of both studies."""
    found = [experiment(study, table) for study in STUDIES for table in LOSS]
    return [table for table in found if isinstance(table, TableExperiment)]


def run_ns2(cell: Cell, seed: int, _cancel: Cancel) -> Figures:
    """Returns the figures of one run of ns-2."""
    return ns2_figures(cell.arguments, seed, COLUMNS)


def submit(threads: Workers, seeds: range) -> list[tuple[Cell, list[Future[Figures]]]]:
    """Starts ns-2's runs of every cell."""
    cells = [Cell(table.paper, table.name, row) for table in tables() for row in table.rows]
    return [
        (cell, [threads.submit(partial(run_ns2, cell, seed)) for seed in seeds]) for cell in cells
    ]


def ours() -> dict[tuple[str, str, str], list[Spread]]:
    """Returns our figures of every row by paper, table and column, over the seeds of the tables."""
    found: dict[tuple[str, str, str], list[Spread]] = {}
    with user_store("papers") as store:
        runner = Runner(store, Threads(None))
        for table in tables():
            columns = {quantity.label: column for column, quantity in table.columns.items()}
            for cell in table.reproduce(runner).cells:
                key = (table.paper, table.name, columns[cell.quantity])
                found.setdefault(key, []).append(cell.ours)
    return found


def compare(theirs: Iterable[tuple[Cell, Sequence[Figures]]]) -> list[Check]:
    """Compares every figure of every cell."""
    left = {key: iter(spreads) for key, spreads in ours().items()}
    return [
        Check(cell, column, _spread(runs, column), next(left[cell.study, cell.table, column]))
        for cell, runs in theirs
        for column in COLUMNS
    ]


def _spread(runs: Sequence[Figures], column: str) -> Spread:
    return Spread.of_seeds([run[column] for run in runs])


def judged(checks: Iterable[Check]) -> list[Check]:
    """Returns the checks that count for the verdict: those of delay and throughput."""
    return [check for check in checks if check.column != "lost"]


def misses(checks: Iterable[Check]) -> list[str]:
    """Describes each figure that does not agree."""
    return [
        f"{check.cell.name}: {check.column} {check.ours.mean:.{COLUMNS[check.column]}f}, ns-2 "
        f"{check.theirs.mean:.{COLUMNS[check.column]}f}, allowed ± "
        f"{check.allowed:.{COLUMNS[check.column]}f}"
        for check in checks
        if not check.agrees
    ]


def mean_difference(checks: Iterable[Check]) -> float:
    """Returns the mean absolute difference as a share of ns-2's means."""
    return fmean(abs(check.difference / check.theirs.mean) for check in checks)


def verdict(checks: Sequence[Check]) -> list[str]:
    """Describes each criterion that does not hold."""
    deciding = judged(checks)
    found = misses(deciding)
    apart = mean_difference(deciding)
    failures = [] if len(found) <= MOST_MISSES else found
    if apart > MEAN_DIFFERENCE:
        failures = [*failures, f"the studies' figures are {_percent(apart)} apart on average"]
    return failures


def section(checks: Sequence[Check], seeds: range) -> str:
    """Returns this part of the report, as Markdown."""
    deciding = judged(checks)
    lines = ["| table | figures | that agree | delay | throughput | datagrams lost |"]
    lines += ["| --- | --- | --- | --- | --- | --- |"]
    for study in STUDIES:
        for table in LOSS:
            own = [one for one in checks if (one.cell.study, one.cell.table) == (study, table)]
            by = {column: [one for one in own if one.column == column] for column in COLUMNS}
            missed = fmean(abs(one.difference) for one in by["lost"])
            agree = sum(one.agrees for one in judged(own))
            delay, throughput = (mean_difference(by[c]) for c in ("delay_ms", "throughput_kbps"))
            figures = [f"{study} {table}", str(len(judged(own))), str(agree)]
            figures += [_percent(delay), _percent(throughput), f"{missed:.1f}"]
            lines.append(f"| {' | '.join(figures)} |")
    found = misses(deciding)
    lost = [one for one in checks if one.column == "lost"]
    summary = (
        f"**{len(deciding) - len(found)} of {len(deciding)} means of delay and throughput agree**, "
        f"{_percent(mean_difference(deciding))} apart on average; of the {len(lost)} loss counts "
        f"{sum(one.agrees for one in lost)} do."
    )
    first = checks[0].cell
    return (
        f"{STUDIES_HEAD}\nSeeds {seeds[0]} to {seeds[-1]} of ns-2, {_seeds_of_ours()} of ours. "
        f"{summary}\n\n"
        + "\n".join(lines)
        + "\n"
        + "".join(f"\n* {miss}" for miss in found)
        + f"{STUDIES_READING}\n```sh\nns {' '.join(first.arguments)} seed=1\n"
        + f"goodqueue reproduce {first.study} {first.table}\n```\n"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _seeds_of_ours() -> int:
    return max(table.open.count for table in tables())


def record(theirs: Iterable[tuple[Cell, Sequence[Figures]]]) -> list[Path]:
    """Writes ns-2's figures beside the published tables and returns the files."""
    by_table: dict[tuple[str, str], list[tuple[Cell, Sequence[Figures]]]] = {}
    for cell, runs in theirs:
        by_table.setdefault((cell.study, cell.table), []).append((cell, runs))
    return [_record(study, table, rows) for (study, table), rows in by_table.items()]


def _record(study: str, table: str, rows: Sequence[tuple[Cell, Sequence[Figures]]]) -> Path:
    path = Path("python/goodqueue/papers") / study / f"{table}-ns2.csv"
    keys = ("scheme", "rate_mbps", "buffer")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*keys, "n", *(f"{c}_{s}" for c in COLUMNS for s in ("mean", "sd"))])
        for cell, runs in rows:
            figures = []
            for column in COLUMNS:
                values = [run[column] for run in runs]
                figures += [f"{fmean(values):.4f}", f"{stdev(values):.4f}"]
            writer.writerow([*(cell.row[key] for key in keys), len(runs), *figures])
    return path


def main() -> None:
    """Runs ns-2 on every cell and stores its figures."""
    with workers(2) as threads:
        started = submit(threads, RECORDED_SEEDS)
        theirs = []
        for number, (cell, runs) in enumerate(started, 1):
            theirs.append((cell, [run.result() for run in runs]))
            print(f"[{number}/{len(started)}] {cell.name}", file=sys.stderr)
    for path in record(theirs):
        print(f"wrote {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
