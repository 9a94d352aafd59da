"""`goodqueue reproduce`: simulated tables and figures beside the published ones."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Any

from goodqueue.cli.exits import EXIT_INTERRUPTED
from goodqueue.cli.files import print_wrote
from goodqueue.core.outdir import check_file
from goodqueue.errors import RequestError
from goodqueue.output.terminal import (
    MISSING,
    goes_on,
    print_json,
    progress,
    say,
    stderr,
    stdout,
    table,
)
from goodqueue.papers.cells import GRADES, Cell, Finding, Reproduction, Verdict, remarks
from goodqueue.papers.experiment import Experiment, experiment, experiments, paper, papers
from goodqueue.papers.table import TableExperiment
from goodqueue.papers.tally import LEGEND, controls, of_all, once, tally

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from goodqueue.cli.commands.reproduce import Reproduce
    from goodqueue.papers.tally import Control
    from goodqueue.study.runner import Runner

COLOURS = {"matches": "green", "shape": "yellow", "not": "red"}

CONTROLS = "Controls: deliberately wrong models"
CONTROL_HEADS = (
    *("control", "quantity", "cells", "ours match", "ours weakly"),
    *("control matches", "control weakly"),
)

CLAIMS = f"{MISSING}: the paper prints no number; the verdict is on the claim of its text"


def reproduce(asked: Reproduce) -> int:
    """Lists the papers, writes traces, or runs experiments; returns the exit code."""
    if asked.list_:
        return list_papers(asked.paper, json=asked.json)
    return reproduce_papers(asked) if asked.traces is None else write_traces(asked, asked.traces)


def _wanted(asked: Reproduce) -> list[Experiment]:
    """Returns the experiments that the options name."""
    if asked.all_ and asked.paper is not None:
        raise RequestError("name a paper, or write --all for every one; not both")
    if asked.all_:
        return [one for name in papers() for one in experiments(name)]
    if asked.paper is None:
        raise RequestError(
            "name a paper, or write --all; `goodqueue reproduce --list` lists them: "
            + ", ".join(papers())
        )
    if asked.table is not None:
        return [experiment(asked.paper, asked.table)]
    return list(experiments(asked.paper))


def list_papers(only: str | None, *, json: bool) -> int:
    """Prints every table and figure of all papers, or of one, with its cost."""
    names = papers() if only is None else [paper(only).name]
    known = {name: experiments(name) for name in names}
    if json:
        outlines = [_outline(one) for found in known.values() for one in found]
        print_json({"schema_version": 1, "experiments": outlines})
        return 0
    console = stdout()
    for name, found in known.items():
        of = paper(name)
        rows = [[one.name, one.title, f"{one.seconds:.0f} s"] for one in found]
        columns = ["name", "what", "runs take"]
        console.print(table(f"{name}: {of.by}: {of.title}", columns, rows, prose=["what"]))
        console.print(f"{of.page}\n", markup=False)
    total = sum(one.seconds for found in known.values() for one in found)
    console.print(
        f"in total about {total / 60:.1f} minutes on two cores for the first call, and "
        "seconds later, because runs are stored; runs that two share count with the first"
    )
    return 0


def reproduce_papers(asked: Reproduce) -> int:
    """Runs the requested experiments, prints them, writes the page; returns the exit code."""
    wanted = _wanted(asked)
    report = asked.report
    if report is not None:
        check_file(report)
    found: list[tuple[Experiment, Reproduction]] = []
    with _runner(asked, [one.title for one in wanted]) as (runner, next_one):
        interrupted = False
        try:
            for one in wanted:
                next_one()
                found.append((one, one.reproduce(runner)))
                if not asked.json:
                    print_reproduction(*found[-1])
        except KeyboardInterrupt:
            interrupted = True
        if report is not None and found:
            from goodqueue.output.papers import write

            write(found, report, asked.context.obj, runner.folder)
            print_wrote(report)
    if asked.json:
        print_json(_as_dict(found, interrupted=interrupted))
    elif len(found) > 1:
        for made in summary(found):
            stdout().print(made)
        stdout().print(LEGEND, markup=False)
    if interrupted:
        stderr().print(goes_on(runner.lasting))
    return EXIT_INTERRUPTED if interrupted else 0


def write_traces(asked: Reproduce, target: Path) -> int:
    """Writes the traces of cells of a table: of one into the directory, of several below it."""
    if asked.paper is None or asked.table is None:
        raise RequestError("--traces needs one table; name it, as in ahmad2020 table4 --traces DIR")
    one = experiment(asked.paper, asked.table)
    if not isinstance(one, TableExperiment):
        raise RequestError(f"{asked.paper} {asked.table} is computed, and has no cells to trace")
    cells = one.traced(asked.row or [], asked.seed)
    written = []
    for cell in cells:
        folder = target if len(cells) == 1 else target / cell.name
        said = cell.write(folder)
        files = sorted(path.name for path in folder.iterdir())
        written.append({"cell": said, "directory": str(folder), "files": files})
        if not asked.json:
            stdout().print(said, markup=False)
            say(f"in {folder}: {', '.join(files)}")
    if asked.json:
        print_json({"schema_version": 1, "cells": written})
    return 0


@contextmanager
def _runner(asked: Reproduce, titles: Sequence[str]) -> Iterator[Any]:
    """Yields the runner, and a function that begins the next experiment's progress."""
    from goodqueue.study.runner import Runner, user_store
    from goodqueue.study.threads import Threads

    with user_store("papers", asked.store) as store, progress() as bar:
        experiments_bar = bar.add_task("experiments", total=len(titles), visible=len(titles) > 1)
        runs_bar = bar.add_task("", total=None)
        place = -1
        most = 0

        def next_one() -> None:
            nonlocal place, most
            place, most = place + 1, 0
            bar.update(experiments_bar, completed=place)
            bar.update(runs_bar, description=titles[place], completed=0, total=None)

        def on_run(left: int) -> None:
            nonlocal most
            most = max(most, left + 1)
            bar.update(runs_bar, completed=most - left, total=most)

        runner: Runner = Runner(store, Threads(asked.jobs), on_run)
        yield runner, next_one


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
    if any(cell.published is None and cell.verdict for cell in figures):
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
    lines = [[*cell.row.values(), *cell.texts, _coloured(cell.verdict)] for cell in cells]
    return table(title, cells[0].heads, lines, [*cells[0].row, "paper", "ours", "verdict"])


def _coloured(verdict: Verdict | Finding | None) -> str:
    colour = COLOURS[GRADES.get(verdict, "not")] if verdict else ""
    return f"[{colour}]{verdict}[/]" if verdict else ""


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


def summary(found: Sequence[tuple[Experiment, Reproduction]]) -> Iterator[object]:
    """Yields counts of figures, conclusions and controls; the total counts repeated cells once."""
    named = [(f"{one.paper} {one.name}", done.cells) for one, done in found]
    named.append(("all, repeated cells once", once(found)))
    counts = [(name, tally(cells)) for name, cells in named]
    figures = [[name, *map(str, count.figures.values())] for name, count in counts]
    yield table("Figures", ["", *counts[0][1].figures], figures)
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


def _as_dict(
    found: Sequence[tuple[Experiment, Reproduction]], *, interrupted: bool
) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "experiments": [_outline(one) | {"sentences": list(done.sentences)} for one, done in found],
        "cells": [cell for one, done in found for cell in _cells(one, done)],
        "counts": [
            {"paper": one.paper, "experiment": one.name} | _counts(done.cells)
            for one, done in found
        ],
        "total": _counts(once(found)),
        "interrupted": interrupted,
    }


def _counts(cells: Sequence[Cell]) -> dict[str, Any]:
    return tally(cells).as_dict() | {"controls": [asdict(one) for one in controls(cells)]}


def _outline(one: Experiment) -> dict[str, Any]:
    return {"paper": one.paper, "experiment": one.name, "title": one.title, "seconds": one.seconds}


def _cells(one: Experiment, done: Reproduction) -> list[dict[str, Any]]:
    where = {"paper": one.paper, "experiment": one.name}
    return [where | cell.as_dict() for cell in done.cells]
