"""The panels of a study's picture: which runs each of them shows, and what they share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue.errors import RequestError
from goodqueue.plots.style import GREY, legend_below, legend_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from goodqueue.plots.columns import Value
    from goodqueue.plots.study_table import Table

MOST_FACETS = 12
"""Panels of one axis, which go on in the next row."""
FACETS_IN_A_ROW = 3
MOST_ROWS, MOST_COLUMNS = 6, 5
"""Panels of two axes that can be read."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel.

    Attributes:
        metric: what it shows.
        runs: the runs that it shows.
        title: above it, the value of its column; empty if another panel has it.
        aside: at its right, the value of its row; likewise.
    """

    metric: str
    runs: Table
    title: str = ""
    aside: str = ""


@dataclass(frozen=True, slots=True)
class Layout:
    """All panels, row by row.

    Attributes:
        panels: those that are used.
        rows: how many rows there are.
        columns: how many panels a row has; the last row may have fewer.
    """

    panels: list[Panel]
    rows: int
    columns: int


def layout(table: Table) -> Layout:
    """The panels of a picture whose axes have been checked."""
    spec = table.spec
    match spec.facets:
        case (down, across):
            (metric,) = spec.y
            rows, columns = table.values(down), table.values(across)
            panels = [
                Panel(
                    metric,
                    table.part(down, row).part(across, column),
                    _name(table, across, column) if row == rows[0] else "",
                    _name(table, down, row) if column == columns[-1] else "",
                )
                for row in rows
                for column in columns
            ]
            return Layout(panels, len(rows), len(columns))
        case (axis,):
            values = table.values(axis)
            panels = [
                Panel(
                    metric,
                    table.part(axis, value),
                    _name(table, axis, value) if metric == spec.y[0] else "",
                )
                for metric in spec.y
                for value in values
            ]
            if len(spec.y) > 1 or len(values) <= FACETS_IN_A_ROW:
                return Layout(panels, len(spec.y), len(values))
            columns_of_one = 2 if len(values) == 4 else FACETS_IN_A_ROW
            return Layout(panels, math.ceil(len(values) / columns_of_one), columns_of_one)
        case _:
            return Layout([Panel(metric, table) for metric in spec.y], len(spec.y), 1)


def _name(table: Table, axis: str, value: Value) -> str:
    column = table.column(axis)
    return f"{column.short}: {column.text(value)}"


def check_panels(table: Table) -> None:
    """Refuses more panels than can be read.

    Raises:
        RequestError: with the picture, the axis, and what to write instead.
    """
    spec = table.spec
    where, narrow = f"plot {spec.name}", "narrow the picture down with where"
    if len(spec.facets) < 2:
        for axis in spec.facets:
            count = len(table.values(axis))
            if count > MOST_FACETS:
                raise RequestError(
                    f"{where}: {count} panels of {axis}; at most {MOST_FACETS} can be read: "
                    f"{narrow}"
                )
        return
    if len(spec.y) > 1:
        raise RequestError(
            f"{where}: two facets leave room for one metric, and y names {len(spec.y)}; draw a "
            "picture of each"
        )
    for axis, what, most in zip(
        spec.facets, ("rows", "columns"), (MOST_ROWS, MOST_COLUMNS), strict=True
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
        figure.suptitle(spec.title, x=0.012, ha="left", fontsize=13, fontweight="bold")
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
    """Labels of axes, once each where panels share them."""
    spec, figure = whole.spec, used[0].figure
    if len(spec.facets) == 2:
        drawn = [axes for axes in used if axes.get_xlabel()]
        figure.supxlabel(drawn[0].get_xlabel(), fontsize="medium")
        figure.supylabel(drawn[0].get_ylabel(), fontsize="medium")
    for index, axes in enumerate(used):
        if index % made.columns or len(spec.facets) == 2:
            axes.set_ylabel("")
        lowest = index + made.columns >= len(used)
        if lowest:
            axes.tick_params(labelbottom=True)
        if len(spec.facets) == 2 or not (lowest or spec.kind == "cdf"):
            axes.set_xlabel("")


def _legend(whole: Table, used: list[Axes]) -> None:
    """One legend of what any panel shows: the series in their order, then numbered points."""
    spec = whole.spec
    named: dict[str, object] = {}
    for axes in used:
        handles, labels = axes.get_legend_handles_labels()
        for label, handle in zip(labels, handles, strict=True):
            named.setdefault(label, handle)
    if not named:
        return
    title, order = None, list(named)
    if spec.series is not None:
        column = whole.column(spec.series)
        title = column.label
        series = [legend_label(column.text(value)) for value in whole.values(spec.series)]
        order.sort(key=lambda label: series.index(label) if label in series else len(series))
    legend_below(used[0].figure, [named[label] for label in order], order, title)


def _colour_bars(whole: Table, panels: list[Axes]) -> None:
    """One for the panels of each metric."""
    metrics = whole.spec.y
    each = len(panels) // len(metrics)
    for row, metric in enumerate(metrics):
        own = panels[row * each : (row + 1) * each]
        label = whole.column(metric).title
        own[0].figure.colorbar(own[0].collections[0], ax=own, label=label, pad=0.02)
