"""Options of `goodqueue home`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from goodqueue.cli.commands.options import (
    JobsOption,
    JsonOption,
    MemoryOption,
    SeedOption,
    refuse_stray,
)
from goodqueue.cli.commands.sizing.searching import (
    BudgetOption,
    ExplainOption,
    ReplicatesOption,
    StoreOption,
    TimeOption,
)


@dataclass(frozen=True)
class Home:
    """Find the rate that your router should shape to, so that games and calls stay quick.

    On a terminal, the command asks for what is missing.
    """

    line: Annotated[
        str | None,
        typer.Option(metavar="KIND", help="dsl, cable, fibre, lte or starlink."),
    ] = None
    framing: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="With --line dsl: atm (ADSL) or ptm (VDSL2)."),
    ] = None
    down: Annotated[
        str | None,
        typer.Option(
            metavar="RATE[..RATE]",
            help="Rate towards the home, or lowest and highest if it changes.",
        ),
    ] = None
    up: Annotated[
        str | None, typer.Option(metavar="RATE[..RATE]", help="The same from the home.")
    ] = None
    rtt: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Ping while nobody uses the line; by default 30ms."),
    ] = None
    traffic: Annotated[
        str | None,
        typer.Option(
            metavar="WORDS",
            help="Household: some of game, call, web, video, upload, download; by default "
            "'game, web, upload, download'.",
        ),
    ] = None
    max_ping: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Largest time of 99 of 100 pings; by default --rtt, 20ms, and the times of three "
            "full packets up and thirty down.",
        ),
    ] = None
    loaded_ping: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Ping of today while an upload runs; by default the modem holds 256kB.",
        ),
    ] = None
    margin: Annotated[
        str,
        typer.Option(metavar="SHARE", help="Share by which the line may be slower than you say."),
    ] = "2%"
    overhead: Annotated[
        str | None,
        typer.Option(
            metavar="BYTES", help="Bytes that a packet takes more on the line, if you know them."
        ),
    ] = None
    syntax: Annotated[
        str,
        typer.Option(metavar="NAME", help="Lines to type: openwrt (default), linux or mikrotik."),
    ] = "openwrt"
    write: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the scenario with these rates.")
    ] = None
    explain: ExplainOption = False
    replicates: ReplicatesOption = 24
    budget: BudgetOption = None
    time: TimeOption = None
    seed: SeedOption = None
    json: JsonOption = False
    jobs: JobsOption = None
    memory: MemoryOption = None
    store: StoreOption = None

    def __post_init__(self) -> None:
        """Refuses options that exclude each other."""
        refuse_stray({"--explain": self.explain and self.json}, "prints tables; --json has them")
