"""Options of `goodqueue analyze`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from goodqueue.cli.commands.options import (
    CaptionOption,
    FormatOption,
    JsonOption,
    in_range,
)


@dataclass(frozen=True)
class Analyze:
    """Analyse a packet capture: limiting factors of its flows, parameters of the sizing rules."""

    context: typer.Context
    file: Annotated[
        Path,
        typer.Argument(
            metavar="CAPTURE",
            help="pcap or pcapng file, or a trace of ns-2, captured at the link (before "
            "its queue if --after is given).",
        ),
    ]
    link: Annotated[
        str | None,
        typer.Option(
            metavar="RATE",
            help="The link's rate in captured frames, such as 50Mbps; estimated by default.",
        ),
    ] = None
    after: Annotated[
        Path | None,
        typer.Option(metavar="CAPTURE", help="Capture of the same packets behind the queue."),
    ] = None
    drops: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV",
            help="CSV file of the link's drops: a column time_s, in seconds on the "
            "capture's clock.",
        ),
    ] = None
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Replace a threshold (see docs/traces.md); may be given several times.",
        ),
    ] = None
    to_scenario: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a scenario of this link and its flows."),
    ] = None
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            callback=in_range,
            help="Seed of the bootstrap for the intervals; by default 1.",
        ),
    ] = None
    json: JsonOption = False
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write one self-contained page (HTML)."),
    ] = None
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Also write the figures, tables and pictures to this directory, in place of "
            "earlier results there.",
        ),
    ] = None
    format_: FormatOption = None
    caption: CaptionOption = True
