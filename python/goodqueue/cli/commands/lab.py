"""Options of `goodqueue lab`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from goodqueue.cli.commands.options import JsonOption


@dataclass(frozen=True)
class Lab:
    """Open a page that simulates a link while you change it."""

    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help="Scenario file or report (.html, .json) to open; - for a scenario from "
            "standard input.",
        ),
    ] = None
    settings: Annotated[
        str,
        typer.Option(
            metavar="TEXT",
            help="Settings to open, as pages of results print them: rate=10Mbps&rtt=40ms.",
        ),
    ] = ""
    site: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Address of the page as static files (--save), which addresses to share "
            "then have.",
        ),
    ] = ""
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write the page as static files for any web server, and end. The page computes "
            "in the browser.",
        ),
    ] = None
    port: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, max=65535, help="Port of the server; 0 chooses a free one."
        ),
    ] = 0
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the usual browser.")
    ] = True
    json: JsonOption = False
