"""Options of `goodqueue reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from goodqueue.cli.commands.options import JobsOption, JsonOption, in_range, refuse_stray, typed


def reproduce(  # noqa: PLR0913 - options of one command
    context: typer.Context,
    paper: Annotated[
        str | None, typer.Argument(metavar="PAPER", help="Paper, such as gijsbers2011.")
    ] = None,
    table: Annotated[
        str | None,
        typer.Argument(metavar="TABLE", help="Table or figure, such as table4; all by default."),
    ] = None,
    *,
    listing: Annotated[
        bool, typer.Option("--list", help="List the papers, tables and figures with their cost.")
    ] = False,
    everything: Annotated[bool, typer.Option("--all", help="Reproduce every paper.")] = False,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a page with tables and pictures (HTML)."),
    ] = None,
    traces: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Only write the files of ns-2 for cells of the table: out.tr, nam's "
            "out.nam, the window file, the queue, and a script for gnuplot.",
        ),
    ] = None,
    row: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="With --traces: rows of the table, such as buffer=10, or all; may be "
            "given several times. The default is the cell that the table names, or "
            "every row.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", metavar="N", callback=in_range, help="With --traces: seed of the runs."
        ),
    ] = None,
    jobs: JobsOption = None,
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder that stores runs; by default ~/.cache/goodqueue/papers."
        ),
    ] = None,
    json: JsonOption = False,
) -> int:
    """Run published experiments and print their figures beside the papers'."""
    from goodqueue.cli.reproduce import (
        ReproduceRequest,
        list_papers,
        reproduce_papers,
        write_traces,
    )

    of_runs = typed(context, "--all", "--report", "--jobs", "--store")
    of_traces = typed(context, "--row", "--seed")
    if listing:
        stray = {"TABLE": table is not None} | typed(context, "--traces") | of_runs | of_traces
        refuse_stray(stray, "cannot be combined with --list")
        return list_papers(paper, json=json)
    if traces is not None:
        refuse_stray(of_runs, "cannot be combined with --traces")
        return write_traces(paper, table, traces, row or [], seed, json=json)
    refuse_stray(of_traces, "needs --traces")
    request = ReproduceRequest(
        paper,
        table,
        everything=everything,
        jobs=jobs,
        store=store,
        report=report,
        json=json,
        command=context.obj,
    )
    return reproduce_papers(request)
