"""The figures of two studies: rows of their Tables 3 to 5, drawn over the buffer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from goodqueue.papers.cells import Reproduction

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodqueue.papers.cells import Cell
    from goodqueue.plots.style import Picture
    from goodqueue.study.runner import Runner

TABLES = {"table3": "1 %", "table4": "2 %", "table5": "5 %"}
"""Probability of random loss in each table."""

UNITS = {"loss": "loss"}
"""Words behind the values of a key in legends."""

DELAY = "TCP delay"
THROUGHPUT = "TCP throughput"
"""Labels of the two quantities in the tables."""


@dataclass(frozen=True, slots=True)
class Figure:
    """Lines over the buffer, one for each probability of random loss.

    Attributes:
        paper: name of the paper's folder.
        name: name of the figure, such as `figure5`.
        title: title of the figure.
        row: fixed values of the key columns of its rows.
        quantities: labels of the quantities that it shows.
        panels: key column with a panel for each of its values; "" for none.
    """

    paper: str
    name: str
    title: str
    row: Mapping[str, str]
    quantities: Sequence[str]
    panels: str = ""
    seconds: float = 1.0
    """Time of its runs in seconds; they are the runs of the tables."""

    def reproduce(self, runner: Runner) -> Reproduction:
        """Returns the cells of the tables that the figure shows."""
        from goodqueue.papers.experiment import experiment

        cells = [
            self._shown(cell, table, loss)
            for table, loss in TABLES.items()
            for cell in experiment(self.paper, table).reproduce(runner).cells
            if cell.quantity in self.quantities
            and all(cell.row[key] == value for key, value in self.row.items())
        ]
        if self.panels:
            cells.sort(key=lambda cell: cell.quantity)
        return Reproduction(cells, (), partial(self._pictures, cells))

    def _shown(self, cell: Cell, table: str, loss: str) -> Cell:
        rest = {k: v for k, v in cell.row.items() if k not in {*self.row, self.panels}}
        quantity = cell.quantity
        if self.panels:
            quantity = f"{quantity} at {cell.row[self.panels]} Mb/s"
        return replace(cell, row={"loss": loss, **rest}, quantity=quantity, repeats=table)

    def _pictures(self, cells: Sequence[Cell]) -> Sequence[Picture]:
        from goodqueue.papers.pictures import comparisons

        name = f"{self.paper}-{self.name}"
        xlabel = "queue-limit of ns-2, packets"
        return comparisons(name, self.title, cells, "buffer", xlabel, units=UNITS)


def drop_tail() -> list[Figure]:
    """Returns figures 5 to 10 of the study of drop tail: a pair for each rate."""
    number = 5
    found = []
    for rate in ("0.05", "0.1", "0.5"):
        for scheme in ("existing", "proposed"):
            title = f"Figure {number}: drop tail at {rate} Mb/s, {scheme} buffers"
            row = {"rate_mbps": rate, "scheme": scheme}
            found.append(Figure("ahmad2020", f"figure{number}", title, row, (DELAY, THROUGHPUT)))
            number += 1
    return found


def red() -> list[Figure]:
    """Returns figures 3 to 6 of the study of RED: delay, then throughput."""
    number = 3
    found = []
    for quantity, word in ((DELAY, "delay"), (THROUGHPUT, "throughput")):
        for scheme in ("existing", "proposed"):
            title = f"Figure {number}: {word} with RED, {scheme} buffers"
            row = {"scheme": scheme}
            name = f"figure{number}"
            found.append(Figure("wisdom2021", name, title, row, (quantity,), "rate_mbps"))
            number += 1
    return found
