"""Options of `goodqueue compare`."""

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
    MemoryOption,
    SeedOption,
    SetOption,
    TablesOption,
)

REPLICATES = 10


@dataclass(frozen=True)
class Compare:
    """Run scenarios side by side with common seeds, and print their differences.

    Every figure has its 95 % interval; differences are from the first scenario, seed by seed.
    """

    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Scenario files, or one file if --variant is given; - for standard input.",
        ),
    ]
    variant: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE,...",
            help="Compare the file with these values replaced, such as "
            "topology.bottleneck.queue.limit=50p; may be given several times. '' is "
            "the file as written.",
        ),
    ] = None
    replicates: Annotated[
        int,
        typer.Option(
            metavar="N", min=2, max=10_000, help="Number of seeds with which every scenario is run."
        ),
    ] = REPLICATES
    link: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Link whose figures are compared; by default the bottleneck."
        ),
    ] = None
    set_: SetOption = None
    seed: SeedOption = None
    json: JsonOption = False
    tables: TablesOption = None
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Also write the figures, the resolved scenarios, and pictures over time of the "
            "first seed to this directory, in place of earlier results there.",
        ),
    ] = None
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Also write the comparison as a self-contained HTML page."
        ),
    ] = None
    format_: FormatOption = None
    caption: CaptionOption = True
    jobs: JobsOption = None
    memory: MemoryOption = None
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder that stores runs; by default ~/.cache/goodqueue/compare."
        ),
    ] = None
