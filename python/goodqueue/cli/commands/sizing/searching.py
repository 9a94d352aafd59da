"""Options of the commands that search values of parameters: `tune`, `home` and `box`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Protocol

import typer

KeepOption = Annotated[
    list[str] | None,
    typer.Option(metavar="FIGURE<=VALUE", help="A bound, with <= or >=; may be repeated."),
]
ExplainOption = Annotated[
    bool, typer.Option("--explain", help="Print every value that was tried, and every figure.")
]
ReplicatesOption = Annotated[
    int, typer.Option(metavar="N", min=8, max=10_000, help="Largest number of runs of a value.")
]
BudgetOption = Annotated[
    str | None, typer.Option(metavar="N", help="Packets of all runs; by default 120M.")
]
TimeOption = Annotated[
    str | None, typer.Option(metavar="TIME", help="End each search after this time.")
]
StoreOption = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Folder that stores the runs.")
]


class Searching(Protocol):
    """Options that limit the cost of a search."""

    @property
    def replicates(self) -> int:
        """Largest number of runs of a value."""

    @property
    def budget(self) -> str | None:
        """Packets of all runs."""

    @property
    def time(self) -> str | None:
        """Largest wall-clock time of each search."""

    @property
    def jobs(self) -> int | None:
        """Number of threads."""

    @property
    def store(self) -> Path | None:
        """Folder that stores the runs."""
