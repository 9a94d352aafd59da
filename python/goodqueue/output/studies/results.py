"""Results of a study on the terminal: a table of runs, or of the means of its variants."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from goodqueue.core.columns import distinct_ends
from goodqueue.output.terminal import counted, plain, quantity, say, stdout, table

if TYPE_CHECKING:
    import polars as pl

    from goodqueue.study.results import Results

MAX_PRINTED = 60


def print_results(results: Results, rows: pl.DataFrame, *, single: bool) -> None:
    """Prints rows of a study: a row per run if `single`, otherwise one per variant."""
    console = stdout()
    failures = results.failures().height
    failed = f", {failures:,} failed" if failures else ""
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
    title, shown = f"{counted(len(results), 'run')}{failed}", cells[:MAX_PRINTED]
    if not cells:
        say(title)
        return
    console.print(table(title, headers, shown, important, prose=["error"]))
    if not single:
        console.print("mean ± 95 % interval over the seeds", markup=False)
    left = len(cells) - MAX_PRINTED
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
