"""`goodqueue reproduce`: a published table beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodqueue._core import Scenario
from goodqueue.cli.terminal import print_json, progress, stdout, table
from goodqueue.errors import RequestError
from goodqueue.papers.experiment import Cell, Experiment, Range, Row, papers, tables
from goodqueue.parallel import workers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from goodqueue._core import Cancel
    from goodqueue.papers.experiment import Override, Quantity, Summary

EXPLAINED = {
    "ours": "yes",
    "independent": "only by the independent simulation",
    "nobody": "no",
}


def reproduce_paper(paper: str, table_name: str | None, *, jobs: int | None, json: bool) -> int:
    """Runs one table of a paper, or all, and prints them."""
    if paper not in papers():
        raise RequestError(f"there is no paper {paper!r}; there are {', '.join(papers())}")
    known = tables(paper)
    if table_name is not None and table_name not in known:
        raise RequestError(f"{paper} has no {table_name!r} here; it has {', '.join(known)}")
    documents = []
    for name in known if table_name is None else [table_name]:
        experiment = Experiment(paper, name)
        rows = experiment.compare(lambda runs, e=experiment: _run_all(e, runs, jobs))  # type: ignore[misc]
        documents.append(_as_dict(paper, name, experiment, rows))
        if not json:
            print_comparison(experiment, rows)
    if json:
        print_json(documents[0] if table_name is not None else documents)
    return 0


def print_comparison(experiment: Experiment, rows: Sequence[Row]) -> None:
    """Prints one small table per published column."""
    console = stdout()
    count, label = experiment.phases["count"], experiment.phases["label"]
    console.print(f"[bold]{experiment.title}[/]")
    console.print(
        f"ours: smallest .. largest over {count} evenly spaced values of the {label}; independent: "
        "the same by another simulation of that TCP; explained: whether ours, rounded or cut, is "
        "printed like the paper's"
    )
    for index, column in enumerate(experiment.columns):
        cells = [row.cells[index] for row in rows]
        headers = [experiment.rows_label, "paper", "ours", "difference"]
        headers += ["independent"] if any(cell.independent for cell in cells) else []
        headers += [column.beside.label] if column.beside else []
        headers += [f"{name} profile" for name in experiment.variants]
        headers.append("explained")
        lines = [[row.value, *_cell_texts(cell)] for row, cell in zip(rows, cells, strict=True)]
        console.print()
        console.print(table(column.quantity.label, headers, lines))
        for row, cell in zip(rows, cells, strict=True):
            if cell.verdict == "nobody":
                remark = f": {cell.remark}" if cell.remark else ""
                console.print(
                    f"{experiment.rows_label} {row.value}: explained by neither simulation{remark}"
                )
    console.print()


def _cell_texts(cell: Cell) -> list[str]:
    quantity = cell.column.quantity
    distance = cell.ours.distance(cell.published)
    texts = [
        cell.published,
        _range(cell.ours, quantity),
        _difference(distance, quantity.digits),
    ]
    if cell.independent is not None:
        texts.append(_range(cell.independent, quantity))
    if cell.beside is not None:
        texts.append(_range(cell.beside, quantity))
    texts += [_range(figures, quantity) for figures in cell.variants.values()]
    texts.append(EXPLAINED[cell.verdict])
    return texts


def _difference(distance: float, digits: int) -> str:
    text = f"{distance:+.{digits}f}"
    return text if float(text) else "0"


def _range(figures: Range, quantity: Quantity) -> str:
    low, high = f"{figures.low:.{quantity.digits}f}", f"{figures.high:.{quantity.digits}f}"
    return low if low == high else f"{low} .. {high}"


def _run_all(
    experiment: Experiment, runs: Sequence[tuple[Override, ...]], jobs: int | None
) -> list[Summary]:
    import json as json_module

    text, name = experiment.scenario.read_bytes(), experiment.scenario.name

    def task(overrides: tuple[Override, ...]) -> Callable[[Cancel], Summary]:
        def run(cancel: Cancel) -> Summary:
            outcome = Scenario.parse(text, name, list(overrides)).run(
                series=False, packets=False, cancel=cancel
            )
            summary: Summary = json_module.loads(outcome.summary_json())
            return summary

        return run

    with workers(jobs) as threads, progress() as bar:
        futures = [threads.submit(task(overrides)) for overrides in runs]
        shown = bar.add_task(experiment.title.partition(":")[0], total=len(futures))
        summaries = []
        for future in futures:
            summaries.append(future.result())
            bar.advance(shown)
    return summaries


def _as_dict(paper: str, name: str, experiment: Experiment, rows: Sequence[Row]) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "paper": paper,
        "table": name,
        "title": experiment.title,
        "phases": experiment.phases["count"],
        "rows": [
            {
                "row": row.value,
                "cells": {cell.column.published: _cell_dict(cell) for cell in row.cells},
            }
            for row in rows
        ],
    }


def _cell_dict(cell: Cell) -> dict[str, Any]:
    return {
        "published": float(cell.published),
        "ours": _range_dict(cell.ours),
        "difference": cell.ours.distance(cell.published),
        "beside": _range_dict(cell.beside),
        "independent": _range_dict(cell.independent),
        "variants": {name: _range_dict(figures) for name, figures in cell.variants.items()},
        "explained_by": cell.verdict,
        "remark": cell.remark or None,
    }


def _range_dict(figures: Range | None) -> dict[str, float] | None:
    return None if figures is None else {"low": figures.low, "high": figures.high}
