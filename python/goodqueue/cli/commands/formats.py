"""Options of `goodqueue schema`, `export`, `import` and `qdisc`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from goodqueue.cli.commands.options import JsonOption, ScenarioFile, SeedOption, SetOption


@dataclass(frozen=True)
class Schema:
    """Print the JSON Schema of scenario files."""


@dataclass(frozen=True)
class Export:
    """Print a dumbbell as a script for ns-2, ns-3, Mininet or NeST."""

    file: ScenarioFile
    to: Annotated[
        str,
        typer.Option("--to", metavar="TOOL", help="Tool that runs it: ns2, ns3, mininet or nest."),
    ]
    set_: SetOption = None
    seed: SeedOption = None
    json: JsonOption = False


@dataclass(frozen=True)
class Import:
    """Print a script of ns-2 as a scenario."""

    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="Script of ns-2 (Tcl); - for standard input."),
    ]
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="ARGUMENTS", help="What the script gets as its arguments."),
    ] = None
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the scenario to this file."),
    ] = None
    json: JsonOption = False


@dataclass(frozen=True)
class Parse:
    """Read a line of `tc qdisc show` and print the queue for a scenario."""

    line: Annotated[
        str,
        typer.Argument(
            metavar="LINE",
            help='A line of `tc qdisc show`, such as "qdisc codel 8001: root", or the output '
            "of `tc -j qdisc show`; - for standard input.",
        ),
    ]
    json: JsonOption = False


@dataclass(frozen=True)
class Print:
    """Print the queue of a scenario's link as tc commands."""

    file: ScenarioFile
    link: Annotated[str, typer.Option(metavar="NAME", help="Link whose queue is printed.")] = (
        "bottleneck"
    )
    set_: SetOption = None
    json: JsonOption = False
