"""`goodqueue reproduce` as it is typed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from goodqueue.cli.commands.options import JobsOption, JsonOption, refuse_stray


def reproduce(  # noqa: PLR0913 - options of one command
    context: typer.Context,
    paper: Annotated[
        str | None, typer.Argument(metavar="PAPER", help="Such as gijsbers2011.")
    ] = None,
    table: Annotated[
        str | None, typer.Argument(metavar="TABLE", help="Such as table4; all by default.")
    ] = None,
    *,
    listing: Annotated[
        bool, typer.Option("--list", help="Show the papers, tables and figures, and their cost.")
    ] = False,
    everything: Annotated[bool, typer.Option("--all", help="Every paper.")] = False,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a page with tables and pictures (HTML)."),
    ] = None,
    traces: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Instead, write what the authors worked with of one cell of the table: ns-2's "
            "out.tr, nam's out.nam, the window file.",
        ),
    ] = None,
    jobs: JobsOption = None,
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Where runs are kept; by default ~/.cache/goodqueue/papers."
        ),
    ] = None,
    json: JsonOption = False,
) -> int:
    """Run published experiments and set the figures beside the papers'."""
    from goodqueue.cli.reproduce import (
        ReproduceRequest,
        list_papers,
        reproduce_papers,
        write_traces,
    )

    of_runs = {
        "--all": everything,
        "--report": report is not None,
        "--jobs": jobs is not None,
        "--store": store is not None,
    }
    if listing:
        stray = {"TABLE": table is not None, "--traces": traces is not None, **of_runs}
        refuse_stray(stray, "goes without --list")
        return list_papers(paper, json=json)
    if traces is not None:
        refuse_stray(of_runs, "goes without --traces")
        return write_traces(paper, table, traces, json=json)
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
