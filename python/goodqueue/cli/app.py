"""The typer application with all commands. Their modules are imported when they are called."""

from __future__ import annotations

from typing import Annotated

import typer

from goodqueue.cli.commands.analyze import analyze
from goodqueue.cli.commands.compare import compare
from goodqueue.cli.commands.emulate import emulate
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

        print(f"goodqueue {_core.version()}")
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
app.add_typer(qdisc, name="qdisc")
app.command("sweep")(sweep)
app.command("results")(results)


@app.command("schema")
def schema() -> None:
    """Print the JSON Schema of scenario files."""
    from goodqueue import _core

    print(_core.schema())


app.command("reproduce")(reproduce)
