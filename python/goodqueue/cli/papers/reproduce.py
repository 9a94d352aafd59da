"""`goodqueue reproduce`: simulated tables and figures beside the published ones."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from goodqueue.cli.commands.options import drawing, overrides
from goodqueue.cli.exits import EXIT_INTERRUPTED
from goodqueue.cli.files import print_written, print_wrote, write_json
from goodqueue.core.files.outdir import check_output, check_page, whole_directory
from goodqueue.errors import RequestError
from goodqueue.output.papers.tables import print_reproduction, summary
from goodqueue.output.terminal import goes_on, print_json, progress, say, stderr, stdout, table
from goodqueue.papers.experiment import Experiment, experiment, experiments, paper, papers
from goodqueue.papers.table import TableExperiment
from goodqueue.papers.tally import LEGEND, controls, once, tally

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from goodqueue.cli.commands.papers.reproduce import Reproduce
    from goodqueue.core.drawing import Drawing
    from goodqueue.papers.cells import Cell, Reproduction
    from goodqueue.study.runner import Runner


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


def _changed(wanted: list[Experiment], asked: Reproduce) -> list[Experiment]:
    """Returns the experiments with the settings and seeds of the options.

    Raises:
        RequestError: if one is computed, and has no scenario to change.
    """
    settings = overrides(asked.set_)
    if not settings and asked.seeds is None:
        return wanted
    found: list[Experiment] = []
    for one in wanted:
        if not isinstance(one, TableExperiment):
            raise RequestError(
                f"{one.paper} {one.name} is computed from a search or a model, and takes neither "
                "--set nor --seeds"
            )
        found.append(one.under(settings, asked.seeds))
    return found


def _check_places(asked: Reproduce) -> None:
    """Refuses files and directories that cannot be written, before anything is run."""
    if asked.report is not None:
        check_page(asked.report)
    if asked.out is not None:
        check_output(asked.out)


def _write_page(
    found: Sequence[tuple[Experiment, Reproduction]], asked: Reproduce, store: Path
) -> None:
    """Writes the page of `--report`, if it is wanted."""
    if asked.report is not None:
        from goodqueue.output.papers.page import write

        write(found, asked.report, asked.context.obj, store)
        print_wrote(asked.report)


def _write(
    found: Sequence[tuple[Experiment, Reproduction]],
    out: Path | None,
    pictured: Drawing,
    *,
    interrupted: bool,
) -> None:
    """Writes the cells as JSON and CSV, and the pictures, into the directory of `--out`, if any."""
    if out is None:
        return
    from goodqueue.core.polars import pl
    from goodqueue.core.tables import write_csv
    from goodqueue.plots.style import save_all

    rows = [_flat(one, cell) for one, done in found for cell in done.cells]
    with whole_directory(out) as directory:
        write_json(directory, _as_dict(found, interrupted=interrupted))
        write_csv(pl.DataFrame(rows, infer_schema_length=None), directory / "cells.csv")
        save_all([one for _, done in found for one in done.pictures()], directory, pictured)
    print_written(out)


def _flat(one: Experiment, cell: Cell) -> dict[str, Any]:
    """Returns a cell as a row of a table."""
    keys = ("quantity", "unit", "published", "simulated", "low", "high", "changed", "note")
    plain = cell.as_dict()
    where = {"paper": one.paper, "experiment": one.name, **cell.row}
    return where | {key: plain[key] for key in keys} | {"verdict": cell.verdict_text}


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
    pictured = drawing(asked)
    wanted = _changed(_wanted(asked), asked)
    _check_places(asked)
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
        if found:
            _write_page(found, asked, runner.folder)
            _write(found, asked.out, pictured, interrupted=interrupted)
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
