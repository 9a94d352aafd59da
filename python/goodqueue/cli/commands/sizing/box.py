"""Options of `goodqueue box`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from goodqueue.cli.commands.options import (
    JobsOption,
    JsonOption,
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
class Box:
    """Find the shared memory that a switch needs, its alpha, and the incasts that it survives."""

    ports: Annotated[
        str | None,
        typer.Option(
            metavar="NxRATE,...",
            help="The ports, such as 48x10Gbps,4x100Gbps; the client is behind the first.",
        ),
    ] = None
    memory: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Memory that all ports share, such as 12MB."),
    ] = None
    config: Annotated[
        str | None,
        typer.Option(
            metavar="FILE[:QUEUE]",
            help="config_db.json of SONiC in place of both, and its queue, as in Ethernet0|3.",
        ),
    ] = None
    rtt: Annotated[
        str, typer.Option(metavar="TIME", help="Base round-trip time between two hosts.")
    ] = "100us"
    incast: Annotated[
        str, typer.Option(metavar="NxSIZE", help="Servers that answer one client at once.")
    ] = "32x64kB"
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIGURE<=VALUE",
            help="A bound on the flow `query`, by default 'query.p99<=5ms'; may be repeated.",
        ),
    ] = None
    alpha: Annotated[
        float | None,
        typer.Option(metavar="N", help="Factor of the dynamic thresholds today; by default 1."),
    ] = None
    cell: Annotated[str, typer.Option(metavar="SIZE", help="Cell of the memory; 1B for none.")] = (
        "256B"
    )
    reserved: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Memory that each port has alone; by default none."),
    ] = None
    control: Annotated[
        str, typer.Option(metavar="NAME", help="Congestion control of all hosts.")
    ] = "cubic"
    mark_at: Annotated[
        str | None,
        typer.Option(metavar="PACKETS", help="Queue above which a port marks, such as 65p."),
    ] = None
    write: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the scenario with the alpha that was found."),
    ] = None
    explain: ExplainOption = False
    replicates: ReplicatesOption = 24
    budget: BudgetOption = None
    time: TimeOption = None
    seed: SeedOption = None
    json: JsonOption = False
    jobs: JobsOption = None
    run_memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="Largest memory of all runs; by default 3/4 of the machine's."
        ),
    ] = None
    store: StoreOption = None

    def __post_init__(self) -> None:
        """Refuses options that exclude each other."""
        refuse_stray({"--explain": self.explain and self.json}, "prints tables; --json has them")
