"""Options of `goodqueue qdisc`."""

from __future__ import annotations

from typing import Annotated

import typer

from goodqueue.cli.commands.options import JsonOption, ScenarioFile, SetOption, overrides

qdisc = typer.Typer(
    help="Convert queues between Linux's tc and scenarios.",
    rich_markup_mode=None,
)


@qdisc.command("parse")
def qdisc_parse(
    line: Annotated[
        str,
        typer.Argument(
            metavar="LINE",
            help='A line of `tc qdisc show`, such as "qdisc codel 8001: root"; - for '
            "standard input.",
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
        str, typer.Option(metavar="NAME", help="Link whose queue is printed.")
    ] = "bottleneck",
    set_: SetOption = None,
    json: JsonOption = False,
) -> int:
    """Print the queue of a scenario's link as tc commands."""
    from goodqueue.cli.qdisc import print_commands

    return print_commands(file, overrides(set_), link, json=json)
