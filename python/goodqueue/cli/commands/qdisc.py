"""`goodqueue qdisc` as it is typed."""

from __future__ import annotations

from typing import Annotated

import typer

from goodqueue.cli.commands.options import JsonOption, ScenarioFile, SetOption, overrides

qdisc = typer.Typer(
    help="Queues of Linux's tc as queues of a scenario, and the other way.",
    rich_markup_mode=None,
)


@qdisc.command("parse")
def qdisc_parse(
    line: Annotated[
        str,
        typer.Argument(
            metavar="LINE",
            help='What `tc qdisc show` prints, as in "qdisc codel 8001: root"; or - for stdin.',
        ),
    ],
    *,
    json: JsonOption = False,
) -> int:
    """Read a line of `tc qdisc show` and print the queue for a scenario."""
    from goodqueue.cli.qdisc import parse_line

    return parse_line(line, json=json)


@qdisc.command("print")
def qdisc_print(
    file: ScenarioFile,
    *,
    link: Annotated[
        str, typer.Option(metavar="NAME", help="The link whose queue is printed.")
    ] = "bottleneck",
    set_: SetOption = None,
    json: JsonOption = False,
) -> int:
    """Print the queue of a scenario's link as tc commands."""
    from goodqueue.cli.qdisc import print_commands

    return print_commands(file, overrides(set_), link, json=json)
