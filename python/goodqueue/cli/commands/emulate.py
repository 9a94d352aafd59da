"""Options of `goodqueue emulate`."""

from __future__ import annotations

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
    overrides,
    refuse_stray,
)


def _check(wanted: bool) -> None:
    """Ends the command with a line about this machine."""
    if wanted:
        from goodqueue.cli.live.emulate import check_machine

        check_machine()
        raise typer.Exit


def emulate(  # noqa: PLR0913
    command: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE | -- COMMAND ...",
            help="Scenario file whose flows have commands, or with --rate and --rtt a program to "
            "run on the near host.",
        ),
    ],
    *,
    rate: Annotated[
        str | None, typer.Option(metavar="RATE", help="Rate of the link, as in 10Mbps.")
    ] = None,
    rtt: Annotated[
        str | None, typer.Option(metavar="TIME", help="Base round-trip time, as in 40ms.")
    ] = None,
    queue: Annotated[
        str | None,
        typer.Option(
            metavar="QUEUE",
            help="Queue of both directions, as in tc ('fq_codel limit 1000p') or as in scenario "
            "files ('{ limit = \"33p\" }').",
            show_default="a FIFO of one BDP",
        ),
    ] = None,
    server: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COMMAND",
            help="Program to run on the far host, as in 'iperf3 -s'. May be given several times.",
        ),
    ] = None,
    allow_commands: Annotated[
        bool,
        typer.Option("--allow-commands", help="Run the commands that the scenario file names."),
    ] = False,
    control: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Congestion control of all hosts' TCP.",
            show_default="the kernel's",
        ),
    ] = None,
    duration: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Largest duration of the run.",
            show_default="1h, or the scenario's",
        ),
    ] = None,
    set_: SetOption = None,
    seed: SeedOption = None,
    check: Annotated[  # noqa: ARG001 - its callback ends the command
        bool,
        typer.Option(
            "--check",
            callback=_check,
            is_eager=True,
            help="Print what this machine lacks for an emulation, and the remedy.",
        ),
    ] = False,
    json: JsonOption = False,
    out: OutOption = None,
    format_: FormatOption = None,
    caption: CaptionOption = True,
    pcap: Annotated[
        list[str] | None,
        typer.Option(
            "--pcap",
            metavar="POINT=FILE",
            help="Also write a capture (pcapng) of the packets, with their contents, at a point "
            "as in `goodqueue run`. May be given several times.",
        ),
    ] = None,
    flent: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write a data file of Flent (.flent.gz)."),
    ] = None,
    snap: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Largest captured part of a frame in bytes.",
            show_default="whole frames",
        ),
    ] = None,
    meter: Annotated[
        bool | None,
        typer.Option(
            "--meter/--no-meter",
            help="Print the rate, backlog, delay and drops of links each second.",
            show_default="--meter on a terminal",
        ),
    ] = None,
) -> int:
    """Run real programs behind emulated links (Linux)."""
    from goodqueue.cli.live.emulate import Wanted, emulate_file, emulate_link

    if snap is not None and not pcap:
        raise typer.BadParameter("--snap needs --pcap")
    traces = captures(pcap)
    if flent is not None:
        traces["flent"] = flent
    wanted = Wanted(json, out, format_, caption, traces, snap, meter)
    if rate is None and rtt is None and len(command) == 1:
        link_only = {"--queue": queue is not None, "--server": bool(server)}
        refuse_stray(link_only, "does not go with a scenario file, which has its own")
        pairs = [*overrides(set_), *([] if duration is None else [("duration", duration)])]
        return emulate_file(command[0], pairs, seed, control, wanted, allow_commands=allow_commands)
    if rate is None or rtt is None:
        raise typer.BadParameter("name a scenario file, or --rate and --rtt and -- COMMAND")
    file_only = {"--set": bool(set_), "--seed": seed is not None}
    file_only["--allow-commands"] = allow_commands
    refuse_stray(file_only, "goes with a scenario file")
    return emulate_link(command, rate, rtt, queue, server or [], control, duration, wanted)
