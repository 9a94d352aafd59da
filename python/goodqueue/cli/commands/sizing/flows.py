"""Options of `goodqueue flows`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from goodqueue.cli.commands.options import JsonOption


@dataclass(frozen=True)
class Flows:
    """Count the flows of flow records (NetFlow, IPFIX): long ones, short ones and their sizes."""

    file: Annotated[
        Path,
        typer.Argument(
            metavar="RECORDS",
            help="Output of `nfdump -o csv` or `nfdump -o json` for one direction of the link.",
        ),
    ]
    sampling: Annotated[
        int, typer.Option(metavar="N", help="The exporter sampled 1 of N packets.")
    ] = 1
    sizes: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the distribution of sizes as CSV, which the law `empirical` reads.",
        ),
    ] = None
    json: JsonOption = False
