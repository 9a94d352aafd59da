"""The search of the open tree: what every tree reproduces of Table I and of figures 2 and 3.

These are the figures that the round-trip times decide. Each tree runs them, and the cells count
the verdicts. They are no verdicts themselves, so that no total contains a claim twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.papers.cells import Cell, Finding, Reproduction, Spread, Verdict
from goodqueue.papers.dhamdhere2005 import table1
from goodqueue.papers.dhamdhere2005.claims import claims, stated
from goodqueue.papers.dhamdhere2005.figures import FIGURES
from goodqueue.papers.dhamdhere2005.mix import ALONE, Mix
from goodqueue.papers.dhamdhere2005.statements import cells
from goodqueue.papers.dhamdhere2005.trees import CHOSEN, TREES, WHY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goodqueue.papers.dhamdhere2005.trees import Tree
    from goodqueue.study.runner import Runner

SEARCHED = ("fig2", "fig2-loss", "fig3")
"""Figures that are simulated with every tree."""

BEHIND_T_E = 400
"""Number of flows of which the effective round-trip time is printed: all sources have some."""


class TreesExperiment:
    """Verdicts on the paper's claims, tree by tree."""

    paper = "dhamdhere2005"
    name = "trees"

    def __init__(self) -> None:
        entry = stated()[self.name]
        self.title: str = entry["title"]
        self.seconds = float(entry["seconds"])

    def reproduce(self, runner: Runner) -> Reproduction:
        """Runs what the store lacks and counts verdicts for every tree."""
        counted = [cell for tree in TREES.values() for cell in _cells(tree, runner)]
        return Reproduction(
            sorted(counted, key=lambda cell: cell.quantity),
            [WHY, *(f"{one.name}: {one.why}" for one in TREES.values()), f"Chosen: {CHOSEN.name}."],
        )


def _cells(tree: Tree, runner: Runner) -> Iterator[Cell]:
    """Yields the effective round-trip time of a tree, and its counts of verdicts."""
    mix = Mix(runner, tree=tree)
    effective = mix.traffic(BEHIND_T_E, ALONE).link.harmonic_rtt_s
    yield _figure({"tree": tree.name}, "T_e of 400 flows", "ms", 1000 * effective, 1)
    table = list(table1.cells(tree))
    near = sum(cell.verdict in {Verdict.MATCHES, Verdict.SHAPE} for cell in table)
    yield _figure({"tree": tree.name}, "buffers of Table I within 25 %, of 38", "", near)
    yield _claims(tree, "table1", table)
    for name in SEARCHED:
        yield _claims(tree, name, cells(FIGURES[name](mix), claims(stated()[name]["claim"])))


def _claims(tree: Tree, experiment: str, found: Sequence[Cell] | Iterator[Cell]) -> Cell:
    """Returns the number of claims that hold, beside those that are undecided and that do not."""
    verdicts = [cell.finding for cell in found if cell.finding is not None]
    counts = {one: Spread.exact(verdicts.count(one)) for one in Finding}
    return Cell(
        {"tree": tree.name, "experiment": experiment},
        "points of claims that hold",
        "",
        0,
        None,
        counts[Finding.HOLDS],
        variants={str(one): counts[one] for one in (Finding.UNDECIDED, Finding.UNREPRODUCED)},
    )


def _figure(row: dict[str, str], quantity: str, unit: str, value: float, digits: int = 0) -> Cell:
    return Cell(row, quantity, unit, digits, None, Spread.exact(value))
