"""The typer application with all commands. They import what they need when they are called."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.main import get_command

from goodqueue.cli.commands.analyze import analyze
from goodqueue.cli.commands.compare import compare
from goodqueue.cli.commands.emulate import emulate
from goodqueue.cli.commands.lab import lab
from goodqueue.cli.commands.plain import convert_plain_values
from goodqueue.cli.commands.qdisc import qdisc
from goodqueue.cli.commands.reproduce import reproduce
from goodqueue.cli.commands.run import run
from goodqueue.cli.commands.size import size
from goodqueue.cli.commands.smoothing import smoothing
from goodqueue.cli.commands.studies import results, sweep

app = typer.Typer(
    help="How much buffer does a link need? Packet-level simulation of TCP and router queues.",
    rich_markup_mode=None,  # plain text, which pipes and screen readers can use
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 answered; 2 wrong input or usage; 3 no buffer keeps the bounds "
    "of `size`; 4 runs of `sweep` failed; 5 `results --verify` found damage; 6 the "
    "time budget of `size` ended first; 7 an emulation is not trusted; 130 interrupted.",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from goodqueue import _core

        print(f"goodqueue {_core.version()} ({_core.build()})")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    pass


app.command("run")(run)
app.command("compare")(compare)
app.command("analyze")(analyze)
app.command("size")(size)
app.command("smoothing")(smoothing)
app.command("emulate")(emulate)
app.command("lab")(lab)
app.add_typer(qdisc, name="qdisc")
app.command("sweep")(sweep)
app.command("results")(results)


@app.command("schema")
def schema() -> None:
    """Print the JSON Schema of scenario files."""
    from goodqueue import _core

    print(_core.schema())


app.command("reproduce")(reproduce)


def command_of(arguments: list[str]) -> Any:  # noqa: ANN401 - typer's classes have no public names
    """Returns the command line as a function of its arguments.

    typer reads the signatures of all registered commands, which takes longer than a short run. If
    the arguments begin with a command, it gets only that one.
    """
    all_commands, all_groups = app.registered_commands, app.registered_groups
    if is_command(arguments):
        app.registered_commands = [one for one in all_commands if one.name == arguments[0]]
        app.registered_groups = [one for one in all_groups if one.name == arguments[0]]
    try:
        return convert_plain_values(get_command(app))
    finally:
        app.registered_commands, app.registered_groups = all_commands, all_groups


def is_command(arguments: list[str]) -> bool:
    """Returns True if the arguments begin with a command."""
    names = {command.name for command in app.registered_commands}
    names |= {group.name for group in app.registered_groups}
    return bool(arguments) and arguments[0] in names
