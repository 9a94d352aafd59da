"""Pages of help: the purpose, two examples, and as many options as fit a screen.

A screen has 80 columns and 40 lines. The options that do not fit are named below the others, and
`--help-all` describes them, too.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

from goodqueue.cli.examples import EXAMPLES, FIRST

if TYPE_CHECKING:
    from collections.abc import Sequence

SCREEN_COLUMNS, SCREEN_LINES = 80, 40
"""Size of a page of help."""

NAME_COLUMNS = 22
"""Width of the names of options; longer names have a line of their own."""

ALL = "--help-all"
"""Option of each command that prints its page of help with all options."""

COMPLETION = {"install_completion", "show_completion"}
"""Options of the program for completion in shells, which only the whole page describes."""

Row = tuple[str, str]
"""An argument or an option with its meaning."""


class Command(TyperCommand):
    """A command whose page of help fits a screen."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - typer's classes have no public names
        """Prints the whole help for `--help-all`; reads the arguments otherwise."""
        own = args[: args.index("--")] if "--" in args else args
        if ALL in own:
            print(self._page(ctx, None))
            raise typer.Exit
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed

    def get_help(self, ctx: Any) -> str:  # noqa: ANN401
        """Returns the page of help."""
        count = len(self._options(ctx))
        for described in (None, *range(count - 1, -1, -1)):
            page = self._page(ctx, described)
            if page.count("\n") < SCREEN_LINES:
                break
        return page

    def _page(self, ctx: Any, described: int | None) -> str:  # noqa: ANN401
        """Returns a page of help that describes this many options; None for all."""
        formatter = ctx.formatter_class(width=SCREEN_COLUMNS)
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        with formatter.section("Examples"):
            formatter.write("".join(f"{line}\n" for line in examples_of(ctx.command_path)))
        others = [one for one in self.get_params(ctx) if is_argument(one) or is_help(one)]
        rows = [(one, row) for one in others if (row := one.get_help_record(ctx)) is not None]
        _write(formatter, "Arguments", [row for one, row in rows if is_argument(one)])
        options = self._options(ctx)
        most = len(options) if described is None else described
        own = [row for one, row in rows if is_help(one)]
        _write(formatter, "Options", [*(row for _, row in options[:most]), *own])
        if most < len(options):
            names = ", ".join(name for name, _ in options[most:])
            formatter.write_paragraph()
            more = f"More options, which {ALL} describes: {names}"
            formatter.write(textwrap.fill(more, SCREEN_COLUMNS, break_on_hyphens=False))
        page: str = formatter.getvalue().rstrip("\n")
        return page

    def _options(self, ctx: Any) -> list[tuple[str, Row]]:  # noqa: ANN401
        """Returns the names and the rows of all options but `--help`, the most used first."""
        rows = [
            (one.opts[0], row)
            for one in self.get_params(ctx)
            if not is_argument(one)
            and not is_help(one)
            and (row := one.get_help_record(ctx)) is not None
        ]
        first = FIRST.get(name_of(ctx.command_path), ())
        rank = {name: place for place, name in enumerate(first)}
        return sorted(rows, key=lambda one: rank.get(one[0], len(rank)))


class Group(TyperGroup):
    """A group of commands, or the whole program, whose page of help has examples."""

    whole = False
    """True if the page describes the exit codes and the options for completion."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Prints the help with the exit codes for `--help-all`; reads the arguments otherwise."""
        if args[:1] == [ALL]:
            self.whole = True
            print(self.get_help(ctx))
            raise typer.Exit
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Writes the examples, the options and the commands."""
        with formatter.section("Examples"):
            formatter.write("".join(f"{line}\n" for line in examples_of(ctx.command_path)))
        shown = [one for one in self.get_params(ctx) if self.whole or one.name not in COMPLETION]
        rows = [row for one in shown if (row := one.get_help_record(ctx)) is not None]
        if self.epilog and not self.whole:
            rows.append((ALL, "Show completion and the exit codes, too."))
        _write(formatter, "Options", rows)
        self.format_commands(ctx, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Writes the exit codes on the whole page."""
        if self.whole:
            super().format_epilog(ctx, formatter)


def name_of(path: str) -> str:
    """Returns the name of a command by its path, such as `qdisc parse`; empty for the program."""
    return path.partition(" ")[2]


def examples_of(path: str) -> list[str]:
    """Returns the lines of a command's examples."""
    return [f"  {line}" for one in EXAMPLES.get(name_of(path), ()) for line in one.split("\n")]


def is_argument(parameter: Any) -> bool:  # noqa: ANN401
    """Returns True for an argument, False for an option."""
    return bool(parameter.param_type_name == "argument")


def is_help(parameter: Any) -> bool:  # noqa: ANN401
    """Returns True for `--help`."""
    return "--help" in parameter.opts


def _write(formatter: Any, title: str, rows: Sequence[Row]) -> None:  # noqa: ANN401
    if rows:
        with formatter.section(title):
            formatter.write_dl(rows, col_max=NAME_COLUMNS)
