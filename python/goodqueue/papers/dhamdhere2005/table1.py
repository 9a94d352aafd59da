"""Table I: buffers of two rules for 19 numbers of flows.

The paper measured C T for each row. It prints neither the round-trip times behind it nor the T_e
and the burst length from which its BSCL column follows. Our figures do not use its C T; they would
otherwise repeat its column of C T / sqrt(N) for any network. They follow from our 18 sources: both
rules get their round-trip times, and BSCL gets alpha = 0.55.
"""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING

from goodqueue._core import bscl
from goodqueue.core.intervals import Interval
from goodqueue.papers.cells import Cell, Remark, Reproduction, Spread
from goodqueue.papers.dhamdhere2005.claims import claims, stated
from goodqueue.papers.dhamdhere2005.mix import Traffic, stanford
from goodqueue.papers.dhamdhere2005.statements import claimed
from goodqueue.papers.dhamdhere2005.trees import CHOSEN, Tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goodqueue.study.runner import Runner

NEAR = 0.25
"""Largest relative distance from the printed buffer at which ours matches in shape."""

STANFORD, BSCL = "C T / sqrt(N)", "BSCL"

WHY_NOT = {
    STANFORD: Remark(
        "the printed C T means a T_avg of 384 ms at 2 flows and 164 ms at 400; our sources have "
        "183 to 241 ms, 217 ms for many flows, and the appendix names 217 ms"
    ),
    BSCL: Remark(
        "the row's T_e and burst length are not printed, and no single T_e gives the column: 20 "
        "flows would need 15.7 ms where the shortest round trip is 20 ms, 2 flows a burst below "
        "one loss"
    ),
}


class Table1:
    """Table I; it needs no runs."""

    paper = "dhamdhere2005"
    name = "table1"
    title = "Table I: buffers by C T / sqrt(N) and by BSCL, 50 Mb/s, 90 % local"
    seconds = 0.0

    def reproduce(self, runner: Runner) -> Reproduction:  # noqa: ARG002 - nothing to run
        """Returns both columns, and the claims about the shape of BSCL's column."""
        return Reproduction(
            list(cells()),
            [
                (
                    "Both columns are computed from the round trips of our 18 sources, and nothing "
                    "from the paper's C T. C T / sqrt(N) is rounded down and uses the whole "
                    "capacity. BSCL has a burst of 0.55 N packets."
                ),
                (
                    f"A buffer matches in shape if it lies within {NEAR:.0%} of the printed one. "
                    "That bound was set after BSCL's column had been seen, and before ours of "
                    "C T / sqrt(N)."
                ),
            ],
        )


def rows() -> list[dict[str, str]]:
    """Returns the rows of the table, as printed."""
    text = files(__package__).joinpath("table1.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


def cells(tree: Tree = CHOSEN) -> Iterator[Cell]:
    """Yields a cell for each printed buffer, and one for each claim about BSCL's column."""
    ours: dict[str, Callable[[Traffic], float]] = {
        STANFORD: lambda one: float(stanford(one).packets),
        BSCL: lambda one: float(int(bscl(one.link).packets)),
    }
    columns = {STANFORD: "stanford_packets", BSCL: "bscl_packets"}
    curves: dict[str, dict[int, Interval]] = {}
    for rule, packets in ours.items():
        for row in rows():
            flows = int(row["locally_bottlenecked_flows"])
            value = packets(Traffic(flows, tree=tree))
            curves.setdefault(rule, {})[flows] = Interval(value, 0)
            yield _cell(rule, flows, row[columns[rule]], value)
    for claim in claims(stated()["table1"]["claim"]):
        for cell in claimed(claim, curves, "packets"):
            yield replace(cell, row={"flows": cell.row["flows"]})


def _cell(rule: str, flows: int, printed: str, value: float) -> Cell:
    low, high = (float(printed) * (1 + sign * NEAR) for sign in (-1, 1))
    return Cell(
        {"flows": str(flows)},
        f"buffer by {rule}",
        "packets",
        0,
        printed,
        Spread.exact(value),
        low <= value <= high,
        remark=None if low <= value <= high else WHY_NOT[rule],
        asked=f"in shape: {math.ceil(low)} to {math.floor(high)}",
    )
