"""A published table as a picture: our figures with intervals, the paper's figures as diamonds."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

from goodqueue.plots.style import BLACK, CYCLE, Picture, log_ticks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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

MOST_LINES = len(CYCLE)

LEGEND_COLUMNS = 4
LEGEND_ROW_POINTS = 18


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
    colours = {group: CYCLE[index % MOST_LINES] for index, group in enumerate(groups)}

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

    variants = dict.fromkeys(name for cell in cells for name in cell.variants)
    others = dict.fromkeys(one.label for cell in cells for one in cell.beside)
    parts = ["diamonds: the paper"] if any(cell.published for cell in cells) else []
    parts += ["lines with bars: our means and the range of 95 % of single runs"]
    parts += [f"{dashes}: {name}" for name, dashes in zip(variants, DASHES, strict=False)]
    ranges = any(math.isnan(one.spread.mean) for cell in cells for one in cell.beside)
    marks = "thin black lines from least to most, or crosses" if ranges else "crosses"
    parts += [f"{marks}: {name}" for name in others]
    caption = "; ".join(parts)
    return Picture(
        name,
        f"{caption[0].upper()}{caption[1:]}.",
        draw,
        panels=len(quantities),
        height_inches=1.3 + 1.9 * len(quantities),
    )


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
    for place in range(len(cells[0].beside)):
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
