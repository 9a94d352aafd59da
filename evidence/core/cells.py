"""Canaries: short runs of an experiment's scenarios, whose figures are compared to the last bit.

An engine that gives the same figures in these cells is taken to give the same in the whole
experiment. A change of the engine that no cell of an experiment meets leaves the experiment fresh.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from evidence.core.answers import Asked
from goodqueue.core.parallel import workers
from goodqueue.errors import ScenarioError
from goodqueue.runs.api import load
from goodqueue.runs.results.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from goodqueue._core import Cancel
    from goodqueue.runs.engines import Engine

Figures = dict[str, float | int | None]
"""Figures of one run by name."""

MAX_CROSSINGS = 400_000
"""Largest number of packets that the cells of one canary pass over links, in all. The engine serves
about a million of them in a second of processor time."""

HYBRID_SPEED = 10
"""Number of packets of the hybrid engine that count as one of the packet engine: it is faster."""

MAX_CELLS = 64
"""Largest number of cells of one canary."""

LINK_FIGURES = ("arrivals", "drops", "marks", "mean_queueing_delay_s")
FLOW_FIGURES = ("goodput_bps", "retransmissions", "mean_rtt_s")

NUMBER = re.compile(r"\d+(\.\d+)?")


@dataclass(frozen=True)
class Cell:
    """One run of an experiment.

    Attributes:
        scenario: path of the scenario, relative to the root of the repository, or its text.
        settings: the values that replace those of the scenario, by path, as JSON.
        seed: the seed; None for the scenario's own.
        engine: the engine that runs it.
    """

    scenario: str
    settings: str = "{}"
    seed: int | None = None
    engine: Engine = "packets"

    @classmethod
    def of(cls, scenario: str, settings: Mapping[str, object]) -> Cell:
        """Returns the cell of a scenario with these settings and the scenario's seed."""
        return cls(scenario, json.dumps(settings))

    @property
    def kind(self) -> str:
        """The cell without its numbers: cells that differ in numbers only have the same kind."""
        return NUMBER.sub("#", f"{self.engine} {self.scenario} {self.settings}")

    def until(self, duration_s: float) -> Cell:
        """Returns the cell with another end, measured from the start of the run."""
        end = {"duration": f"{max(round(duration_s * 1e6), 1)}us", "warmup": "0s"}
        return replace(self, settings=json.dumps({**json.loads(self.settings), **end}))

    def within(self, room: float) -> Cell:
        """Returns the cell with a duration in which at most about `room` packets cross links.

        A duration that ends before a flow can start is refused by the scenario and passed over. So
        the shortest possible cell may have more packets.
        """
        room *= HYBRID_SPEED if self.engine == "hybrid" else 1
        duration_s = self.duration_s
        shorter = None
        for share in (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1):
            cut = self.until(duration_s * share)
            try:
                passed = crossings(cut.run())
            except ScenarioError:
                continue
            if passed > room:
                return shorter or cut
            shorter = cut
        return shorter or self

    def run(self) -> Figures:
        """Runs the cell and returns its figures."""
        return _run(self)

    @property
    def duration_s(self) -> float:
        """The duration of the run, in seconds."""
        return load(self.scenario, set=json.loads(self.settings)).duration_s

    def document(self, figures: Figures) -> dict[str, Any]:
        """Returns the cell and its figures as they are stored."""
        text = {"scenario": self.scenario, "set": json.loads(self.settings), "seed": self.seed}
        if self.engine != "packets":
            text["engine"] = self.engine
        return {**{key: value for key, value in text.items() if value}, "figures": figures}


def cell_in(document: Mapping[str, Any]) -> Cell | Asked:
    """Returns the cell, or the question, of a stored document."""
    if "command" in document:
        return Asked(document["command"])
    settings = json.dumps(document.get("set", {}))
    engine = document.get("engine", "packets")
    return Cell(document["scenario"], settings, document.get("seed"), engine)


@cache
def _run(cell: Cell) -> Figures:
    scenario = load(cell.scenario, set=json.loads(cell.settings), seed=cell.seed)
    outcome = scenario.run(engine=cell.engine)
    return figures_of(Result(outcome, "").summary)


def figures_of(summary: Mapping[str, Any]) -> Figures:
    """Returns the sums of figures over all links and over all flows of a summary.

    Sums of floats are exact enough here: the same engine adds the same numbers in the same order.
    """
    found: Figures = {}
    for kind, names in (("links", LINK_FIGURES), ("flows", FLOW_FIGURES)):
        for name in names:
            values = [one[name] for one in summary[kind].values() if one.get(name) is not None]
            if values:
                found[f"{kind}.{name}"] = sum(values)
    return found


def crossings(figures: Figures) -> int:
    """Returns the number of packets that arrived at links."""
    return int(figures.get("links.arrivals") or 0)


def chosen(cells: Iterable[Cell | Asked]) -> list[Cell | Asked]:
    """Returns one cell of each kind, shortened so that all together are cheap.

    A kind is represented by its first cell.

    Raises:
        ValueError: if the cells are of more kinds than a canary has room for.
    """
    kinds = list({cell.kind: cell for cell in reversed(list(cells))}.values())[::-1]
    if len(kinds) > MAX_CELLS:
        raise ValueError(f"{len(kinds)} kinds of cells: choose at most {MAX_CELLS}")
    room = MAX_CROSSINGS / max(len(kinds), 1)
    return [cell.within(room) for cell in kinds]


def prepare(cells: Iterable[Cell | Asked]) -> None:
    """Runs cells in parallel; their `run` then returns their figures at once."""
    with workers() as threads:
        for done in [threads.submit(partial(_prepared, cell)) for cell in dict.fromkeys(cells)]:
            done.result()


def _prepared(cell: Cell | Asked, _cancel: Cancel) -> None:
    cell.run()


def agree(documents: Sequence[Mapping[str, Any]]) -> bool:
    """Returns True if every stored cell, run again, has its stored figures to the last bit."""
    return all(cell_in(one).run() == one["figures"] for one in documents)


def key_of(documents: Sequence[Mapping[str, Any]]) -> str:
    """Returns a digest of the cells without their figures: things with the same share a canary."""
    cells = [{**one, "figures": None} for one in documents]
    return hashlib.sha256(json.dumps(cells, sort_keys=True).encode()).hexdigest()[:16]


@dataclass
class Recorder:
    """Collects the cells that a maker runs."""

    cells: list[Cell] = field(default_factory=list)

    def add(self, cell: Cell) -> None:
        """Adds a cell."""
        self.cells.append(cell)

    def taken(self) -> Iterator[Cell]:
        """Yields the cells since the last call, and forgets them."""
        taken, self.cells = self.cells, []
        yield from taken


RECORDER = Recorder()
"""Cells of the maker that runs now."""
