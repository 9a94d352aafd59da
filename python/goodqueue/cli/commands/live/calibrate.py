"""Options of `goodqueue calibrate`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from goodqueue.cli.commands.options import JsonOption


@dataclass(frozen=True)
class Calibrate:
    """Compare theory, simulation and this machine's kernel (Linux)."""

    out: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Directory of finished runs, page and pictures. The same command continues there.",
        ),
    ] = Path("calibration")
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VALUE",
            help="Restrict the cells to a queue, a control, a number of flows (4) or a limit "
            "(33p). May be given several times.",
        ),
    ] = None
    quick: Annotated[
        bool,
        typer.Option("--quick", help="One flow of reno or cubic behind fifo or fq_codel only."),
    ] = False
    rate: Annotated[str, typer.Option(metavar="RATE", help="Rate of the link.")] = "10Mbps"
    rtt: Annotated[str, typer.Option(metavar="TIME", help="Base round-trip time.")] = "40ms"
    duration: Annotated[str, typer.Option(metavar="TIME", help="Length of a run.")] = "30s"
    warmup: Annotated[
        str, typer.Option(metavar="TIME", help="Time of a run that is not measured.")
    ] = "10s"
    repeats: Annotated[int, typer.Option(metavar="N", min=2, help="Emulations of each cell.")] = 3
    seeds: Annotated[int, typer.Option(metavar="N", min=2, help="Simulations of each cell.")] = 20
    jobs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Emulations at once.",
            show_default="one per processor",
        ),
    ] = None
    json: JsonOption = False
