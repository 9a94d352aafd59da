"""Options of several commands, and the parsing of their texts.

The options of a command are the fields of a dataclass, whose docstring is the command's help. Each
option is declared there and nowhere else: typer reads the fields, and the code of the command gets
the dataclass.
"""

from __future__ import annotations

from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from _typeshed import DataclassInstance

    from goodqueue.core.drawing import Drawing

Described = TypeVar("Described", bound="DataclassInstance")

ScenarioFile = Annotated[
    str,
    typer.Argument(
        metavar="FILE", help="Scenario file (TOML; see `goodqueue schema`); - for standard input."
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Replace one value of the scenario, such as "
        "topology.bottleneck.queue.limit=50p; may be given several times.",
    ),
]

AllowPythonOption = Annotated[
    bool,
    typer.Option(
        "--allow-python",
        help="Import the classes in Python that the file or a table names, which runs their "
        "modules' code. Modules are also searched in the working directory.",
    ),
]


def in_panel(title: str) -> Callable[..., Any]:
    """Returns `typer.Option` for options that the help lists below this title."""
    return partial(typer.Option, rich_help_panel=title)


def in_range(seed: int | None) -> int | None:
    """Refuses a seed that is out of range."""
    if seed is not None:
        from goodqueue.study.plan import LARGEST_SEED

        if not 0 <= seed <= LARGEST_SEED:
            raise typer.BadParameter(f"{seed}: write a number from 0 to {LARGEST_SEED}")
    return seed


SeedOption = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", callback=in_range, help="Replace the scenario's seed."),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print the answer as JSON on standard output.")
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Also write the resolved scenario, the figures and the pictures to this directory, "
        "in place of earlier results there.",
    ),
]
TablesOption = Annotated[
    str | None,
    typer.Option(
        "--tables",
        metavar="FORMAT",
        help="Print the tables only, as text of LaTeX, CSV or Markdown: tex, csv or md.",
    ),
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        "--jobs", metavar="N", min=1, help="Number of threads; by default one per processor."
    ),
]


MemoryOption = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="Largest memory of all runs together, such as 8GiB; by default three "
        "quarters of the machine's.",
    ),
]


FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="LIST",
        help="Format of the pictures: png, svg, pdf, or several, such as svg,pdf.",
    ),
]
CaptionOption = Annotated[
    bool,
    typer.Option(
        "--caption/--no-caption",
        help="Draw captions into the images; captions.txt contains them in any case.",
    ),
]


class Pictured(Protocol):
    """Options of a command that draws pictures into a directory."""

    @property
    def out(self) -> Path | None:
        """The directory."""

    @property
    def format_(self) -> str | None:
        """The formats."""

    @property
    def caption(self) -> bool:
        """True if captions are drawn into the images."""


def drawing(asked: Pictured) -> Drawing:
    """Returns the options for the pictures of `--out`.

    Raises:
        BadParameter: if there are no pictures.
        RequestError: if a format is unknown.
    """
    from goodqueue.core.drawing import drawing_of

    if asked.out is None:
        refuse_stray(
            {"--format": asked.format_ is not None, "--no-caption": not asked.caption},
            "applies to pictures: name their directory with --out DIR",
        )
    return drawing_of(asked.format_, caption=asked.caption, usual=("png",))


def given(asked: DataclassInstance, *options: str) -> dict[str, bool]:
    """Returns, for each option, True if its value is not the default."""
    usual = {field.name: field.default for field in fields(asked)}
    names = {f"--{name.strip('_').replace('_', '-')}": name for name in usual}
    values = {option: getattr(asked, names[option]) for option in options}
    return {
        option: value != usual[names[option]] and value not in ([], ())
        for option, value in values.items()
    }


def taken(kind: type[Described], asked: DataclassInstance, **others: object) -> Described:
    """Returns a dataclass whose fields are the options of the same names, and the given others."""
    names = [field.name for field in fields(kind) if field.name not in others]
    return kind(**{name: getattr(asked, name) for name in names}, **others)


def refuse_stray(stray: dict[str, bool], why: str) -> None:
    """Refuses options that would be ignored."""
    for option, is_given in stray.items():
        if is_given:
            raise typer.BadParameter(f"{option} {why}")


def overrides(entries: list[str] | None) -> list[tuple[str, str]]:
    """Splits `path=value`; the scenario parser checks both parts."""
    return [pair("--set", "PATH=VALUE", entry) for entry in entries or []]


def conditions(entries: list[str] | None) -> dict[str, list[str]]:
    """Splits the `column=value` of `--where`, and returns the values of each column."""
    found: dict[str, list[str]] = {}
    for entry in entries or []:
        column, value = pair("--where", "COLUMN=VALUE", entry)
        found.setdefault(column, []).append(value)
    return found


def pair(option: str, form: str, entry: str) -> tuple[str, str]:
    """Splits `name=value` of an option with this form."""
    name, equals, value = entry.partition("=")
    if not equals:
        raise typer.BadParameter(f"{option} {entry}: write {option} {form}")
    return name, value


def captures(given: list[str] | None) -> dict[str, Path]:
    """Returns the files by the points at which captures are taken."""
    captures: dict[str, Path] = {}
    for text in given or []:
        point, separator, file = text.partition("=")
        if not separator or not point or not file:
            raise typer.BadParameter(f"--pcap {text}: write POINT=FILE, as in before=in.pcapng")
        if point in captures:
            raise typer.BadParameter(f"--pcap {text}: {point} is captured already")
        if Path(file) in captures.values():
            raise typer.BadParameter(f"--pcap {text}: {file} is written already")
        captures[point] = Path(file)
    return captures


def logs(given: list[str] | None) -> dict[str, Path]:
    """Returns the files of logs by the names of their traces."""
    logs: dict[str, Path] = {}
    for text in given or []:
        flow, separator, file = text.rpartition("=")
        if not file or (separator and not flow):
            raise typer.BadParameter(f"--qlog {text}: write FILE or FLOW=FILE, as in up=up.sqlog")
        name = f"qlog:{flow}" if separator else "qlog"
        if name in logs:
            raise typer.BadParameter(f"--qlog {text}: {flow or 'all flows'} are logged already")
        if Path(file) in logs.values():
            raise typer.BadParameter(f"--qlog {text}: {file} is written already")
        logs[name] = Path(file)
    return logs
