"""Options of `goodqueue headroom`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from goodqueue.cli.commands.options import JsonOption


@dataclass(frozen=True)
class Headroom:
    """Compute the PFC headroom of a lossless Ethernet port, part by part, and its thresholds.

    docs/headroom.md has the formula, and compares it with the tables of switches under SONiC.
    """

    speed: Annotated[
        str, typer.Option(metavar="RATE", help="Line rate of the port, such as 100Gbps.")
    ]
    cable: Annotated[
        str, typer.Option(metavar="LENGTH", help="Length of the cable, such as 300m or 2km.")
    ]
    mtu: Annotated[str, typer.Option(metavar="SIZE", help="Largest IP packet.")] = "9100B"
    cell: Annotated[
        str, typer.Option(metavar="SIZE", help="Cell of the switch's memory; 1B for none.")
    ] = "256B"
    worst_frames: Annotated[
        str,
        typer.Option(
            metavar="SHARE",
            help="Share of the arriving data that may be in the frames that fill cells worst.",
        ),
    ] = "100%"
    interface_delay: Annotated[
        str,
        typer.Option(metavar="TIME", help="MAC and PHY of the receiving end, out and in together."),
    ] = "500ns"
    reaction: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Reaction time of the sender; by default the largest that IEEE 802.3 allows.",
        ),
    ] = None
    ports: Annotated[int, typer.Option(metavar="N", help="Ports with such a cable.")] = 1
    priorities: Annotated[
        int, typer.Option(metavar="N", help="Lossless priorities of each port.")
    ] = 1
    oversubscription: Annotated[
        float,
        typer.Option(
            metavar="N", help="Headroom of all ports over that of the pool which they share."
        ),
    ] = 1.0
    json: JsonOption = False
