"""Pictures of a study: means with their intervals, distributions, and what none beats.

They are drawn from a table with one row per run: a column for each axis, `seed`, and one for each
metric. Means are taken over the seeds of a variant and over nothing else.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from goodqueue.errors import RequestError
from goodqueue.plots import study_kinds
from goodqueue.plots.study_caption import caption
from goodqueue.plots.study_table import Table
from goodqueue.plots.style import LINES, Picture

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from matplotlib.axes import Axes

    from goodqueue.plots.columns import Value
    from goodqueue.study.model import PlotSpec

MOST_FACETS = 12
FACETS_IN_A_ROW = 3


def study_picture(
    frame: pl.DataFrame, spec: PlotSpec, axes: Sequence[str], *, held: str = "", watched: bool
) -> Picture:
    """The picture that a study file asks for.

    Args:
        frame: one row per run, in the order of the grid: the axes, `seed`, and the metrics that the
            picture names. A figure that a run does not have is null or NaN.
        spec: what is asked for.
        axes: the study's axes; those that the picture does not name must not vary within a point.
        held: what was the same in every run beside those axes, for the caption.
        watched: whether a stopping rule chose the number of replicates; intervals then allow for
            that.

    Raises:
        RequestError: if the picture cannot be drawn from such a table.
    """
    ordered = frame.sort("seed", maintain_order=True)
    table = Table(ordered, spec, tuple(axes), watched)
    check(table)
    facets: list[Value | None] = [None]
    if spec.facets is not None:
        facets = list(table.values(spec.facets))
    columns, rows = len(facets), len(spec.y)
    if rows == 1 and columns > FACETS_IN_A_ROW:
        columns = 2 if columns == 4 else FACETS_IN_A_ROW
        rows = math.ceil(len(facets) / columns)
    draw_panel = study_kinds.KINDS[spec.kind]

    def draw(panels: list[Axes]) -> None:
        panel = iter(panels)
        for row, metric in enumerate(spec.y):
            for facet in facets:
                axes = next(panel)
                draw_panel(table, table.part(spec.facets, facet), metric, axes)
                if facet is not None and row == 0:
                    axes.set_title(_facet_title(table, facet), fontsize=11, fontweight="normal")
        study_kinds.finish(table, panels, columns, len(facets) * len(spec.y))

    height = 3.9 if rows == 1 else 2.9 * rows
    text = caption(table, held)
    return Picture(
        spec.name,
        text,
        draw,
        panels=rows,
        height_inches=height,
        columns=columns,
        share_x="row" if spec.kind == "cdf" else "all",
        share_y="all" if len(spec.y) == 1 else "row",
    )


def _facet_title(table: Table, facet: Value) -> str:
    assert table.spec.facets is not None
    column = table.column(table.spec.facets)
    return f"{column.short}: {column.text(facet)}"


def check(table: Table) -> None:
    """Refuses what would mislead, or could not be read.

    It looks at the axes and at which columns there are, not at any metric's values.

    Raises:
        RequestError: with what is wrong, and what to write instead.
    """
    spec, frame = table.spec, table.frame
    where = f"plot {spec.name}"
    if frame.is_empty():
        raise RequestError(f"{where}: no run has finished; run the study first")
    named = [name for name in (spec.x, *spec.y, spec.series, spec.facets) if name]
    for name in named:
        if name not in frame.columns:
            raise RequestError(f"{where}: the table has no column {name}")
    if spec.kind == "heatmap" and (spec.series is None or spec.x not in table.axes):
        raise RequestError(f"{where}: a heat map needs two axes; name them as x and series")
    if spec.series and spec.kind != "heatmap" and len(table.values(spec.series)) > LINES:
        count = len(table.values(spec.series))
        raise RequestError(
            f"{where}: {count} values of {spec.series} cannot be told apart; {LINES} can: make it "
            "x or facets, or draw a heat map"
        )
    if spec.facets and len(table.values(spec.facets)) > MOST_FACETS:
        count = len(table.values(spec.facets))
        raise RequestError(f"{where}: {count} panels; at most {MOST_FACETS} can be read")
    if spec.kind in {"lines", "heatmap"}:
        _check_no_axis_is_hidden(table, where)


def _check_no_axis_is_hidden(table: Table, where: str) -> None:
    """The runs of one point differ in their seed alone: else its interval would mean nothing."""
    spec = table.spec
    shown = [axis for axis in table.axes if axis in {spec.x, spec.series, spec.facets}]
    hidden = [axis for axis in table.axes if axis not in shown]
    if spec.x not in table.axes:
        return  # every variant is a point of its own
    for axis in hidden:
        distinct = table.frame.select(shown).n_unique()
        if table.frame.select([*shown, axis]).n_unique() > distinct:
            raise RequestError(
                f"{where}: a point would mix several values of {axis}; name it as series or facets"
            )
