"""Table I: buffers of two rules for 19 numbers of flows.

The paper gives C T of each row, measured, but not the T_e and the burst length that its column of
BSCL comes from. So ours is computed with what would be usual, T_e as if round trips were those of
our 18 sources and alpha = 0.55, and can have the column's shape only.
"""

from __future__ import annotations

import csv
import math
from importlib.resources import files
from typing import TYPE_CHECKING

from goodqueue.papers.cells import Cell, Remark, Reproduction, Spread
from goodqueue.papers.dhamdhere2005.mix import Traffic
from goodqueue.papers.shapes import TESTS
from goodqueue.sizing.rules.bscl import bscl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodqueue.study.runner import Runner

LEAST_AT = 17
"""Flows where the paper's column of BSCL is least; above, its loss bound decides."""

WHY_NOT = Remark(
    "the row's T_e and burst length are not printed, and no single T_e gives the column: 20 flows "
    "would need 15.7 ms where the shortest round trip is 20 ms, 2 flows a burst below one loss"
)


class Table1:
    """The table; nothing has to be run for it."""

    paper = "dhamdhere2005"
    name = "table1"
    title = "Table I: buffers by C T / sqrt(N) and by BSCL, 50 Mb/s, 90 % local"
    seconds = 0.0

    def reproduce(self, runner: Runner) -> Reproduction:  # noqa: ARG002 - nothing to run
        """Both columns."""
        text = files(__package__).joinpath("table1.csv").read_text("utf-8")
        rows = list(csv.DictReader(text.splitlines()))
        flows = [int(row["locally_bottlenecked_flows"]) for row in rows]
        ours = [float(int(bscl(Traffic(count).link).packets)) for count in flows]
        shape = has_shape(ours, flows)
        cells = [
            _cell(row, "C T / sqrt(N)", "stanford_packets", _stanford(row)) for row in rows
        ] + [
            _cell(row, "BSCL", "bscl_packets", value, shape=shape)
            for row, value in zip(rows, ours, strict=True)
        ]
        return Reproduction(
            cells,
            [
                "C T / sqrt(N) is rounded down and uses the whole capacity.",
                (
                    "BSCL is computed with our T_e and a burst of 0.55 N packets; its shape is "
                    f"that it is least within two rows of {LEAST_AT} flows and rises from there."
                ),
            ],
        )


def has_shape(packets: Sequence[float], flows: Sequence[int]) -> bool:
    """Whether buffers are least within two rows of where the paper's are, and rise from there."""
    least = min(range(len(packets)), key=packets.__getitem__)
    near = abs(least - flows.index(LEAST_AT)) <= 2
    return near and packets[0] > packets[least] and TESTS["rises"](packets[least:], flows[least:])


def _stanford(row: Mapping[str, str]) -> float:
    flows = int(row["locally_bottlenecked_flows"])
    return float(math.floor(float(row["ct_avg_packets"]) / math.sqrt(flows)))


def _cell(
    row: Mapping[str, str], rule: str, column: str, value: float, *, shape: bool | None = None
) -> Cell:
    return Cell(
        {"flows": row["locally_bottlenecked_flows"], "C T, packets": row["ct_avg_packets"]},
        f"buffer by {rule}",
        "packets",
        0,
        row[column],
        Spread.exact(value),
        shape,
        remark=WHY_NOT if shape is not None else None,
    )
