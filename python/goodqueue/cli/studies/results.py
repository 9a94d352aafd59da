"""`goodqueue results`: the results in a study's folder."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue.cli.exits import EXIT_DAMAGED
from goodqueue.cli.studies.draw import check_draw, draw_results
from goodqueue.core.columns import distinct_ends
from goodqueue.core.outdir import check_apart, check_file, whole_file
from goodqueue.errors import RequestError
from goodqueue.output.terminal import counted, plain, print_json, quantity, say, stdout, table
from goodqueue.study.record.store import Store
from goodqueue.study.results import Results

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import polars as pl

    from goodqueue.cli.studies.draw import DrawRequest
    from goodqueue.study.record.verify import Findings

MOST_PRINTED = 60

FIRST_LOOK = ("utilization", "loss_rate", "p99_queueing_delay_s")
"""Figures of the first link that are shown by default."""


@dataclass(frozen=True, slots=True)
class ResultsRequest:
    """The options of `goodqueue results`, as typed."""

    metrics: list[str] | None
    where: dict[str, list[str]]
    runs: bool
    long: bool
    failed: bool
    export: Path | None
    merge: list[Path]
    json: bool
    draw: DrawRequest | None = None
    verify: bool = False
    repair: bool = False


def show_results(folder: Path, request: ResultsRequest) -> int:
    """Merges, filters, prints and exports; returns the exit code."""
    if request.verify or request.repair:
        return _inspect(folder, request)
    console = stdout()
    quiet = request.json
    _check_outputs(folder, request)
    if request.merge:
        store = Store.open(folder, keep_both=True)
        try:
            taken = sum(store.merge(other) for other in request.merge)
        finally:
            store.close()
        if not quiet:
            console.print(f"{counted(taken, 'run')} copied into {folder}", markup=False)
    results = Results(folder).where(request.where)
    if request.draw is not None:
        return _draw(results, request, request.draw)
    rows = _rows(results, request)
    if request.export is not None:
        export(rows, request.export)
        if not quiet:
            console.print(
                f"{counted(rows.height, 'row')} written to {request.export}", markup=False
            )
        return 0
    if quiet:
        print(rows.write_json())
        return 0
    _print(results, rows, request)
    return 0


def _check_outputs(folder: Path, request: ResultsRequest) -> None:
    """Refuses outputs that cannot be written, and outputs among the inputs."""
    drawn = None if request.draw is None else request.draw.file
    files = {"--export": request.export, "--draw": drawn}
    check_apart([folder], files)
    for option, file in files.items():
        if file is not None:
            _check_outside(option, file, [folder, *request.merge])
            check_file(file)
    if request.draw is not None:
        check_draw(request.draw)
    for other in request.merge:
        check_apart([folder], {"--merge": other})


def _draw(results: Results, request: ResultsRequest, draw: DrawRequest) -> int:
    """Writes one picture and prints its caption, which may not be in the image."""
    caption = draw_results(results, request.metrics or _first_look(results)[:1], draw)
    if request.json:
        print_json({"picture": str(draw.file), "caption": caption})
    else:
        say(f"picture: {draw.file}")
        stdout().print(caption, markup=False)
    return 0


def _inspect(folder: Path, request: ResultsRequest) -> int:
    """Lists or drops damaged parts; returns the exit code."""
    from goodqueue.study.record.verify import repair, verify

    others = (
        *(request.metrics, request.where, request.runs, request.failed, request.export),
        request.draw,
    )
    if any(others) or request.merge or (request.verify and request.repair):
        flag = "--repair" if request.repair else "--verify"
        raise RequestError(f"{flag} checks the whole folder; give no other option than --json")
    found = repair(folder) if request.repair else verify(folder)
    if request.json:
        faults = [{"what": fault.what, "why": fault.why} for fault in found.faults]
        facts = {"rows": found.rows, "tables": found.tables, "format": found.format}
        print_json({**facts, "damage": faults, "repaired": request.repair})
    else:
        say(*_inspection(folder, found, repaired=request.repair))
    return EXIT_DAMAGED if found.faults and not request.repair else 0


def _inspection(folder: Path, found: Findings, *, repaired: bool) -> Iterator[str]:
    """Prints each fault on a line."""
    yield from (f"damaged: {fault}" for fault in found.faults)
    if found.format == 1:
        yield (
            "the ledger has no checksums (format 1), so a changed figure cannot be found; "
            "the next sweep into the folder adds checksums of its content"
        )
    sound = f"{counted(found.rows, 'row')} and {counted(found.tables, 'table')} intact"
    if not found.faults:
        yield f"{folder}: {sound}, nothing is damaged"
    elif repaired:
        yield f"{folder}: {sound}; the rest is removed, and the next sweep runs it again"
    else:
        yield f"{folder}: {sound}; `goodqueue results {folder} --repair` removes the rest"


def _rows(results: Results, request: ResultsRequest) -> pl.DataFrame:
    if request.failed:
        return results.failures()
    everything = request.json or request.export is not None
    chosen = request.metrics or (None if everything else _first_look(results))
    if request.long:
        return results.long(chosen)
    if not request.runs:
        return results.means(chosen)
    wide = results.wide()
    if chosen is None:
        return wide
    results.means(chosen)  # says which metric does not exist
    return wide.select(*results.axes, "seed", *chosen, "wall_s", "host", "error")


def _first_look(results: Results) -> list[str]:
    link = next((name for name in results.metrics if name.endswith(".utilization")), None)
    if link is None:
        return results.metrics[:3]
    stem = link.removesuffix("utilization")
    return [f"{stem}{figure}" for figure in FIRST_LOOK if f"{stem}{figure}" in results.metrics]


def _check_outside(option: str, file: Path, folders: list[Path]) -> None:
    """Refuses to write into the folders that are read."""
    for folder in folders:
        if file.resolve().is_relative_to(folder.resolve()):
            raise RequestError(
                f"{option} {file}: this is in the study's folder {folder}, which the command "
                "reads; name a file elsewhere"
            )


def export(rows: pl.DataFrame, file: Path) -> None:
    """Writes a table in the format of its file's suffix."""
    writers: dict[str, Callable[[Path], object]] = {
        ".csv": rows.write_csv,
        ".parquet": rows.write_parquet,
        ".json": rows.write_json,
    }
    if file.suffix not in writers:
        raise RequestError(f"--export {file}: name a file that ends in .csv, .parquet or .json")
    with whole_file(file) as path:
        writers[file.suffix](path)


def _print(results: Results, rows: pl.DataFrame, request: ResultsRequest) -> None:
    console = stdout()
    failures = results.failures().height
    failed = f", {failures:,} failed" if failures else ""
    single = request.failed or request.runs
    if single:
        names = [name for name in rows.columns if rows[name].null_count() < rows.height]
        cells = [
            [_cell(row["metric"] if name == "value" else name, row[name]) for name in names]
            for row in rows.iter_rows(named=True)
        ]
    else:
        names, cells = _side_by_side(results.axes, rows)
    short = _short(results.axes)
    headers = [short.get(name, name) for name in names]
    axes = [short[axis] for axis in results.axes]
    important = [*(header for header in headers if header not in axes)][:1] + axes
    title, shown = f"{counted(len(results), 'run')}{failed}", cells[:MOST_PRINTED]
    console.print(table(title, headers, shown, important, prose=["error"]))
    if not single:
        console.print("mean ± 95 % interval over the seeds", markup=False)
    left = len(cells) - MOST_PRINTED
    if left > 0:
        console.print(
            f"... and {counted(left, 'more row')}; --export writes them all", markup=False
        )


def _side_by_side(axes: list[str], means: pl.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Returns a table with a row per variant and a column per metric."""
    lines: dict[tuple[object, ...], dict[str, str]] = {}
    for row in means.iter_rows(named=True):
        line = lines.setdefault(tuple(row[axis] for axis in axes), {})
        half = None if row["count"] < 2 else row["half_width"]
        line[row["metric"]] = quantity(row["metric"], row["mean"], half)
    metrics = list(dict.fromkeys(name for line in lines.values() for name in line))
    cells = [
        [*map(_cell, axes, point), *(line.get(metric, "-") for metric in metrics)]
        for point, line in lines.items()
    ]
    return [*axes, *metrics], cells


PRINTED = re.compile("_(bps|bytes|s)$")
"""End of the name of a column whose figures are printed with their units."""


def _short(axes: list[str]) -> dict[str, str]:
    """Returns unique ends of the axes' paths, as short as possible, without units."""
    paths = {axis: PRINTED.sub("", axis) for axis in axes}
    ends = distinct_ends(list(paths.values()))
    return {axis: ends.get(path, axis) for axis, path in paths.items()}


def _cell(name: str, value: object) -> str:
    """Returns a figure in its unit, and anything else as text."""
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return quantity(name, value)
    return plain(str(value))
