"""Printing: tables and progress for people, JSON for machines.

Colour and progress bars go to terminals only, and NO_COLOR is heeded (rich does both); what is
redirected is plain text of any width it needs.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.progress import Progress

ANY_WIDTH = 1 << 16
"""Columns where nobody looks: more than any table has."""

MISSING = "-"


@cache
def stdout() -> Console:
    """The console for answers."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else ANY_WIDTH)


@cache
def stderr() -> Console:
    """The console for progress and complaints."""
    width = None if sys.stderr.isatty() else ANY_WIDTH
    return Console(stderr=True, highlight=False, width=width)


def print_json(value: object) -> None:
    """Prints one JSON document."""
    print(json.dumps(value, indent=2, allow_nan=False))


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A table whose first column names and whose other columns hold figures."""
    made = Table(
        title=title, title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0)
    )
    for index, column in enumerate(columns):
        made.add_column(column, justify="left" if index == 0 else "right", header_style="dim")
    for row in rows:
        made.add_row(*row)
    return made


def progress(*, counted: bool = True) -> Progress:
    """A progress bar on a terminal, of what is counted or of a share; nothing elsewhere."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn() if counted else TaskProgressColumn(),
        TimeElapsedColumn(),
        console=stderr(),
        transient=True,
        disable=not sys.stderr.isatty(),
    )


def goes_on(kept: bool) -> str:
    """What an interruption leaves."""
    if kept:
        return "what had finished is kept, and the same command goes on"
    return "what had finished is lost, for the user's cache cannot be written; --store keeps it"


def number(value: float | None, digits: int = 4) -> str:
    """A figure with so many significant digits, or a dash where there is none."""
    if value is None:
        return MISSING
    magnitude = abs(value)
    if float(value).is_integer() or magnitude >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    if magnitude < 1e-3:
        return f"{value:.2e}"
    return f"{value:#.{digits}g}"


def plain(text: str) -> str:
    """A user's text on one line, as it stands: neither markup nor control characters act."""
    return escape("".join(letter if letter.isprintable() else " " for letter in text))


def packets(count: int) -> str:
    """So many packets."""
    return f"{count:,} packet" if count == 1 else f"{count:,} packets"


def percent(share: float | None) -> str:
    """A share as a percentage."""
    return MISSING if share is None else f"{number(100 * share)} %"


def rate(bps: float | None) -> str:
    """A rate in its natural unit."""
    return MISSING if bps is None else _scaled(bps, "b/s")


def size_of(count: float | None) -> str:
    """Bytes in their natural unit."""
    return MISSING if count is None else _scaled(count, "B")


def milliseconds(seconds: float | None) -> str:
    """A time in milliseconds, without the unit."""
    return MISSING if seconds is None else number(1000 * seconds)


def _scaled(value: float, unit: str) -> str:
    for factor, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= factor:
            return f"{number(value / factor)} {prefix}{unit}"
    return f"{number(value)} {unit}"
