"""Printing: tables and progress for people, JSON for machines.

Colour and progress bars go to terminals only, and NO_COLOR is heeded (rich does both); what is
redirected is plain text of any width it needs.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import sys
from functools import cache
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from goodqueue.core.intervals import Interval
from goodqueue.core.metrics import is_share, range_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TextIO

    from rich.console import ConsoleOptions, RenderResult
    from rich.progress import Progress

ANY_WIDTH = 1 << 16
"""Columns where nobody looks: more than any table has."""

MISSING = "-"

KEYS = re.compile(r"\.(?=[a-z_])")
"""Between two keys of a path: a narrow header is broken there."""


@cache
def stdout() -> Console:
    """The console for answers."""
    width, height = _size_of(sys.stdout)
    return Console(highlight=False, width=width, height=height)


@cache
def stderr() -> Console:
    """The console for progress and complaints."""
    width, height = _size_of(sys.stderr)
    return Console(stderr=True, highlight=False, width=width, height=height)


def _size_of(stream: TextIO) -> tuple[int | None, int | None]:
    """The columns and lines to print to; None where rich finds them itself.

    It takes a terminal that calls itself dumb for one of 80 columns, whatever its size.
    """
    if not stream.isatty():
        return ANY_WIDTH, None
    if os.environ.get("TERM", "").lower() in {"dumb", "unknown"}:
        return shutil.get_terminal_size()
    return None, None


def print_json(value: object) -> None:
    """Prints one JSON document."""
    print(json.dumps(value, indent=2, allow_nan=False))


class Figures:
    """A table that fits its terminal: columns are left out, and named below, before any is cut.

    Attributes:
        title: what is printed above it; empty for nothing.
        columns: the headers.
        rows: the cells, as text with markup.
        rank: the places of the columns, the most important first.
        prose: the places of columns whose text wraps at words.
    """

    GAP = 2
    """Columns of the terminal between two columns of the table."""

    def __init__(
        self,
        title: str,
        columns: Sequence[str],
        rows: Sequence[Sequence[str]],
        rank: Sequence[int],
        prose: frozenset[int],
    ) -> None:
        self.title = title
        self.columns = columns
        self.rows = rows
        self.rank = rank
        self.prose = prose

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        texts = list(self._texts())
        natural = [max(map(_width, column)) for column in texts]
        least = [self._least(*column, options.max_width) for column in enumerate(texts)]
        kept = sorted(self._kept(natural, least, options.max_width))
        yield self._made(kept, self._widths(kept, natural, least, options.max_width))
        left_out = [name for place, name in enumerate(self.columns) if place not in kept]
        if left_out:
            names = ", ".join(name for name in left_out if name)
            told = f"left out for want of room: {names}; a wider terminal or --json shows them"
            yield Text(told, style="dim")

    def _texts(self) -> Iterator[list[str]]:
        """The header and the cells of every column."""
        for place, column in enumerate(self.columns):
            yield [escape(column), *(row[place] for row in self.rows)]

    def _least(self, place: int, texts: list[str], width: int) -> int:
        """The least width of a column: a whole word or key of its header, and all of a figure.

        The first column and prose wrap at words, and within words that half a terminal cannot hold.
        """
        header, *cells = texts
        word = max(map(_width, KEYS.sub(". ", header).split()), default=0)
        if place in self.prose or place == 0:
            words = [_width(word) for cell in cells for word in cell.split()]
            return max(word, min(max(words, default=0), width // 2))
        return max([word, *map(_width, cells)])

    def _kept(self, natural: list[int], least: list[int], width: int) -> list[int]:
        """The most important columns, as many as there is room for, and at least two."""
        whole = sum(natural) + self.GAP * (len(natural) - 1)
        if whole <= width:
            return list(self.rank)
        kept = list(self.rank)
        while len(kept) > 2 and sum(least[place] + self.GAP for place in kept) - self.GAP > width:
            kept.pop()
        return kept

    def _widths(
        self, kept: list[int], natural: list[int], least: list[int], width: int
    ) -> list[int]:
        """The width of every column: its least, and a share of the room that is left."""
        taken = [least[place] for place in kept]
        room = width - sum(taken) - self.GAP * (len(kept) - 1)
        for index, place in enumerate(kept):
            more = max(0, min(natural[place] - taken[index], room))
            taken[index] += more
            room -= more
        return taken

    def _made(self, kept: list[int], widths: list[int]) -> Table:
        made = Table(
            title=self.title or None,
            title_justify="left",
            title_style="bold",
            box=None,
            padding=(0, self.GAP, 0, 0),
            pad_edge=False,
        )
        for place, width in zip(kept, widths, strict=True):
            header = self.columns[place]
            if len(header) > width:
                header = KEYS.sub(".\n", header)
            made.add_column(
                escape(header),
                justify="left" if place == 0 or place in self.prose else "right",
                header_style="dim",
                overflow="fold",
                width=width,
            )
        for row in self.rows:
            made.add_row(*(row[place] for place in kept))
        return made


def table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    important: Sequence[str] = (),
    prose: Sequence[str] = (),
) -> Figures:
    """A table whose first column names and whose other columns hold figures.

    Where a terminal is too narrow, columns are left out: those on the right first, but those that
    are called important last, and never the first. Columns of prose wrap.
    """
    places = {name: place for place, name in reversed(list(enumerate(columns)))}
    first = [0, *(places[name] for name in important if name in places)]
    rank = list(dict.fromkeys([*first, *range(len(columns))]))
    wrapped = frozenset(places[name] for name in prose if name in places)
    return Figures(title, columns, rows, rank, wrapped)


def _width(markup: str) -> int:
    """The number of columns of the terminal that a text takes."""
    return Text.from_markup(markup).cell_len


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
    """The message on what an interruption leaves."""
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


def counted(count: float | None, noun: str, digits: int = 3) -> str:
    """A number of things, with their noun in the plural unless the printed number is 1."""
    text = number(count, digits)
    return f"{text} {noun}" if text == "1" else f"{text} {noun}s"


def packets(count: int) -> str:
    """So many packets."""
    return f"{count:,} packet" if count == 1 else f"{count:,} packets"


def quantity(
    name: str, value: float | None, half_width: float | None = None, digits: int = 4
) -> str:
    """A figure in the unit that the end of its name says, with its interval if it has one.

    Args:
        name: the metric: `_bps`, `_bytes`, `_s` and the endings of shares have units.
        value: the figure.
        half_width: half its interval, in the same unit.
        digits: significant digits of figures without a unit.
    """
    if value is None:
        return MISSING
    times, by, unit = _unit(name, value)
    found = Interval(value, math.inf if half_width is None else half_width)
    text = found.within(*range_of(name)).text(
        lambda figure: number(figure * times / by, 4 if unit else digits),
        lambda half: number(half * times / by, 2),
    )
    return f"{text} {unit}".rstrip()


def percent(share: float | None) -> str:
    """A share as a percentage."""
    return quantity("_share", share)


def rate(bps: float | None) -> str:
    """A rate in its natural unit."""
    return quantity("_bps", bps)


def size_of(count: float | None) -> str:
    """Bytes in their natural unit."""
    return quantity("_bytes", count)


def milliseconds(seconds: float | None) -> str:
    """A time in milliseconds, without the unit."""
    return MISSING if seconds is None else number(1000 * seconds)


def _unit(name: str, value: float) -> tuple[float, float, str]:
    """The factor and the divisor that a figure is printed with, and the unit that it then has."""
    if is_share(name):
        return 100, 1, "%"
    if name.endswith("_s"):
        return (1, 1, "s") if abs(value) >= 1 else (1000, 1, "ms")
    for ending, unit in (("_bps", "b/s"), ("_bytes", "B")):
        if name.endswith(ending):
            factors = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""))
            fitting = (one for one in factors if abs(value) >= one[0])
            factor, prefix = next(fitting, (1, ""))
            return 1, factor, f"{prefix}{unit}"
    return 1, 1, ""
