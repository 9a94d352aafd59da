"""Figures of docs/which-queue.md: the characterisation of every queue, and the cost of each."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evidence.characterize.make import EVERY_FIGURE
from goodqueue.output.terminal import number

if TYPE_CHECKING:
    from pathlib import Path

COSTS = "crates/bench/queues.tsv"
"""Instructions per packet of each discipline, as `goodqueue-bench --queue-counts` writes them."""

EXAMPLES = {
    "drop_tail, 1 BDP": "drop_tail",
    "drop_tail, 1000 packets": "drop_tail",
    "drop_head, 1 BDP": "head_drop",
    "red": "red, Linux",
    "ns2_red, adaptive": "red, adaptive",
}
"""Names of the benchmark's examples, where they are not those of the table of queues."""

LEAST_SHOWN = 0.01
"""Smallest figure that a table writes."""


@dataclass(frozen=True)
class Figure:
    """A mean and the half width of its 95 % interval, in the units of a table."""

    mean: float
    half: float

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.mean - self.half

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.mean + self.half

    def __str__(self) -> str:
        if 0 <= self.mean < LEAST_SHOWN and self.half < LEAST_SHOWN:
            return f"< {LEAST_SHOWN}"
        return f"{number(self.mean, 3).removesuffix('.')} ± {number(self.half, 2)}"


@dataclass(frozen=True)
class Quantity:
    """A figure of a section.

    Attributes:
        section: number of the section.
        case: name of the case.
        metric: the metric.
        factor: factor from the metric's unit to that of the table.
    """

    section: str
    case: str
    metric: str
    factor: float


def use(case: str) -> Quantity:
    """Returns the utilisation of a case of the operating range, in per cent."""
    return Quantity("12", case, "bottleneck.utilization", 100)


def ping(case: str) -> Quantity:
    """Returns what a ping waits in a case of the operating range, p99 in ms."""
    return Quantity("12", case, "ping.p99_latency_under_load_s", 1000)


class Figures:
    """Every figure of every queue.

    Attributes:
        queues: names of the queues, in the order of the table.
        results_version: version of the results.
        seeds: number of seeds of each queue.
        compiler: compiler for which the instructions hold.
    """

    def __init__(self, root: Path) -> None:
        """Reads the committed files.

        Args:
            root: the checkout.
        """
        with (root / EVERY_FIGURE).open(encoding="utf-8", newline="") as file:
            (_, version), heads, *rows = list(csv.reader(file))
        table = [dict(zip(heads, row, strict=True)) for row in rows]
        self._rows = {
            (row["queue"], row["section"], row["case"], row["metric"]): row for row in table
        }
        self.queues = list(dict.fromkeys(row["queue"] for row in table))
        self.results_version = int(version)
        self.seeds = {
            name: max(int(row["seeds"]) for row in table if row["queue"] == name)
            for name in self.queues
        }
        lines = (root / COSTS).read_text(encoding="utf-8").splitlines()
        self.compiler = [line for line in lines if line.startswith("#")][-1].lstrip("# ")
        cells = [line.split("\t") for line in lines if not line.startswith("#")][1:]
        self._costs = {name: int(instructions) for name, instructions, _ in cells}

    def of(self, queue: str, quantity: Quantity) -> Figure:
        """Returns a figure of a queue.

        Raises:
            KeyError: if there is no such figure.
        """
        row = self._rows[queue, quantity.section, quantity.case, quantity.metric]
        factor = quantity.factor
        return Figure(float(row["mean"]) * factor, float(row["half_width"]) * factor)

    def cost(self, queue: str) -> int | None:
        """Returns the instructions per packet of a queue; None if they are not counted."""
        return self._costs.get(EXAMPLES.get(queue, queue))
