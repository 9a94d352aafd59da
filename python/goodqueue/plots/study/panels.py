"""Panels of a study's picture: the runs in each of them, and their common elements."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue.errors import RequestError
from goodqueue.plots.study.text import LINE_INCHES, lines_of, panel_letters, wrapped
from goodqueue.plots.style import (
    GREY,
    label_all,
    legend_below,
    legend_label,
    title_of_all,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from goodqueue.core.columns import Value
    from goodqueue.plots.study.table import Table

MAX_FACETS = 12
"""Largest number of panels of one axis, which continue in the next row."""
FACETS_IN_A_ROW = 3
MAX_ROWS, MAX_COLUMNS = 6, 5
"""Largest numbers of rows and columns of panels of two axes that can be read."""
ASIDE_LETTERS = 20
"""Number of letters of a name beside a row of panels that fit into the height of a low panel."""


NUMBERED = re.compile(r"\d+: ")
"""Beginning of the legend's names of points of a Pareto front."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel.

    Attributes:
        metric: metric that it shows.
        runs: the runs that it shows.
        title: value of its column, above it; empty if another panel has it.
        aside: value of its row, at its right; empty if another panel has it.
    """

    metric: str
    runs: Table
    title: str = ""
    aside: str = ""


@dataclass(frozen=True, slots=True)
class Layout:
    """All panels, row by row.

    Attributes:
        panels: panels in use.
        rows: number of rows.
        columns: number of panels in a row; the last row may have fewer.
    """

    panels: list[Panel]
    rows: int
    columns: int

    @property
    def height_inches(self) -> float:
        """Height of all panels: smaller for each if there are many, larger for long names."""
        each = {1: 3.9, 2: 2.9, 3: 2.9}.get(self.rows, 2.1)
        titles = [panel.title for panel in self.panels]
        rows = range(0, len(titles), self.columns)
        titled = sum(any(titles[first : first + self.columns]) for first in rows)
        beyond_one = max(lines_of(titles) - 1, 0)
        return each * self.rows + LINE_INCHES * beyond_one * titled


def layout(table: Table) -> Layout:
    """Returns the panels of a picture whose axes have been checked."""
    spec = table.spec
    match spec.facets:
        case (down, across):
            (metric,) = spec.y
            rows, columns = table.values(down), table.values(across)
            wide, high = panel_letters(len(columns)), ASIDE_LETTERS
            panels = [
                Panel(
                    metric,
                    table.part(down, row).part(across, column),
                    _name(table, across, column, wide) if row == rows[0] else "",
                    _name(table, down, row, high) if column == columns[-1] else "",
                )
                for row in rows
                for column in columns
            ]
            return Layout(panels, len(rows), len(columns))
        case (axis,):
            values, side_by_side = table.values(axis), len(table.values(axis))
            if len(spec.y) == 1 and side_by_side > FACETS_IN_A_ROW:
                side_by_side = 2 if side_by_side == 4 else FACETS_IN_A_ROW
            wide = panel_letters(side_by_side)
            panels = [
                Panel(
                    metric,
                    table.part(axis, value),
                    _name(table, axis, value, wide) if metric == spec.y[0] else "",
                )
                for metric in spec.y
                for value in values
            ]
            return Layout(panels, math.ceil(len(panels) / side_by_side), side_by_side)
        case _:
            return Layout([Panel(metric, table) for metric in spec.y], len(spec.y), 1)


def _name(table: Table, axis: str, value: Value, letters: float) -> str:
    """Returns the axis and one of its values, in lines of this many letters."""
    column = table.column(axis)
    return wrapped(f"{column.short}: {column.text(value)}", letters)


def check_panels(table: Table) -> None:
    """Refuses more panels than can be read.

    Raises:
        RequestError: with the picture, the axis, and what to write instead.
    """
    spec = table.spec
    where, narrow = f"plot {spec.name}", "restrict the picture with where"
    if len(spec.facets) < 2:
        for axis in spec.facets:
            count = len(table.values(axis))
            if count > MAX_FACETS:
                raise RequestError(
                    f"{where}: {count} panels of {axis}; at most {MAX_FACETS} can be read: {narrow}"
                )
        return
    if len(spec.y) > 1:
        raise RequestError(
            f"{where}: two facets leave room for one metric, and y names {len(spec.y)}; draw a "
            "picture of each"
        )
    for axis, what, most in zip(
        spec.facets, ("rows", "columns"), (MAX_ROWS, MAX_COLUMNS), strict=True
    ):
        count = len(table.values(axis))
        if count > most:
            raise RequestError(
                f"{where}: {count} {what} of panels, of {axis}; at most {most} can be read: "
                f"{narrow}, or make another axis the {what}"
            )


def finish(whole: Table, made: Layout, panels: list[Axes]) -> None:
    """Adds titles, one legend for all panels, and labels at the outer panels alone."""
    spec, figure, used = whole.spec, panels[0].figure, panels[: len(made.panels)]
    if spec.title:
        title_of_all(figure, spec.title)
    for axes in panels[len(used) :]:
        axes.set_axis_off()
    for axes, panel in zip(used, made.panels, strict=True):
        _name_panel(axes, panel)
    _label_the_outside(whole, made, used)
    if spec.kind == "heatmap":
        _colour_bars(whole, used)
    _legend(whole, used)


def _name_panel(axes: Axes, panel: Panel) -> None:
    if panel.title:
        axes.set_title(panel.title, fontsize=11, fontweight="normal")
    if panel.aside:
        axes.annotate(
            panel.aside,
            xy=(1.0, 0.5),
            xycoords="axes fraction",
            xytext=(6, 0),
            textcoords="offset points",
            rotation=270,
            ha="left",
            va="center",
            fontsize=11,
        )
    if panel.runs.frame.is_empty():
        axes.text(
            *(0.5, 0.5, "no runs"),
            transform=axes.transAxes,
            ha="center",
            va="center",
            color=GREY,
        )


def _label_the_outside(whole: Table, made: Layout, used: list[Axes]) -> None:
    """Writes labels of axes, once each if panels share them."""
    spec, figure = whole.spec, used[0].figure
    if len(spec.facets) == 2:
        x = whole.column(spec.x or spec.y[0]).title
        label_all(figure, x, used[0].get_ylabel().replace("\n", " "))
    for index, axes in enumerate(used):
        if index % made.columns or len(spec.facets) == 2:
            axes.set_ylabel("")
        lowest = index + made.columns >= len(used)
        if lowest:
            axes.tick_params(labelbottom=True)
        if len(spec.facets) == 2 or not (lowest or spec.kind == "cdf"):
            axes.set_xlabel("")


def _legend(whole: Table, used: list[Axes]) -> None:
    """Draws a legend of the series in all panels, in their order, and one of numbered points."""
    spec = whole.spec
    named: dict[str, Artist] = {}
    for axes in used:
        handles, labels = axes.get_legend_handles_labels()
        for label, handle in zip(labels, handles, strict=True):
            named.setdefault(label, handle)
    figure, numbered = used[0].figure, [label for label in named if NUMBERED.match(label)]
    if numbered:
        handles = [named[label] for label in numbered]
        legend_below(figure, handles, numbered, "no other beats", handlelength=0)
    if spec.series is None:
        return
    column = whole.column(spec.series)
    series = [legend_label(column.text(value)) for value in whole.values(spec.series)]
    shown = [label for label in series if label in named]
    if shown:
        legend_below(figure, [named[label] for label in shown], shown, column.label)


def _colour_bars(whole: Table, panels: list[Axes]) -> None:
    """Draws a colour bar for the panels of each metric."""
    metrics = whole.spec.y
    each = len(panels) // len(metrics)
    for row, metric in enumerate(metrics):
        own = panels[row * each : (row + 1) * each]
        label = whole.column(metric).title
        own[0].figure.colorbar(own[0].collections[0], ax=own, label=label, pad=0.02)
