"""Options of `goodqueue emulate`."""

from __future__ import annotations

from typing import Annotated

import typer

from goodqueue.cli.commands.options import JsonOption


def emulate(  # noqa: PLR0913
    command: Annotated[
        list[str],
        typer.Argument(metavar="-- COMMAND ...", help="Program to run on the near host."),
    ],
    *,
    rate: Annotated[str, typer.Option(metavar="RATE", help="Rate of the link, as in 10Mbps.")],
    rtt: Annotated[str, typer.Option(metavar="TIME", help="Base round-trip time, as in 40ms.")],
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
    control: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Congestion control of both hosts' TCP.",
            show_default="the kernel's",
        ),
    ] = None,
    duration: Annotated[
        str, typer.Option(metavar="TIME", help="Largest duration of the run.")
    ] = "1h",
    json: JsonOption = False,
) -> int:
    """Run real programs behind an emulated link (Linux)."""
    from goodqueue.cli.live.emulate import emulate_link

    return emulate_link(command, rate, rtt, queue, server or [], control, duration, json=json)
