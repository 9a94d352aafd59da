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
from goodqueue.cli.commands.sizing.searching import (
    BudgetOption,
    KeepOption,
    ReplicatesOption,
    StoreOption,
    TimeOption,
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
    keep: KeepOption = None
    most: Annotated[
        str | None, typer.Option(metavar="FIGURE", help="Figure or PATH that should be large.")
    ] = None
    least: Annotated[
        str | None, typer.Option(metavar="FIGURE", help="Figure or PATH that should be small.")
    ] = None
    set_: SetOption = None
    allow_python: AllowPythonOption = False
    replicates: ReplicatesOption = 64
    budget: BudgetOption = None
    time: TimeOption = None
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
    store: StoreOption = None
