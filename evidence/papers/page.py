"""The tables of a paper's page, each between the marks of a part of the page.

Parts have these names:

    distances                    distances between the paper, other simulators and ours
    controls                     matches of models that are wrong on purpose
    figures of EXPERIMENT        our figures over the last key of the rows
    conclusions of EXPERIMENT    rows in which each conclusion of the paper holds or fails
    counts                       number of cells of each experiment with each verdict
    claims                       every claim, its bound, and the means that decide it
"""

from __future__ import annotations

import math
import re
from itertools import groupby
from statistics import fmean
from typing import TYPE_CHECKING

from evidence.core.pages import with_part
from goodqueue.papers.cells import Finding, number
from goodqueue.papers.experiment import experiment, experiments
from goodqueue.papers.table import TableExperiment
from goodqueue.papers.tally import controls, tally

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from goodqueue.papers.cells import Cell
    from goodqueue.study.runner import Runner

Line = list[str]

MARKED = re.compile(
    r"<!-- (?P<part>(?P<what>distances|controls|figures of|conclusions of|counts|claims) ?"
    r"(?P<name>[\w-]*)): begin -->"
)

MOST_NAMED = 3
"""Largest number of ratios of a group that are listed; of a larger group only the range is printed.
"""


def parts(text: str) -> list[str]:
    """Returns the names of the parts of a paper's page that this program writes."""
    return [found["part"] for found in MARKED.finditer(text)]


def filled(text: str, name: str, runner: Runner) -> str:
    """Returns the text of a paper's page with its marked tables filled in."""
    for found in MARKED.finditer(text):
        lines = _lines(found["what"], name, found["name"], runner)
        written = "".join(f"| {' | '.join(line)} |\n" for line in lines)
        text = with_part(text, found["part"], f"\n{written}\n")
    return text


def _lines(what: str, name: str, table: str, runner: Runner) -> Iterator[Line]:
    match what:
        case "distances":
            return distances(name, runner)
        case "counts":
            return counts(name, runner)
        case "claims":
            return claims(name, runner)
        case "controls":
            return wrong_models(name, runner)
        case "figures of":
            return figures(_table(name, table), runner)
        case _:
            return conclusions(_table(name, table), runner)


def distances(name: str, runner: Runner) -> Iterator[Line]:
    """Yields the distances between the paper, another simulator and ours, by table and quantity."""
    tables = _compared(name, runner)
    theirs = tables["all"][0].beside[0].label
    heads = ["", "paper and ours", f"paper and {theirs}", f"{theirs} and ours"]
    verdicts = tally(tables["all"]).figures
    yield [*heads, *verdicts, f"means that agree with {theirs}"]
    yield ["---"] * (len(heads) + len(verdicts) + 1)
    for title, cells in tables.items():
        for quantity in dict.fromkeys(cell.quantity for cell in cells):
            members = [cell for cell in cells if cell.quantity == quantity]
            yield [f"{title}: {quantity}", *_distances(members)]


def _compared(name: str, runner: Runner) -> dict[str, Sequence[Cell]]:
    """Returns the cells by table, and all cells under the key `all`."""
    tables = {
        one.name.replace("table", "Table "): one.reproduce(runner).cells
        for one in experiments(name)
        if isinstance(one, TableExperiment) and one.is_compared
    }
    return {**tables, "all": [cell for cells in tables.values() for cell in cells]}


def wrong_models(name: str, runner: Runner) -> Iterator[Line]:
    """Yields the number of matches of our model and of each wrong model, by quantity."""
    yield [
        "wrong on purpose",
        "quantity",
        "figures",
        "ours match",
        "weakly",
        "it matches",
        "weakly",
    ]
    yield ["---"] * 7
    for one in controls(_compared(name, runner)["all"]):
        counts = (one.cells, one.ours, one.ours_weak, one.matches, one.weak)
        yield [one.name, one.quantity, *map(str, counts)]


def _distances(cells: Sequence[Cell]) -> Iterator[str]:
    printed = [float(cell.published or "nan") for cell in cells]
    theirs = [cell.beside[0].spread.mean for cell in cells]
    ours = [cell.ours.mean for cell in cells]
    for one, other in ((printed, ours), (printed, theirs), (theirs, ours)):
        if cells[0].unit:
            yield f"{100 * fmean(abs(a / b - 1) for a, b in zip(one, other, strict=True)):.1f} %"
        else:
            yield f"{fmean(abs(a - b) for a, b in zip(one, other, strict=True)):.1f}"
    yield from map(str, tally(cells).figures.values())
    yield f"{sum(bool(cell.beside[0].agrees) for cell in cells)} of {len(cells)}"


def figures(one: TableExperiment, runner: Runner) -> Iterator[Line]:
    """Yields a line for every group of rows, with a column for every value of the last key."""
    *groups, axis = one.keys
    quantities = one.columns.values()
    rows: dict[tuple[str, ...], dict[str, Line]] = {}
    for cell in one.reproduce(runner).cells:
        if cell.quantity in {quantity.label for quantity in quantities}:
            line = rows.setdefault(_places(one, cell.row, groups), {})
            line.setdefault(cell.row[axis], []).append(number(cell.ours.mean, cell.digits))
    shown = ", ".join(f"{each.label} {each.unit}".strip() for each in quantities)
    values = list(dict.fromkeys(value for line in rows.values() for value in line))
    yield [f"{shown} at {one.keys[axis]['label']}", *values]
    yield ["---"] * (1 + len(values))
    for group, line in rows.items():
        yield [", ".join(group), *(", ".join(line.get(value, [])) for value in values)]


def conclusions(one: TableExperiment, runner: Runner) -> Iterator[Line]:
    """Yields every conclusion with the ratios for each verdict."""
    # Claims about the shape of a row are no ratios, and the text of a page has them.
    cells = [
        cell
        for cell in one.reproduce(runner).cells
        if cell.finding is not None and not math.isnan(cell.ours.mean)
    ]
    shown = [each for each in Finding if any(cell.finding is each for cell in cells)]
    yield ["claim, and the bound on the ratio", *map(str, shown)]
    yield ["---"] * (1 + len(shown))
    for quantity, group in groupby(cells, key=lambda cell: cell.quantity):
        members = list(group)
        sides = ([cell for cell in members if cell.finding is each] for each in shown)
        yield [quantity, *(_ratios(one, side) for side in sides)]


def _ratios(one: TableExperiment, cells: Sequence[Cell]) -> str:
    """Formats ratios, grouped by the first key of their rows; undecided ones with intervals."""
    said = []
    for first, group in groupby(cells, key=lambda cell: _places(one, cell.row, [*cell.row][:1])):
        members = list(group)
        means = [number(cell.ours.mean, cell.digits) for cell in members]
        if len(members) > MOST_NAMED:
            low, high = min(means, key=float), max(means, key=float)
            said.append(": ".join((*first, f"{low} to {high}")))
        else:
            rest = [_rest(one, cell) for cell in members]
            named = (f"{a} ({b})" if b else a for a, b in zip(means, rest, strict=True))
            said.append(": ".join((*first, ", ".join(named))))
    return "; ".join(said)


def _rest(one: TableExperiment, cell: Cell) -> str:
    """Returns the other keys of a ratio, and its interval if it is undecided."""
    said = [*_places(one, cell.row, [*cell.row][1:])]
    if cell.finding is Finding.UNDECIDED:
        said.append(cell.ours.text(cell.digits))
    return ", ".join(said)


def counts(name: str, runner: Runner) -> Iterator[Line]:
    """Yields a line for each experiment, one for all, and one for claims of this project."""
    found = {one.name: list(one.reproduce(runner).cells) for one in experiments(name)}
    every = [cell for cells in found.values() for cell in cells]
    found["all"] = every
    ours = [cell for cell in every if cell.is_ours]
    if ours:
        found["of these ours, not the paper's"] = ours
    verdicts = {label: tally(cells).every for label, cells in found.items()}
    # The search of an open condition has no verdicts.
    verdicts = {label: counted for label, counted in verdicts.items() if any(counted.values())}
    heads = list(verdicts["all"])
    yield ["", *heads]
    yield ["---"] * (1 + len(heads))
    for label, counted in verdicts.items():
        yield [label, *(str(counted[head] or "") for head in heads)]


def claims(name: str, runner: Runner) -> Iterator[Line]:
    """Yields a line for each claim: the means that decide it, in the column of their verdict."""
    yield ["", "claim", "asked", *map(str, Finding)]
    yield ["---"] * (3 + len(Finding))
    for one in experiments(name):
        cells = [cell for cell in one.reproduce(runner).cells if cell.finding is not None]
        for (says, asked), group in groupby(cells, key=lambda cell: (cell.quantity, cell.asked)):
            members = list(group)
            yield [one.name, says.strip('"'), asked, *(_means(members, each) for each in Finding)]


def _means(cells: Sequence[Cell], wanted: Finding) -> str:
    """Formats the means with one verdict, by curve if the claim concerns several curves."""
    several = len({cell.row.get("curve") for cell in cells}) > 1
    said = []
    chosen = [cell for cell in cells if cell.finding is wanted]
    for curve, group in groupby(chosen, key=lambda cell: cell.row.get("curve")):
        means = ", ".join(f"{_mean(cell)} at {cell.row['flows']}" for cell in group)
        said.append(f"{curve}: {means}" if several else means)
    return "; ".join(said)


def _mean(cell: Cell) -> str:
    """Formats a mean with its interval; an interval that ends at a possible value has two ends."""
    ours, digits = cell.ours, cell.digits
    text = number(ours.mean, digits)
    if not ours.high > ours.low:
        return text
    if math.isclose(ours.high - ours.mean, ours.mean - ours.low, abs_tol=1e-9):
        return f"{text} ± {number(ours.high - ours.mean, digits)}"
    return f"{text} ({number(ours.low, digits)} to {number(ours.high, digits)})"


def _places(one: TableExperiment, row: Mapping[str, str], keys: Sequence[str]) -> tuple[str, ...]:
    units = {key: one.keys[key].get("unit", "") if key in one.keys else "" for key in keys}
    return tuple(f"{row[key]} {unit}".strip() for key, unit in units.items())


def _table(name: str, wanted: str) -> TableExperiment:
    found = experiment(name, wanted)
    assert isinstance(found, TableExperiment), f"{wanted} is no table"
    return found
