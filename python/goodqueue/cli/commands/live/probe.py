"""Options of `goodqueue probe`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from goodqueue.cli.commands.options import (
    CaptionOption,
    FormatOption,
    JsonOption,
    OutOption,
    given,
    in_panel,
    refuse_stray,
)

of_server = in_panel("Of a server")
of_client = in_panel("Of a probe")

SERVER = "server"
"""Word in place of a host that starts a server."""

OF_SERVER = ("--listen", "--longest", "--sessions")
OF_CLIENT = ("--size", "--flows", "--load", "--report", "--flent", "--json", "--out")


@dataclass(frozen=True)
class Probe:
    """Find the buffer and the queue of the path to a host (Linux).

    The host runs `goodqueue probe server`. docs/probe.md explains what is sent.
    """

    context: typer.Context
    host: Annotated[
        str,
        typer.Argument(
            metavar="HOST[:PORT] | server",
            help="Host whose path is probed, or the word server to serve probes.",
        ),
    ]
    token: Annotated[
        Path,
        typer.Option(metavar="FILE", help="File with the secret of both ends, with mode 600."),
    ]
    max_rate: Annotated[
        str, typer.Option(metavar="RATE", help="Largest rate of UDP packets in each direction.")
    ] = "1Gbps"
    load: Annotated[
        bool | None,
        of_client(
            "--load/--no-load",
            help="Fill the bottleneck's buffer with UDP packets without a question, or do not.",
            show_default="asks on a terminal, else --no-load",
        ),
    ] = None
    size: Annotated[
        bool, of_client("--size", help="Also compute how large the found buffers should be.")
    ] = False
    flows: Annotated[
        int | None,
        of_client(metavar="N", min=1, help="With --size: long flows of the link; by default 1."),
    ] = None
    listen: Annotated[
        str | None,
        of_server(
            metavar="ADDRESS[:PORT]",
            help="Address at which the server listens.",
            show_default="127.0.0.1:4823",
        ),
    ] = None
    longest: Annotated[
        str | None,
        of_server(metavar="TIME", help="Longest duration of a session.", show_default="5min"),
    ] = None
    sessions: Annotated[
        int | None,
        of_server(
            metavar="N",
            min=1,
            max=64,
            help="Sessions at once, which disturb each other; each has a UDP port from PORT on.",
            show_default="1",
        ),
    ] = None
    json: JsonOption = False
    report: Annotated[
        Path | None,
        of_client(metavar="FILE", help="Also write the results as a self-contained HTML page."),
    ] = None
    flent: Annotated[
        Path | None,
        of_client(metavar="FILE", help="Also write a data file of Flent (.flent.gz)."),
    ] = None
    out: OutOption = None
    format_: FormatOption = None
    caption: CaptionOption = True

    def __post_init__(self) -> None:
        """Refuses options of the other end."""
        if self.host == SERVER:
            refuse_stray(given(self, *OF_CLIENT), "belongs to a probe, not to a server")
            return
        refuse_stray(given(self, *OF_SERVER), "belongs to `goodqueue probe server`")
        if not self.size:
            refuse_stray(given(self, "--flows"), "belongs to --size")
