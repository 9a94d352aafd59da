"""Options of `goodqueue emulate`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from goodqueue.cli.commands.options import (
    CaptionOption,
    FormatOption,
    JsonOption,
    OutOption,
    SeedOption,
    SetOption,
    captures,
    given,
    refuse_stray,
)


class Uplink(StrEnum):
    """Kinds of connections to the outside."""

    SOCKS = "socks"
    NAT = "nat"


def _check(wanted: bool) -> None:
    """Ends the command with a line about this machine."""
    if wanted:
        from goodqueue.live.emulation import check

        print(f"`emulate` works here. {check()}.")
        raise typer.Exit


@dataclass(frozen=True)
class Emulate:
    """Run real programs behind emulated links (Linux)."""

    command: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE | -- COMMAND ...",
            help="Scenario file whose flows have commands, or with --rate and --rtt a program to "
            "run on the near host.",
        ),
    ]
    rate: Annotated[
        str | None, typer.Option(metavar="RATE", help="Rate of the link, as in 10Mbps.")
    ] = None
    rtt: Annotated[
        str | None, typer.Option(metavar="TIME", help="Base round-trip time, as in 40ms.")
    ] = None
    queue: Annotated[
        str | None,
        typer.Option(
            metavar="QUEUE",
            help="Queue of both directions, as in tc ('fq_codel limit 1000p') or as in scenario "
            "files ('{ limit = \"33p\" }').",
            show_default="a FIFO of one BDP",
        ),
    ] = None
    server: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COMMAND",
            help="Program to run on the far host, as in 'iperf3 -s'. May be given several times.",
        ),
    ] = None
    uplink: Annotated[
        Uplink | None,
        typer.Option(
            help="Connect programs with the outside: a SOCKS relay on the far host, "
            "socks5h://server:1080, which splits TCP, or translation of addresses, as root.",
            show_default="none",
        ),
    ] = None
    allow_commands: Annotated[
        bool,
        typer.Option("--allow-commands", help="Run the commands that the scenario file names."),
    ] = False
    control: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Congestion control of all hosts' TCP.",
            show_default="the kernel's",
        ),
    ] = None
    duration: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Largest duration of the run.",
            show_default="1h, or the scenario's",
        ),
    ] = None
    set_: SetOption = None
    seed: SeedOption = None
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            callback=_check,
            is_eager=True,
            help="Print what this machine lacks for an emulation, and the remedy.",
        ),
    ] = False
    json: JsonOption = False
    out: OutOption = None
    format_: FormatOption = None
    caption: CaptionOption = True
    pcap: Annotated[
        list[str] | None,
        typer.Option(
            "--pcap",
            metavar="POINT=FILE",
            help="Also write a capture (pcapng) of the packets, with their contents, at a point "
            "as in `goodqueue run`. May be given several times.",
        ),
    ] = None
    flent: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write a data file of Flent (.flent.gz)."),
    ] = None
    snap: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Largest captured part of a frame in bytes.",
            show_default="whole frames",
        ),
    ] = None
    meter: Annotated[
        bool | None,
        typer.Option(
            "--meter/--no-meter",
            help="Print the rate, backlog, delay and drops of links each second.",
            show_default="--meter on a terminal",
        ),
    ] = None

    def __post_init__(self) -> None:
        """Refuses options that would be ignored, and an incomplete description of a link."""
        if self.snap is not None and not self.pcap:
            raise typer.BadParameter("--snap needs --pcap")
        if self.has_file:
            link_only = given(self, "--queue", "--server")
            refuse_stray(link_only, "does not go with a scenario file, which has its own")
            return
        if self.rate is None or self.rtt is None:
            raise typer.BadParameter("name a scenario file, or --rate and --rtt and -- COMMAND")
        file_only = given(self, "--set", "--seed", "--allow-commands")
        refuse_stray(file_only, "goes with a scenario file")

    @property
    def has_file(self) -> bool:
        """True if the command is the name of a scenario file."""
        return self.rate is None and self.rtt is None and len(self.command) == 1

    @property
    def traces(self) -> dict[str, Path]:
        """The file of each trace, by its name."""
        flent = {} if self.flent is None else {"flent": self.flent}
        return captures(self.pcap) | flent
