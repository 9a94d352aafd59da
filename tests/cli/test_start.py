"""A command starts fast: it imports the libraries that it uses, and no others."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.exceptions import TyperException
from typer.main import get_command

from conftest import SMALL
from goodqueue.cli.app import application
from goodqueue.cli.plain import convert_plain_values

if TYPE_CHECKING:
    from collections.abc import Callable

    Conversion = Callable[[object], tuple[Any, ...]]

# Prints the imported modules as the last line, whatever the command prints.
IMPORTED = """\
import json, sys
from goodqueue.cli import run_command
code = run_command(sys.argv[1:])
print()
print(json.dumps([code, sorted(sys.modules)]))
"""

HEAVY = ("polars", "numpy", "scipy", "matplotlib", "distributed", "pydantic", "sqlite3", "asyncio")


def imported(*arguments: object) -> set[str]:
    """Returns the modules that a command imports, after it has succeeded."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
    )
    code, modules = json.loads(done.stdout.splitlines()[-1])
    assert code == 0, done.stderr
    return set(modules)


@pytest.mark.parametrize("options", [(), ("--json",), ("--set", "duration=2s", "--seed", "3")])
def test_a_run_without_files_imports_no_heavy_library(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text(SMALL.replace("20s", "1s"))
    modules = imported("run", scenario, *options)
    assert modules.isdisjoint({*HEAVY, "rich.progress"})


@pytest.mark.parametrize("options", [("--version",), ("--help",), ("run", "--help"), ("schema",)])
def test_version_and_help_import_neither_tables_nor_frames(options: tuple[str, ...]) -> None:
    modules = imported(*options)
    assert modules.isdisjoint({*HEAVY, "rich", "goodqueue.runs.api"})


PRINTING = {"help", "version", "check", "install_completion", "show_completion"}


def conversions(command: Any, prefix: str = "") -> dict[str, Conversion]:  # noqa: ANN401
    """Returns the conversion of each parameter of a command and its subcommands, by name."""
    context = command.context_class(command)
    found: dict[str, Conversion] = {
        f"{prefix} {one.name}": partial(converted, one, context)
        for one in command.get_params(context)
        if one.name not in PRINTING
    }
    for name, subcommand in getattr(command, "commands", {}).items():
        found |= conversions(subcommand, f"{prefix} {name}")
    return found


def converted(parameter: Any, context: object, value: object) -> tuple[Any, ...]:  # noqa: ANN401
    """Returns what a parameter makes of a value, and its type; or its refusal."""
    try:
        found = parameter.process_value(context, value)
    except TyperException as error:
        return "refused", error.format_message()
    return "converted", type(found), found


def test_values_are_converted_as_typer_converts_them(tmp_path: Path) -> None:
    texts = ["", "0", "1", "007", "20000", "-1", "+1", " 1", "1_0", "1.5", "1e3", "x", "²", "٣"]
    texts += ["9" * 18, "9" * 30, "-", str(tmp_path), str(tmp_path / "none")]
    ours = conversions(convert_plain_values(get_command(application())))
    typers = conversions(get_command(application()))
    assert len(ours) > 100
    for name, conversion in ours.items():
        for value in [None, True, False, 3, 2.5, Path("a"), ["a", "b"], ("1",), [""], [], *texts]:
            assert conversion(value) == typers[name](value), (name, value)
