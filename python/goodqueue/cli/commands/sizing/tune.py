"""Options of `goodqueue tune`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from goodqueue.cli.commands.options import (
    AllowPythonOption,
    JobsOption,
    JsonOption,
    MemoryOption,
    ScenarioFile,
    SeedOption,
    SetOption,
    TablesOption,
)


@dataclass(frozen=True)
class Tune:
    """Find the values of any parameters that keep bounds on any figures, and the best of them."""

    file: ScenarioFile
    vary: Annotated[
        list[str],
        typer.Option(
            metavar="PATH=LOW..HIGH",
            help="A parameter, by its path in --set, or up to four; % are of the file's value.",
        ),
    ]
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="FIGURE<=VALUE", help="A bound, with <= or >=; may be repeated."),
    ] = None
    most: Annotated[
        str | None, typer.Option(metavar="FIGURE", help="Figure or PATH that should be large.")
    ] = None
    least: Annotated[
        str | None, typer.Option(metavar="FIGURE", help="Figure or PATH that should be small.")
    ] = None
    set_: SetOption = None
    allow_python: AllowPythonOption = False
    replicates: Annotated[
        int, typer.Option(metavar="N", min=8, max=10_000, help="Largest number of runs of a value.")
    ] = 64
    budget: Annotated[
        str | None, typer.Option(metavar="N", help="Packets of all runs; by default 120M.")
    ] = None
    time: Annotated[
        str | None, typer.Option(metavar="TIME", help="End the search after this time.")
    ] = None
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write the scenario with the value."),
    ] = None
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a picture: .png, .svg or .pdf."),
    ] = None
    seed: SeedOption = None
    json: JsonOption = False
    tables: TablesOption = None
    jobs: JobsOption = None
    memory: MemoryOption = None
    store: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder that stores the runs.")
    ] = None
