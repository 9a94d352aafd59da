"""Reproductions as tables: their cells, the counts of their verdicts, and their controls."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from goodqueue.output.terminal import MISSING, say, stdout, table
from goodqueue.papers.cells import GRADES, Cell, Finding, Reproduction, remarks
from goodqueue.papers.tally import controls, of_all, once, tally

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goodqueue.output.terminal import Figures
    from goodqueue.papers.experiment import Experiment
    from goodqueue.papers.tally import Control

COLOURS = {"matches": "green", "shape": "yellow", "not": "red"}

CONTROLS = "Controls: deliberately wrong models"
CONTROL_HEADS = (
    *("control", "quantity", "cells", "ours match", "ours weakly"),
    *("control matches", "control weakly"),
)

CLAIMS = f"{MISSING}: the paper prints no number, and a claim of its text has the verdict"


def print_reproduction(one: Experiment, done: Reproduction) -> None:
    """Prints a small table for each quantity, and the known reasons of mismatches."""
    console = stdout()
    say(f"[bold]{one.paper} {one.name}[/]: {one.title}", markup=True)
    for sentence in done.sentences:
        console.print(sentence, markup=False)
    figures = [cell for cell in done.cells if cell.finding is None]
    concluded = [cell for cell in done.cells if cell.finding is not None]
    for quantity, cells in groupby(figures, key=lambda cell: (cell.quantity, cell.unit)):
        console.print()
        console.print(_table(quantity, list(cells)))
    for text, cells in groupby(concluded, key=lambda cell: cell.quantity):
        say("", text)
        console.print(_cells_table("", list(cells)))
    if any(cell.published is None for cell in concluded):
        console.print(CLAIMS, markup=False)
    console.print(f"cells: {tally(done.cells).text() or 'nothing to match'}", markup=False)
    if made := _controls(done.cells):
        console.print(made)
    for note, members in remarks(done.cells).items():
        console.print(f"{note}: {_rows(members)}", markup=False)
    console.print()


def _table(quantity: tuple[str, str], cells: Sequence[Cell]) -> object:
    label, unit = quantity
    return _cells_table(f"{label}, {unit}" if unit else label, cells)


def _cells_table(title: str, cells: Sequence[Cell]) -> object:
    lines = [[*cell.row.values(), *cell.texts, _coloured(cell)] for cell in cells]
    return table(title, cells[0].heads, lines, [*cells[0].row, "paper", "ours", "verdict"])


def _coloured(cell: Cell) -> str:
    verdict = cell.verdict
    if verdict is None:
        return cell.verdict_text
    return f"[{COLOURS[GRADES.get(verdict, 'not')]}]{verdict}[/]"


def _rows(cells: Sequence[Cell]) -> str:
    shown = [" ".join(cell.row.values()) for cell in cells]
    return "at " + ", ".join(shown) if len(shown) <= 6 else f"{len(shown)} rows"


def _controls(cells: Sequence[Cell]) -> object | None:
    """Returns a table of matches of deliberately wrong models beside ours; None without any."""
    rows = [
        [one.name, one.quantity, *map(str, (one.cells, one.ours, one.ours_weak)), *_matches(one)]
        for one in controls(cells)
    ]
    return table(CONTROLS, CONTROL_HEADS, rows) if rows else None


def _matches(one: Control) -> tuple[str, str]:
    return str(one.matches), str(one.weak)


def summary(found: Sequence[tuple[Experiment, Reproduction]]) -> Iterator[Figures]:
    """Yields counts of figures, conclusions and controls; the total counts repeated cells once."""
    named = [(f"{one.paper} {one.name}", done.cells) for one, done in found]
    named.append(("all, repeated cells once", once(found)))
    counts = [(name, tally(cells)) for name, cells in named]
    figures = [[name, *map(str, count.figures.values())] for name, count in counts]
    yield table("Figures", ["", *counts[0][1].figures], figures)
    ours = [cell for cell in named[-1][1] if cell.is_ours]
    if ours:
        counts.append(("of these ours, not the paper's", tally(ours)))
    conclusions = [
        [name, *map(str, count.findings.values())]
        for name, count in counts
        if any(count.findings.values())
    ]
    if conclusions:
        yield table("Conclusions", ["", *map(str, Finding)], conclusions)
    rows = [
        [name, one.name, *map(str, (one.cells, one.ours, one.ours_weak)), *_matches(one)]
        for name, cells in named
        for one in of_all(cells)
    ]
    if rows:
        yield table(CONTROLS, ["table", *CONTROL_HEADS[:1], *CONTROL_HEADS[2:]], rows)
