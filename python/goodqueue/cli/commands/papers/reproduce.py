"""Options of `goodqueue reproduce`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from goodqueue.cli.commands.options import (
    CaptionOption,
    FormatOption,
    JobsOption,
    JsonOption,
    SetOption,
    TablesOption,
    given,
    in_range,
    refuse_stray,
)


@dataclass(frozen=True)
class Reproduce:
    """Run published experiments and print their figures beside the papers'."""

    context: typer.Context
    paper: Annotated[
        str | None, typer.Argument(metavar="PAPER", help="Paper, such as gijsbers2011.")
    ] = None
    table: Annotated[
        str | None,
        typer.Argument(metavar="TABLE", help="Table or figure, such as table4; all by default."),
    ] = None
    list_: Annotated[
        bool, typer.Option("--list", help="List the papers, tables and figures with their cost.")
    ] = False
    all_: Annotated[bool, typer.Option("--all", help="Reproduce every paper.")] = False
    set_: SetOption = None
    seeds: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=10_000, help="Number of seeds of every run."),
    ] = None
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Also write the cells, as JSON and CSV, and the pictures to this directory, in "
            "place of earlier results there.",
        ),
    ] = None
    format_: FormatOption = None
    caption: CaptionOption = True
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a page with tables and pictures (HTML)."),
    ] = None
    traces: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Only write the files of ns-2 for cells of the table: out.tr, nam's "
            "out.nam, the window file, the queue, and a script for gnuplot.",
        ),
    ] = None
    row: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="With --traces: rows of the table, such as buffer=10, or all; may be "
            "given several times. The default is the cell that the table names, or "
            "every row.",
        ),
    ] = None
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", metavar="N", callback=in_range, help="With --traces: seed of the runs."
        ),
    ] = None
    jobs: JobsOption = None
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder that stores runs; by default ~/.cache/goodqueue/papers."
        ),
    ] = None
    json: JsonOption = False
    tables: TablesOption = None

    def __post_init__(self) -> None:
        """Refuses options that would be ignored."""
        of_runs = given(self, "--all", "--report", "--jobs", "--store", "--set", "--seeds", "--out")
        of_traces = given(self, "--row", "--seed")
        if self.list_:
            stray = {"TABLE": self.table is not None} | given(self, "--traces")
            refuse_stray(stray | of_runs | of_traces, "cannot be combined with --list")
        elif self.traces is not None:
            refuse_stray(of_runs, "cannot be combined with --traces")
        else:
            refuse_stray(of_traces, "needs --traces")
            if self.table is None:
                changed = given(self, "--set", "--seeds")
                refuse_stray(changed, "changes one table: name it, as in gijsbers2011 table5")
