"""The typer application with all commands. They import what they need when they are called."""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer.main import get_command

from goodqueue.cli.commands.analyze import Analyze
from goodqueue.cli.commands.characterize import Characterize
from goodqueue.cli.commands.formats import Export, Import, Parse, Print, Schema
from goodqueue.cli.commands.lab import Lab
from goodqueue.cli.commands.live.calibrate import Calibrate
from goodqueue.cli.commands.live.emulate import Emulate
from goodqueue.cli.commands.live.probe import Probe
from goodqueue.cli.commands.papers.demo import Demo
from goodqueue.cli.commands.papers.reproduce import Reproduce
from goodqueue.cli.commands.runs.compare import Compare
from goodqueue.cli.commands.runs.run import Run
from goodqueue.cli.commands.sizing.box import Box
from goodqueue.cli.commands.sizing.flows import Flows
from goodqueue.cli.commands.sizing.headroom import Headroom
from goodqueue.cli.commands.sizing.home import Home
from goodqueue.cli.commands.sizing.size import Size
from goodqueue.cli.commands.sizing.smoothing import Smoothing
from goodqueue.cli.commands.sizing.tune import Tune
from goodqueue.cli.commands.studies import ShowResults, Sweep
from goodqueue.cli.help import Command, Group
from goodqueue.cli.plain import convert_plain_values

if TYPE_CHECKING:
    from collections.abc import Callable


COMMANDS: dict[str, tuple[type, str]] = {
    "demo": (Demo, "papers.demo.demonstrate"),
    "run": (Run, "runs.run.run_scenario"),
    "compare": (Compare, "runs.compare.compare_scenarios"),
    "analyze": (Analyze, "passive.analyze.analyze_capture"),
    "flows": (Flows, "sizing.flows.show_flows"),
    "size": (Size, "sizing.size.size"),
    "home": (Home, "sizing.home.home"),
    "box": (Box, "sizing.box.box"),
    "headroom": (Headroom, "sizing.headroom.show_headroom"),
    "tune": (Tune, "sizing.tune.tune"),
    "smoothing": (Smoothing, "sizing.smoothing.smoothing"),
    "emulate": (Emulate, "live.emulate.emulate_programs"),
    "calibrate": (Calibrate, "live.calibrate.calibrate_kernel"),
    "probe": (Probe, "live.probe.probe_path"),
    "lab": (Lab, "lab.open_lab"),
    "sweep": (Sweep, "studies.sweep.sweep_study"),
    "results": (ShowResults, "studies.results.show_results"),
    "export": (Export, "formats.export_scenario"),
    "import": (Import, "formats.import_script"),
    "characterize": (Characterize, "studies.characterize.characterize_subject"),
    "schema": (Schema, "formats.print_schema"),
    "reproduce": (Reproduce, "papers.reproduce.reproduce"),
}
"""The commands: the dataclass of the options, and the function of this package that gets it."""

GROUPS: dict[str, dict[str, tuple[type, str]]] = {
    "qdisc": {"parse": (Parse, "formats.parse_line"), "print": (Print, "formats.print_commands")},
}
HELP_OF_GROUPS = {"qdisc": "Convert queues between Linux's tc and scenarios."}


def application(only: str | None = None) -> typer.Typer:
    """Returns the application with all commands, or with one command or group."""
    app = typer.Typer(
        cls=Group,
        help="How much buffer does a link need? Packet-level simulation of TCP and router queues.",
        rich_markup_mode=None,  # plain text, which pipes and screen readers can use
        add_completion=only is None,
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog="Exit codes: 0 answered; 2 wrong input or usage; 3 no buffer or value keeps the "
        "bounds of `size`, `tune`, `home` or `box`; 4 runs of `sweep` failed; 5 `results --verify` "
        "found damage; 6 the answer of `size`, `tune`, `home` or `box` is an estimate; 7 an "
        "emulation is not trusted; 8 a program of `emulate` failed; 130 interrupted.",
    )
    app.callback()(_main)
    for name, command in COMMANDS.items():
        if only in {None, name}:
            app.command(name, cls=Command)(_function(*command))
    for name, commands in GROUPS.items():
        if only in {None, name}:
            group = typer.Typer(cls=Group, help=HELP_OF_GROUPS[name], rich_markup_mode=None)
            for part, command in commands.items():
                group.command(part, cls=Command)(_function(*command))
            app.add_typer(group, name=name)
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        from goodqueue import _core

        print(f"goodqueue {_core.version()} ({_core.build()})")
        raise typer.Exit


def _main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    pass


def _function(options: type, work: str) -> Callable[..., int]:
    """Returns a command as typer reads it: a function whose parameters are a dataclass's fields."""

    def command(**values: object) -> int:
        module, _, name = work.rpartition(".")
        run: Callable[[Any], int] = getattr(import_module(f"goodqueue.cli.{module}"), name)
        if values.get("tables") is None:
            return run(options(**values))
        if values.get("json"):
            raise typer.BadParameter("--tables and --json: give one of them")
        from goodqueue.output.terminal import only_tables

        with only_tables(str(values["tables"])):
            return run(options(**values))

    command.__signature__ = signature(options, eval_str=True)  # type: ignore[attr-defined]
    command.__annotations__ = get_type_hints(options, include_extras=True)
    command.__doc__ = options.__doc__
    return command


def command_of(arguments: list[str]) -> Any:  # noqa: ANN401 - typer's classes have no public names
    """Returns the command line as a function of its arguments.

    typer reads the options of all commands, which takes longer than a short run. If the arguments
    begin with a command, it gets only that one.
    """
    only = arguments[0] if is_command(arguments) else None
    return convert_plain_values(get_command(application(only)))


def is_command(arguments: list[str]) -> bool:
    """Returns True if the arguments begin with a command."""
    return arguments[:1] != [] and arguments[0] in {*COMMANDS, *GROUPS}
