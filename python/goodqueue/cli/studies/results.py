"""`goodqueue results`: the results in a study's folder."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING

from goodqueue.cli.commands.options import conditions, given
from goodqueue.cli.exits import EXIT_DAMAGED
from goodqueue.cli.studies.draw import check_draw, draw_results
from goodqueue.cli.studies.report import check_outside, first_look, write_report
from goodqueue.core.extras import require
from goodqueue.core.files.outdir import check_apart, whole_file
from goodqueue.core.tables import write_csv
from goodqueue.errors import RequestError
from goodqueue.output.studies.results import print_results
from goodqueue.output.terminal import counted, print_json, say, stdout
from goodqueue.study.record.store import Store
from goodqueue.study.results import Results

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import polars as pl

    from goodqueue.cli.commands.studies import ShowResults
    from goodqueue.study.record.verify import Findings


def show_results(asked: ShowResults) -> int:
    """Merges, filters, prints and exports; returns the exit code."""
    require("polars")
    if asked.verify or asked.repair:
        return _inspect(asked)
    folder, where = asked.folder, conditions(asked.where)
    console = stdout()
    quiet = asked.json
    _check_outputs(asked)
    if asked.merge:
        store = Store.open(folder, keep_both=True)
        try:
            taken = sum(store.merge(other) for other in asked.merge)
        finally:
            store.close()
        if not quiet:
            console.print(f"{counted(taken, 'run')} copied into {folder}", markup=False)
    results = Results(folder).where(where)
    if asked.draw or asked.report:
        return _show(results, asked)
    rows = _rows(results, asked)
    if asked.export is not None:
        export(rows, asked.export)
        if not quiet:
            console.print(f"{counted(rows.height, 'row')} written to {asked.export}", markup=False)
        return 0
    if quiet:
        # Only texts have other letters than those of ASCII.
        letters = re.compile(r"[^\n -~]")
        print(letters.sub(lambda found: json.dumps(found[0])[1:-1], rows.write_json()))
        return 0
    print_results(results, rows, single=asked.failed or asked.runs or asked.long)
    return 0


def _check_outputs(asked: ShowResults) -> None:
    """Refuses outputs that cannot be written, and outputs among the inputs."""
    folder, merged = asked.folder, asked.merge or []
    files = {"--export": asked.export, "--draw": asked.draw, "--report": asked.report}
    check_apart([folder], files)
    for option, file in files.items():
        check_outside(option, file, [folder, *merged])
    if asked.draw is not None:
        check_draw(asked.draw)
    for other in merged:
        check_apart([folder], {"--merge": other})


def _show(results: Results, asked: ShowResults) -> int:
    """Writes a picture or a page."""
    if not len(results):
        raise RequestError(f"{asked.folder}: no run has finished; run the study first")
    if asked.draw is not None:
        return _draw(results, asked, asked.draw)
    if asked.report is not None:
        write_report(results, asked.report, asked.metric)
        if asked.json:
            print_json({"report": str(asked.report)})
        else:
            say(f"report: {asked.report}")
    return 0


def _draw(results: Results, asked: ShowResults, file: Path) -> int:
    """Writes one picture and prints its caption, which may not be in the image."""
    caption = draw_results(results, asked.metric or first_look(results)[:1], asked, file)
    if asked.json:
        print_json({"picture": str(file), "caption": caption})
    else:
        say(f"picture: {file}")
        stdout().print(caption, markup=False)
    return 0


def _inspect(asked: ShowResults) -> int:
    """Lists or drops damaged parts; returns the exit code."""
    from goodqueue.study.record.verify import repair, verify

    folder = asked.folder
    others = given(
        asked,
        *("--metric", "--where", "--runs", "--long", "--failed", "--export", "--merge", "--draw"),
        "--report",
    )
    if any(others.values()) or (asked.verify and asked.repair):
        flag = "--repair" if asked.repair else "--verify"
        raise RequestError(f"{flag} checks the whole folder; give no other option than --json")
    found = repair(folder) if asked.repair else verify(folder)
    if asked.json:
        faults = [{"what": fault.what, "why": fault.why} for fault in found.faults]
        facts = {"rows": found.rows, "tables": found.tables, "format": found.format}
        print_json({**facts, "damage": faults, "repaired": asked.repair})
    else:
        say(*_inspection(folder, found, repaired=asked.repair))
    return EXIT_DAMAGED if found.faults and not asked.repair else 0


def _inspection(folder: Path, found: Findings, *, repaired: bool) -> Iterator[str]:
    """Prints each fault on a line."""
    yield from (f"damaged: {fault}" for fault in found.faults)
    sound = f"{counted(found.rows, 'row')} and {counted(found.tables, 'table')} intact"
    if not found.faults:
        yield f"{folder}: {sound}, nothing is damaged"
    elif repaired:
        yield f"{folder}: {sound}; the rest is removed, and the next sweep runs it again"
    else:
        yield f"{folder}: {sound}; `goodqueue results {folder} --repair` removes the rest"


def _rows(results: Results, asked: ShowResults) -> pl.DataFrame:
    if asked.failed:
        return results.failures()
    everything = asked.json or asked.export is not None
    chosen = asked.metric or (None if everything else first_look(results))
    if asked.long:
        return results.long(*(chosen or ()))
    if not asked.runs:
        return results.means(*(chosen or ()))
    wide = results.wide()
    if chosen is None:
        return wide
    results.means(*(chosen or ()))  # says which metric does not exist
    return wide.select(*results.axes, "seed", *chosen, "wall_s", "host", "error")


def export(rows: pl.DataFrame, file: Path) -> None:
    """Writes a table in the format of its file's suffix."""
    writers: dict[str, Callable[[Path], object]] = {
        ".csv": partial(write_csv, rows),
        ".parquet": rows.write_parquet,
        ".json": rows.write_json,
    }
    if file.suffix not in writers:
        raise RequestError(f"--export {file}: name a file that ends in .csv, .parquet or .json")
    with whole_file(file) as path:
        writers[file.suffix](path)
