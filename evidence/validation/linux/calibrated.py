"""The kernel's figures of docs/calibrate.md beside simulations of today, without emulating again.

`6.18-calibration.csv` has the figures of `goodqueue calibrate --jobs 5` on Linux 6.18 (three
emulations of 20 s for each cell): means and half widths of their 95 % intervals. Delays are
queueing delays; drops are those of 20 s.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from evidence.core.cells import Cell as Evidenced
from evidence.core.pages import with_part
from evidence.validation.linux.reading import LATENESS
from goodqueue.core.intervals import t_quantile
from goodqueue.live.calibration.cells import Cell
from goodqueue.live.calibration.cells import Path as Link
from goodqueue.live.calibration.compare import compare
from goodqueue.live.calibration.ledger import Finished
from goodqueue.live.calibration.theory import theory
from goodqueue.output.live.calibration import counts, disagreements, table
from goodqueue.plots.calibration import pictures
from goodqueue.runs.api import run
from goodqueue.runs.settings import scenario_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goodqueue.live.calibration.compare import Row
    from goodqueue.runs.settings import Settings

PAGE = Path("docs/calibrate.md")
RECORDED = Path(__file__).with_name("6.18-calibration.csv")
LINK = Link()
SEEDS = 20
EMULATIONS = 3
"""Emulations of each cell; one of the 270 was not trusted and does not count."""


def _values(mean: float, half_width: float) -> Sequence[float]:
    """Returns three values with this mean and this half width of its 95 % interval."""
    spread = half_width * math.sqrt(EMULATIONS) / t_quantile(EMULATIONS - 1)
    return (mean - spread, mean, mean + spread)


def recorded() -> dict[Cell, list[Finished]]:
    """Returns three runs for each cell that have the recorded means and intervals."""
    found = {}
    with RECORDED.open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            cell = Cell(row["queue"], row["control"], int(row["flows"]), int(row["limit_packets"]))
            columns = [
                _values(float(row[mean]), float(row[half]))
                for mean, half in (
                    ("utilization_percent", "utilization_half_width"),
                    ("delay_ms", "delay_half_width"),
                    ("drops", "drops_half_width"),
                )
            ]
            found[cell] = [
                Finished("", used / 100, delay / 1000, drops)
                for used, delay, drops in zip(*columns, strict=True)
            ]
    return found


def simulated(settings: Settings, seeds: int) -> list[Finished]:
    """Returns runs of a cell with the seeds from 1 on."""
    found = []
    for seed in range(1, seeds + 1):
        link = run(settings, seed=seed).summary["links"]["bottleneck"]
        delay_s = link["mean_queueing_delay_s"] or 0.0
        found.append(Finished("", link["utilization"], delay_s, link["drops"]))
    return found


def compared(cell: Cell, kernel: Sequence[Finished], settings: Settings, seeds: int) -> Row:
    """Returns the comparison of a cell with its recording."""
    return compare(cell, LINK, theory(cell, LINK), simulated(settings, seeds), kernel)


def with_late_packets(cell: Cell, lateness: Path) -> Settings:
    """Returns a cell whose packets are late when they are read and when they are delivered."""
    settings = cell.settings(LINK)
    jitter = {"law": "empirical", "file": str(lateness)}
    bottleneck = settings["topology"]["bottleneck"]
    bottleneck["jitter"] = bottleneck["reverse"]["jitter"] = jitter
    for access in ("access", "far_access"):
        settings["topology"][access] = {"rate": "10Gbps", "jitter": jitter}
    return settings


def parts(seeds: int = SEEDS) -> dict[str, str]:
    """Runs all cells, draws their picture, and returns the parts of the page by name."""
    kernel = recorded()
    rows = [compared(cell, runs, cell.settings(LINK), seeds) for cell, runs in kernel.items()]
    found = counts(rows)
    for picture in pictures(rows):
        picture.save(Path("docs/img"))
    with TemporaryDirectory() as folder:
        lateness = Path(folder) / "lateness.csv"
        lateness.write_text(LATENESS, encoding="utf-8")
        late = [
            compared(cell, runs, with_late_packets(cell, lateness), seeds)
            for cell, runs in kernel.items()
            if (cell.control, cell.flows) == ("bbr", 1)
        ]
    differing = [f"- {text}" for text in disagreements(rows)]
    written = {
        "counts": [
            "Of all figures: "
            + ", ".join(f"{found[each]} {word}" for each, word in VERDICTS.items())
            + "."
        ],
        "differences": [f"Number of figures that differ: {len(differing)}.", "", *differing],
        "cells": table(rows),
        "late packets": table(late),
    }
    return {name: "".join(f"{line}\n" for line in lines) for name, lines in written.items()}


VERDICTS = {"agrees": "agree", "differs": "differ", "undecided": "undecided"}

PARTS = ("counts", "differences", "cells", "late packets")


def make() -> None:
    """Writes the parts of docs/calibrate.md."""
    text = PAGE.read_text(encoding="utf-8")
    for name, part in parts().items():
        text = with_part(text, name, part)
    PAGE.write_text(text, encoding="utf-8")


def cells() -> Iterator[Evidenced]:
    """Yields one cell of each control and queue."""
    for cell in recorded():
        described = scenario_of(cell.settings(LINK), "a cell")
        yield Evidenced(described.canonical_toml())
