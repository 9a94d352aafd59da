"""Printing: tables and progress for people, JSON for machines.

Only terminals get colour and progress bars, and NO_COLOR is respected (rich does both). Redirected
output is plain text without a limit on its width.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import sys
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from goodqueue.core.intervals import Interval
from goodqueue.core.metrics import is_share, range_of
from goodqueue.core.text import for_terminal, printable
from goodqueue.errors import RequestError, nearest
from goodqueue.output.written import FORMATS, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TextIO

    from rich.console import ConsoleOptions, RenderableType, RenderResult
    from rich.progress import Progress

ANY_WIDTH = 1 << 16
"""Width of redirected output in columns: more than any table has."""

MISSING = "-"

KEYS = re.compile(r"\.(?=[a-z_])")
"""Boundary between two keys of a path, at which a narrow header is broken."""


class Terminal(Console):
    """A console whose texts cannot control the terminal, whichever file or name they are from.

    Attributes:
        tables: `tex`, `csv` or `md` to print tables only, in this format; None to print everything.
    """

    tables: str | None = None
    _printed = False

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yields the parts of what is printed, with harmless texts."""
        if self.tables is not None:
            if isinstance(renderable, Figures):
                yield Segment(self._printed * "\n" + renderable.written(self.tables))
                self._printed = True
            return
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield segment._replace(text=for_terminal(segment.text))


@cache
def stdout() -> Terminal:
    """Returns the console for answers."""
    width, height = _size_of(sys.stdout)
    return Terminal(highlight=False, width=width, height=height)


@cache
def stderr() -> Console:
    """Returns the console for progress and errors."""
    width, height = _size_of(sys.stderr)
    return Terminal(stderr=True, highlight=False, width=width, height=height)


def _size_of(stream: TextIO) -> tuple[int | None, int | None]:
    """Returns the columns and lines to print to; None if rich finds them itself.

    rich assumes 80 columns for a terminal of type `dumb`, whatever its size.
    """
    if not stream.isatty():
        return ANY_WIDTH, None
    if os.environ.get("TERM", "").lower() in {"dumb", "unknown"}:
        return shutil.get_terminal_size()
    return None, None


@contextmanager
def only_tables(kind: str | None) -> Iterator[None]:
    """Lets `stdout` print tables only, in a format of `goodqueue.output.written`, if one is given.

    Raises:
        RequestError: if the format is unknown.
    """
    if kind is not None and kind not in FORMATS:
        raise RequestError(f"--tables {kind}: {nearest(kind, FORMATS)}")
    stdout.cache_clear()
    stdout().tables, stdout().width = kind, ANY_WIDTH
    try:
        yield
    finally:
        stdout.cache_clear()


def say(*lines: str, markup: bool = False) -> None:
    """Prints lines without breaking them; markup has an effect only if requested."""
    for line in lines:
        stdout().print(line, soft_wrap=True, markup=markup)


def print_json(value: object) -> None:
    """Prints one JSON document."""
    print(json.dumps(value, indent=2, allow_nan=False))


class Figures:
    """A table that fits its terminal. Columns are omitted, and named below, before any is cut.

    Attributes:
        title: text above the table; may be empty.
        columns: the headers.
        rows: the cells, as text with markup.
        rank: indices of the columns, the most important first.
        prose: indices of columns whose text wraps at words.
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
            note = f"omitted for lack of space: {names}; a wider terminal or --json shows them"
            yield Text(note, style="dim")

    def written(self, kind: str) -> str:
        """Returns the whole table as text of LaTeX, CSV or Markdown (`tex`, `csv`, `md`)."""
        rows = [[Text.from_markup(cell).plain for cell in row] for row in self.rows]
        return written(kind, self.title, self.columns, rows)

    def _texts(self) -> Iterator[list[str]]:
        """Yields the header and the cells of every column."""
        for place, column in enumerate(self.columns):
            yield [escape(column), *(row[place] for row in self.rows)]

    def _least(self, place: int, texts: list[str], width: int) -> int:
        """Returns the least width of a column: a word or key of its header, and all of a figure.

        The first column and prose wrap at words. A word longer than half the terminal is broken.
        """
        header, *cells = texts
        word = max(map(_width, KEYS.sub(". ", header).split()), default=0)
        if place in self.prose or place == 0:
            words = [_width(word) for cell in cells for word in cell.split()]
            return max(word, min(max(words, default=0), width // 2))
        return max([word, *map(_width, cells)])

    def _kept(self, natural: list[int], least: list[int], width: int) -> list[int]:
        """Returns the most important columns that fit, and at least two."""
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
        """Returns the width of every column: its least, and a share of the remaining space."""
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
    """Returns a table whose first column has names and whose other columns have figures.

    If a terminal is too narrow, columns are omitted from the right, those marked as important last,
    and never the first. Columns of prose wrap.
    """
    places = {name: place for place, name in reversed(list(enumerate(columns)))}
    first = [0, *(places[name] for name in important if name in places)]
    rank = list(dict.fromkeys([*first, *range(len(columns))]))
    wrapped = frozenset(places[name] for name in prose if name in places)
    return Figures(title, columns, rows, rank, wrapped)


def _width(markup: str) -> int:
    """Returns the number of columns of the terminal that a text needs."""
    return Text.from_markup(markup).cell_len


def progress(*, counted: bool = True) -> Progress:
    """Returns a progress bar for a count or a share on a terminal; no output elsewhere."""
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
    """Returns the message on the state after an interruption."""
    if kept:
        return "finished runs are stored, and the same command continues"
    return "finished runs are lost, because the user's cache cannot be written; --store stores them"


def number(value: float | None, digits: int = 4) -> str:
    """Returns a figure with this number of significant digits, or a dash for None."""
    if value is None:
        return MISSING
    magnitude = abs(value)
    if float(value).is_integer() or magnitude >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    if magnitude < 1e-3:
        return f"{value:.2e}"
    return f"{value:#.{digits}g}"


def plain(text: str) -> str:
    """Returns a user's text on one line, with markup and control characters made harmless."""
    return escape(printable(text))


def counted(count: float | None, noun: str, digits: int = 3) -> str:
    """Returns a number with its noun, in the plural unless the printed number is 1."""
    text = number(count, digits)
    return f"{text} {noun}" if text == "1" else f"{text} {noun}s"


def packets(count: int) -> str:
    """Returns a number of packets in words."""
    return f"{count:,} packet" if count == 1 else f"{count:,} packets"


def quantity(
    name: str, value: float | None, half_width: float | None = None, digits: int = 4
) -> str:
    """Returns a figure in the unit that its name ends with, with its interval if it has one.

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
    """Returns a share as a percentage."""
    return quantity("_share", share)


def rate(bps: float | None) -> str:
    """Returns a rate in its natural unit."""
    return quantity("_bps", bps)


def size_of(count: float | None) -> str:
    """Returns a number of bytes in its natural unit."""
    return quantity("_bytes", count)


def milliseconds(seconds: float | None) -> str:
    """Returns a time in milliseconds, without the unit."""
    return MISSING if seconds is None else number(1000 * seconds)


def _unit(name: str, value: float) -> tuple[float, float, str]:
    """Returns the factor and the divisor for printing a figure, and its printed unit."""
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
