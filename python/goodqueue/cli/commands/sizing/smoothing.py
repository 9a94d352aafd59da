"""Options of `goodqueue smoothing`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from goodqueue.cli.commands.options import (
    JobsOption,
    JsonOption,
    SeedOption,
    SetOption,
    given,
    refuse_stray,
)

REPLICATES = 40


@dataclass(frozen=True)
class Smoothing:
    """Find the buffer that a player needs to play an AIMD stream at its mean rate.

    The buffer is computed by the law of the saw-tooth and by simulation; docs/clustering-buffer.md
    describes the limits of the law.
    """

    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE", help="Scenario with a video flow, in place of a description."
        ),
    ] = None
    rate: Annotated[
        str | None,
        typer.Option(metavar="RATE", help="Mean payload rate of the stream, such as 3Mbps."),
    ] = None
    rtt: Annotated[
        str | None, typer.Option(metavar="TIME", help="Round-trip time, such as 100ms.")
    ] = None
    duration: Annotated[
        str | None, typer.Option(metavar="TIME", help="Playing time of the stream, such as 60s.")
    ] = None
    alpha: Annotated[
        float | None,
        typer.Option(
            metavar="N",
            help="Packets by which the window grows per round trip; by default 1, for a "
            "file the flow's value.",
        ),
    ] = None
    beta: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Share of the window given up on a loss; by default 2a/(3 + a), which is "
            "as fast as Reno, for a file the flow's value.",
        ),
    ] = None
    packet: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Payload of a packet; by default 1000B.")
    ] = None
    flow: Annotated[
        str | None, typer.Option(metavar="NAME", help="Video flow of the scenario.")
    ] = None
    set_: SetOption = None
    quick: Annotated[
        bool, typer.Option("--quick", help="Answer by the law alone, without simulation.")
    ] = False
    replicates: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=2,
            max=10_000,
            help=f"Number of runs of each kind; by default {REPLICATES}.",
        ),
    ] = None
    jobs: JobsOption = None
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder that stores runs; by default ~/.cache/goodqueue/smoothing."
        ),
    ] = None
    seed: SeedOption = None
    json: JsonOption = False

    def __post_init__(self) -> None:
        """Refuses options that would be ignored, and an incomplete description of a stream."""
        if self.file is not None:
            of_stream = given(self, "--rate", "--rtt", "--duration", "--packet")
            refuse_stray(of_stream, f"describes a stream, but {self.file} has its own")
            why = "needs --rate and --rtt, because streams of a file are simulated"
            refuse_stray(given(self, "--quick"), why)
            return
        of_file = given(self, "--flow", "--set")
        refuse_stray(of_file, "belongs to a scenario file, but none is named")
        if self.rate is None or self.rtt is None or self.duration is None:
            raise typer.BadParameter(
                "name a scenario file, or describe the stream with --rate, --rtt and --duration, "
                "as in goodqueue smoothing --rate 3Mbps --rtt 100ms --duration 60s"
            )
        if self.quick:
            of_runs = given(self, "--replicates", "--jobs", "--store", "--seed")
            refuse_stray(of_runs, "applies to runs, and --quick makes none")
