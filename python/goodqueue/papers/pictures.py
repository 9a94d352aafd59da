"""A published table as pictures: our figures with intervals, the paper's figures as diamonds."""

from __future__ import annotations

import math
import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING

from goodqueue.plots.style import BLACK, CYCLE, Picture, legend_below, log_ticks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from goodqueue.papers.cells import Cell

WIDE = 20.0
"""Ratio of figures above which an axis is logarithmic."""

LABEL_COLUMNS = 20
"""Letters of a line beside a panel: as many as the panel is high."""

TITLE_COLUMNS = 70
DASHES = {"dashed": "--", "dotted": ":", "dash-dotted": "-."}

CLOSE = 0.07
"""Smallest distance of labels of the x axis, as a share of it."""

MAX_LINES = len(CYCLE)

LEGEND_COLUMNS = 4
LEGEND_ROW_POINTS = 18


def comparisons(  # noqa: PLR0913 - by name, each a word of the picture
    name: str,
    title: str,
    cells: Sequence[Cell],
    axis: str,
    xlabel: str,
    *,
    units: Mapping[str, str],
    log: bool = True,
) -> list[Picture]:
    """Returns one picture, or one for each quantity if a panel would have too many lines.

    Their panels then differ in the first keys, as many as leave a colour for every line.

    Args:
        name: file name without its ending; further pictures have a letter behind it.
        title: title above the first panel.
        cells: all cells of the table.
        axis: the key that is the x axis.
        xlabel: its label, with its unit.
        units: unit of every key.
        log: True if the x axis is logarithmic.
    """
    keys = [key for key in cells[0].row if key != axis]
    shown = [_with_units(cell, axis, units) for cell in cells]
    apart = next(
        count for count in range(len(keys) + 1) if _lines_of(shown, keys[count:]) <= MAX_LINES
    )
    if not apart:
        return [comparison(name, title, shown, axis, xlabel, log=log)]
    pictures = []
    for place, quantity in enumerate(dict.fromkeys(cell.quantity for cell in shown)):
        own = [_in_panel(cell, keys[:apart]) for cell in shown if cell.quantity == quantity]
        letter = chr(ord("a") + place)
        pictures.append(comparison(f"{name}-{letter}", title, own, axis, xlabel, log=log))
    return pictures


def _with_units(cell: Cell, axis: str, units: Mapping[str, str]) -> Cell:
    """Returns the cell with the units of its keys, which legends show; the axis is a number."""
    row = {
        key: value if key == axis else f"{value} {units.get(key, '')}".strip()
        for key, value in cell.row.items()
    }
    return replace(cell, row=row)


def _lines_of(cells: Sequence[Cell], keys: Sequence[str]) -> int:
    """Returns the number of lines of a panel that these keys tell apart."""
    return len({tuple(cell.row[key] for key in keys) for cell in cells})


def _in_panel(cell: Cell, keys: Sequence[str]) -> Cell:
    """Returns the cell for the panel of its values of some keys."""
    at = ", ".join(cell.row[key] for key in keys)
    row = {key: value for key, value in cell.row.items() if key not in keys}
    return replace(cell, row=row, quantity=f"{cell.quantity} at {at}")


def comparison(  # noqa: PLR0913 - by name, each a word of the picture
    name: str, title: str, cells: Sequence[Cell], axis: str, xlabel: str, *, log: bool = True
) -> Picture:
    """Returns a panel for each quantity over one key of the rows, and a colour per other value.

    Args:
        name: file name without its ending.
        title: title above the first panel.
        cells: all cells of the table.
        axis: the key that is the x axis.
        xlabel: its label, with its unit.
        log: True if the x axis is logarithmic.
    """
    quantities = list(dict.fromkeys((cell.quantity, cell.unit) for cell in cells))
    groups = list(dict.fromkeys(_group(cell, axis) for cell in cells))
    colours = {group: CYCLE[index % MAX_LINES] for index, group in enumerate(groups)}
    marks = _marks(cells)

    def draw(axes: list[Axes]) -> None:
        for (quantity, unit), own in zip(quantities, axes, strict=True):
            members = [cell for cell in cells if cell.quantity == quantity]
            for group, colour in colours.items():
                _lines(own, [one for one in members if _group(one, axis) == group], axis, colour)
            label = f"{quantity}, {unit}" if unit else quantity
            own.set_ylabel(textwrap.fill(label, LABEL_COLUMNS))
            _scale(own, members)
        _x_axis(axes[-1], sorted({float(cell.row[axis]) for cell in cells}), xlabel, log=log)
        _legend(axes[0], title, {", ".join(group): colour for group, colour in colours.items()})
        legend_below(axes[0].figure, list(marks.values()), list(marks), None)

    return Picture(
        name,
        f"A panel for each quantity, against {xlabel}.",
        draw,
        panels=len(quantities),
        height_inches=1.3 + 1.9 * len(quantities),
    )


def _marks(cells: Sequence[Cell]) -> dict[str, Artist]:
    """Returns a mark for each kind of figure, by what it means."""
    from matplotlib.lines import Line2D

    variants = dict.fromkeys(name for cell in cells for name in cell.variants)
    beside = [one for cell in cells for one in cell.beside if one.drawn]
    ranges = {one.label for one in beside if math.isnan(one.spread.mean)}
    others = dict.fromkeys(one.label for one in beside)
    found: dict[str, Artist] = {}
    if any(cell.published for cell in cells):
        found["the paper"] = Line2D([], [], ls="", marker="D", ms=6.5, color=BLACK, mfc="white")
    varies = any(cell.ours.low < cell.ours.high for cell in cells)
    interval = "our means and the range of 95 % of single runs"
    ours = interval if varies else "ours, the same in any run"
    found[ours] = Line2D([], [], ls="-", marker="o", ms=4, color=BLACK)
    for name, dashes in zip(variants, DASHES.values(), strict=False):
        found[name] = Line2D([], [], ls=dashes, lw=1.1, color=BLACK)
    for name in others:
        found[name] = Line2D([], [], ls="", marker="x", ms=6, color=BLACK)
        if name in ranges:
            text = f"{name}, from least to most"
            found[text] = Line2D([], [], ls="", marker="|", ms=9, color=BLACK)
    return found


def _group(cell: Cell, axis: str) -> tuple[str, ...]:
    return tuple(value for key, value in cell.row.items() if key != axis)


def _lines(axes: Axes, cells: Sequence[Cell], axis: str, colour: str) -> None:
    cells = sorted(cells, key=lambda cell: float(cell.row[axis]))
    if not cells:
        return
    x = [float(cell.row[axis]) for cell in cells]
    means = [cell.ours.mean for cell in cells]
    below = [max(cell.ours.mean - cell.ours.low, 0) for cell in cells]
    above = [max(cell.ours.high - cell.ours.mean, 0) for cell in cells]
    for name, style in zip(cells[0].variants, DASHES.values(), strict=False):
        values = [cell.variants[name].mean for cell in cells]
        axes.plot(x, values, style, color=colour, lw=1.1, zorder=1)
    axes.errorbar(
        x, means, yerr=[below, above], fmt="o-", ms=4, capsize=2.5, color=colour, zorder=3
    )
    for place in [place for place, one in enumerate(cells[0].beside) if one.drawn]:
        theirs = [cell.beside[place].spread for cell in cells]
        ranges = [(at, one) for at, one in zip(x, theirs, strict=True) if math.isnan(one.mean)]
        for at, one in ranges:
            axes.vlines(at, one.low, one.high, color=BLACK, lw=1, zorder=5)
        axes.plot(x, [one.mean for one in theirs], "x", color=BLACK, ms=6, zorder=5)
    printed = [
        (at, float(cell.published)) for at, cell in zip(x, cells, strict=True) if cell.published
    ]
    if printed:
        axes.plot(*zip(*printed, strict=True), "D", color=colour, mfc="white", ms=6.5, zorder=4)


def _scale(axes: Axes, cells: Sequence[Cell]) -> None:
    shown = [float(cell.published or 0) or cell.ours.mean for cell in cells]
    if min(shown) > 0 and max(shown) > WIDE * min(shown):
        axes.set_yscale("log")
        drawn = [*shown, *(one.mean for cell in cells for one in cell.variants.values())]
        least = min(value for value in drawn if value > 0)
        # A variant close to zero must not flatten the others.
        axes.set_ylim(max(least / 2, min(shown) / 30), max(drawn) * 2)
        log_ticks(axes.yaxis, lambda value: f"{value:,.0f}" if value >= 1 else f"{value:g}", (1,))
    elif min(shown) >= 0:
        # The largest figure would otherwise lie on the edge.
        axes.set_ylim(0, 1.05 * axes.get_ylim()[1])


def _x_axis(axes: Axes, ticks: Sequence[float], label: str, *, log: bool) -> None:
    axes.set_xlabel(label)
    if log and ticks[0] > 0:
        axes.set_xscale("log")
    place = math.log if log and ticks[0] > 0 else float
    apart = CLOSE * (place(ticks[-1]) - place(ticks[0]))
    shown = [ticks[0]]
    for tick in ticks[1:]:
        if place(tick) - place(shown[-1]) >= apart:
            shown.append(tick)
    axes.set_xticks(shown, [f"{tick:,.0f}" if tick >= 1e5 else f"{tick:,g}" for tick in shown])
    axes.xaxis.minorticks_off()


def _legend(axes: Axes, title: str, colours: Mapping[str, str]) -> None:
    columns = min(len(colours), LEGEND_COLUMNS)
    rows = math.ceil(len(colours) / columns) if len(colours) > 1 else 0
    pad = 8 + LEGEND_ROW_POINTS * rows
    axes.set_title(textwrap.fill(title, TITLE_COLUMNS), pad=pad)
    if rows:
        for label, colour in colours.items():
            axes.plot([], [], "-", color=colour, label=label)
        axes.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=columns, columnspacing=1.2)
