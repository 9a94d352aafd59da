"""Pictures of a study: means with their intervals, distributions, and Pareto fronts.

They are drawn from a table with one row per run: a column for each axis, `seed`, and one for each
metric. Means are taken over the seeds of a variant and over nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.errors import RequestError
from goodqueue.plots.study import kinds as study_kinds
from goodqueue.plots.study.caption import caption
from goodqueue.plots.study.panels import check_panels, finish, layout
from goodqueue.plots.study.table import Table
from goodqueue.plots.style import LINES, Picture

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from matplotlib.axes import Axes

    from goodqueue.study.model import PlotSpec


def study_picture(
    frame: pl.DataFrame,
    spec: PlotSpec,
    axes: Sequence[str],
    *,
    held: Sequence[str] = (),
    watched: bool,
) -> Picture:
    """Returns the picture that a study file defines.

    Args:
        frame: one row per run, in the order of the grid: the axes, `seed`, and the metrics that the
            picture names. A figure that a run does not have is null or NaN.
        spec: description of the picture.
        axes: the study's axes; those that the picture does not name must not vary within a point.
        held: properties that are the same in every run, besides those axes, for the caption.
        watched: True if a stopping rule chose the number of replicates; intervals then allow for
            that.

    Raises:
        RequestError: if the picture cannot be drawn from such a table.
    """
    _refuse_nothing(frame, spec)
    table = Table.from_runs(frame, spec, axes, watched=watched)
    check(table)
    made = layout(table)
    below = study_kinds.names(table)
    draw_panel = study_kinds.KINDS[spec.kind]

    def draw(axes: list[Axes]) -> None:
        for panel, one in zip(made.panels, axes, strict=False):
            draw_panel(table, panel.runs, panel.metric, one)
        finish(table, made, axes)

    return Picture(
        spec.name,
        caption(table, held),
        draw,
        panels=made.rows,
        height_inches=made.height_inches + (below.inches if below else 0),
        columns=made.columns,
        share_x="row" if spec.kind == "cdf" and len(spec.y) > 1 else "all",
        share_y="all" if len(spec.y) == 1 else "row",
    )


def check(table: Table) -> None:
    """Refuses pictures that would mislead, or could not be read.

    It checks the axes and the columns, but no values of metrics.

    Raises:
        RequestError: with the fault, and what to write instead.
    """
    spec, frame = table.spec, table.frame
    where = f"plot {spec.name}"
    _refuse_nothing(frame, spec)
    named = [name for name in (spec.x, *spec.y, spec.series, *spec.facets) if name]
    for name in named:
        if name not in frame.columns:
            raise RequestError(f"{where}: the table has no column {name}")
    if spec.kind == "heatmap" and (spec.series is None or spec.x not in table.axes):
        raise RequestError(f"{where}: a heat map needs two axes; name them as x and series")
    if spec.series and spec.kind != "heatmap" and len(table.values(spec.series)) > LINES:
        count = len(table.values(spec.series))
        raise RequestError(
            f"{where}: {count} values of {spec.series} cannot be distinguished, but "
            f"{LINES} can: make it x or facets, restrict it with where, or draw a heat map"
        )
    check_panels(table)
    if spec.kind in {"lines", "heatmap"}:
        _check_no_axis_is_hidden(table, where)


def _refuse_nothing(frame: pl.DataFrame, spec: PlotSpec) -> None:
    if frame.is_empty():
        raise RequestError(f"plot {spec.name}: no run has finished; run the study first")


def _check_no_axis_is_hidden(table: Table, where: str) -> None:
    """Checks that the runs of one point differ only in their seed, as their interval requires."""
    spec = table.spec
    shown = [axis for axis in table.axes if axis in {spec.x, spec.series, *spec.facets}]
    hidden = [axis for axis in table.axes if axis not in shown]
    if spec.x not in table.axes:
        return  # every variant is a point of its own
    for axis in hidden:
        distinct = table.frame.select(shown).n_unique()
        if table.frame.select([*shown, axis]).n_unique() > distinct:
            raise RequestError(
                f"{where}: a point would mix several values of {axis}; name it as series or "
                "facets, or choose one of them with where"
            )
