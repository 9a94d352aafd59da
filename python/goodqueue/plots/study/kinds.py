"""The kinds of a study's pictures: a function for each fills one panel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axis import XAxis
from matplotlib.ticker import FixedLocator, NullLocator

from goodqueue.plots.study.caption import dkw_half_width
from goodqueue.plots.study.panels import layout
from goodqueue.plots.study.text import LONGEST_BESIDE, NamesBelow, names_below, wrapped
from goodqueue.plots.style import (
    BLACK,
    CYCLE,
    DASHES,
    GREY,
    MARKERS,
    legend_label,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from goodqueue.core.columns import Column, Value
    from goodqueue.plots.study.table import Point, Table

HEAT = "cividis"
"""Colour map for colour-blind readers, even in lightness, so that it is readable in grey."""

MAX_CELLS_WITH_NUMBERS = 120
MAX_NAMED = 12


def names(whole: Table) -> NamesBelow | None:
    """Returns labels of an x axis with a position for each value; None for other axes."""
    spec = whole.spec
    if spec.x not in whole.axes:
        return None
    column, known = whole.column(spec.x), whole.values(spec.x)
    if spec.kind == "lines" and not isinstance(known[0], (str, bool)):
        return None
    taken = 0
    if spec.kind == "heatmap" and spec.series is not None:
        up = [whole.column(spec.series).bare(value) for value in whole.values(spec.series)]
        taken = min(LONGEST_BESIDE, max(map(len, up)))
    return names_below([column.bare(value) for value in known], layout(whole).columns, taken)


def look(index: int) -> dict[str, Any]:
    """Returns colour, dash and marker of the n-th line; any two lines differ in two of these."""
    return {
        "color": CYCLE[index % len(CYCLE)],
        "linestyle": DASHES[index // len(CYCLE)],
        "marker": MARKERS[index % len(MARKERS)],
    }


def _label(whole: Table, value: Value | None) -> str | None:
    """Returns the name of one of the series in the legend."""
    axis = whole.spec.series
    if value is None or axis is None:
        return None
    return legend_label(whole.column(axis).text(value))


def _numbered(whole: Table, part: Table) -> list[tuple[int, str | None, Table]]:
    """Returns the series of a panel with their numbers in the picture, which set their style."""
    order = [value for value, _ in whole.series()]
    return [(order.index(value), _label(whole, value), rows) for value, rows in part.series()]


def lines(whole: Table, part: Table, metric: str, axes: Axes) -> None:
    """Draws means over an axis, or over the means of another metric, each within its band."""
    spec, y = whole.spec, whole.column(metric)
    if spec.x not in whole.axes:
        scatter(whole, part, metric, axes)
        return
    x = whole.column(spec.x)
    known = whole.values(spec.x)
    numeric = not isinstance(known[0], (str, bool))
    for index, label, rows in _numbered(whole, part):
        style, points = look(index), rows.points(spec.x, metric)
        if not points:
            continue
        means, low, high = _scaled([point for _, point in points], y.scale)
        if numeric:
            places = np.array([float(value) / x.scale for value, _ in points])
            axes.fill_between(places, low, high, color=style["color"], alpha=0.2, linewidth=0)
            axes.plot(places, means, label=label, markersize=4.5, **style)
        else:
            # Texts have no order, so no line connects them.
            beside = 0.5 * ((index + 0.5) / len(whole.series()) - 0.5)
            places = np.array([known.index(value) + beside for value, _ in points])
            error = [means - low, high - means]
            marks = {**style, "linestyle": "none"}
            axes.errorbar(places, means, yerr=error, label=label, capsize=3, **marks)
    if numeric:
        _scale_x(axes, [float(value) / x.scale for value in known], spec.x_scale)
    else:
        _name_x(axes, range(len(known)), names(whole))
        axes.margins(x=0.15)
    _scale_y(axes, spec.y_scale)
    _title_x(axes, x)
    _title_y(axes, y.title)


def heatmap(whole: Table, part: Table, metric: str, axes: Axes) -> None:
    """Draws means as colours over two axes, with their numbers if these can be read."""
    spec, z = whole.spec, whole.column(metric)
    assert spec.series is not None
    x, y = whole.column(spec.x), whole.column(spec.series)
    across, up = whole.values(spec.x), whole.values(spec.series)
    cells = np.full((len(up), len(across)), np.nan)
    for row, value in enumerate(up):
        for place, point in part.part(spec.series, value).points(spec.x, metric):
            cells[row, across.index(place)] = point.mean / z.scale
    low, high = _span(whole, metric, z.scale)
    axes.set_facecolor("#DDDDDD")  # cells without a figure
    axes.grid(visible=False)
    axes.pcolormesh(cells, cmap=HEAT, vmin=low, vmax=high, edgecolor="white", linewidth=0.5)
    _name_x(axes, [place + 0.5 for place in range(len(across))], names(whole))
    beside = [wrapped(y.bare(value), LONGEST_BESIDE) for value in up]
    axes.set_yticks(np.arange(len(up)) + 0.5, beside)
    axes.tick_params(length=0)
    if cells.size <= MAX_CELLS_WITH_NUMBERS:
        for (row, place), mean in np.ndenumerate(cells):
            if np.isfinite(mean):
                shade = (mean - low) / (high - low) if high > low else 0.5
                light = np.dot(colormaps[HEAT](shade)[:3], (0.299, 0.587, 0.114)) > 0.5
                colour = "black" if light else "white"
                text = f"{mean:,.3g}"
                axes.text(
                    place + 0.5, row + 0.5, text, ha="center", va="center", color=colour, fontsize=9
                )
    _title_x(axes, x)
    _title_y(axes, y.title)


def _span(whole: Table, metric: str, scale: float) -> tuple[float, float]:
    """Returns the smallest and the largest mean of a metric, in all panels."""
    spec = whole.spec
    import polars as pl

    names = [name for name in (spec.x, spec.series, *spec.facets) if name]

    means = (
        whole.frame.with_columns(pl.col(metric).cast(pl.Float64).fill_nan(None))
        .group_by(names, maintain_order=True)
        .agg(pl.col(metric).mean())[metric]
        .drop_nulls()
    )
    values = [float(mean) / scale for mean in means] or [0.0]
    return min(values), max(values)


def cdf(whole: Table, part: Table, metric: str, axes: Axes) -> None:
    """Draws the share of runs with a smaller or equal figure, within the distribution's band."""
    spec, x = whole.spec, whole.column(metric)
    for index, label, rows in _numbered(whole, part):
        style = look(index)
        values = np.sort(np.array(rows.sample(metric)) / x.scale)
        if not len(values):
            continue
        share = np.arange(1, len(values) + 1) / len(values) * 100
        places, shares = np.append(values[0], values), np.append(0.0, share)
        colour, dash = style["color"], style["linestyle"]
        if spec.band == "interval":
            half = dkw_half_width(len(values)) * 100
            low, high = np.clip(shares - half, 0, 100), np.clip(shares + half, 0, 100)
            axes.fill_between(places, low, high, step="post", color=colour, alpha=0.13, linewidth=0)
        axes.step(places, shares, where="post", label=label, color=colour, linestyle=dash)
    axes.set_xscale(spec.x_scale)
    _plain_ticks(axes.xaxis)
    _title_x(axes, x)
    axes.set_ylabel("runs with no more, %")
    axes.set_ylim(0, 102)


def box(whole: Table, part: Table, metric: str, axes: Axes) -> None:
    """Draws quartiles, whiskers and outliers of single runs for each value of an axis."""
    spec, x, y = whole.spec, whole.column(whole.spec.x), whole.column(metric)
    known = whole.values(spec.x)
    width = 0.8 / len(whole.series())
    for index, label, rows in _numbered(whole, part):
        offset = (index - (len(whole.series()) - 1) / 2) * width
        points = rows.points(spec.x, metric)
        if not points:
            continue
        axes.boxplot(
            [np.array(point.values) / y.scale for _, point in points],
            positions=[known.index(value) + offset for value, _ in points],
            widths=width * 0.8,
            manage_ticks=False,
            patch_artist=True,
            label=label,
            boxprops={"facecolor": look(index)["color"], "alpha": 0.45, "edgecolor": BLACK},
            medianprops={"color": BLACK, "linewidth": 1.8},
            flierprops={"marker": ".", "markersize": 4, "markeredgecolor": GREY},
        )
    _name_x(axes, range(len(known)), names(whole))
    _scale_y(axes, spec.y_scale)
    _title_x(axes, x)
    _title_y(axes, y.title)


def scatter(whole: Table, part: Table, metric: str, axes: Axes) -> list[tuple[str, Point, Point]]:
    """Draws every variant's means of two metrics, with their bands; returns them by name."""
    spec, x, y = whole.spec, whole.column(whole.spec.x), whole.column(metric)
    drawn = []
    for index, label, rows in _numbered(whole, part):
        style = look(index)
        pairs = variants(whole, rows, spec.x, metric)
        if not pairs:
            continue
        across, left, right = _scaled([pair[1] for pair in pairs], x.scale)
        up, low, high = _scaled([pair[2] for pair in pairs], y.scale)
        axes.errorbar(
            across,
            up,
            xerr=[across - left, right - across],
            yerr=[up - low, high - up],
            linestyle="none",
            marker=style["marker"],
            markersize=5,
            elinewidth=0.7,
            color=style["color"],
            label=label,
        )
        drawn += pairs
    axes.set_xscale(spec.x_scale)
    axes.set_yscale(spec.y_scale)
    for axis in (axes.xaxis, axes.yaxis):
        _plain_ticks(axis)
    _title_x(axes, x)
    _title_y(axes, y.title)
    return drawn


def variants(whole: Table, part: Table, x: str, y: str) -> list[tuple[str, Point, Point]]:
    """Returns each variant's name, by axes that are not in the legend, and its two points."""
    axes = [axis for axis in whole.axes if axis not in {whole.spec.series, *whole.spec.facets}]
    named = [axis for axis in axes if len(whole.values(axis)) > 1]
    found = []
    for key in part.frame.select(axes).unique(maintain_order=True).iter_rows():
        rows = part
        for axis, value in zip(axes, key, strict=True):
            rows = rows.part(axis, value)
        name = ", ".join(
            f"{whole.column(axis).short} {whole.column(axis).text(value)}"
            for axis, value in zip(axes, key, strict=True)
            if axis in named
        )
        across, up = rows.point(x), rows.point(y)
        if across is not None and up is not None:
            found.append((name, across, up))
    return found


def pareto(whole: Table, part: Table, metric: str, axes: Axes) -> None:
    """Draws every variant, and a line through those that no other surpasses, with numbers."""
    x, y = whole.column(whole.spec.x), whole.column(metric)
    drawn = scatter(whole, part, metric, axes)
    best = front(
        [(across.mean, up.mean) for _, across, up in drawn], x.higher_is_better, y.higher_is_better
    )
    chosen = [drawn[index] for index in best]
    across = [point.mean / x.scale for _, point, _ in chosen]
    up = [point.mean / y.scale for _, _, point in chosen]
    axes.plot(across, up, color=BLACK, linewidth=1.0, linestyle="--", zorder=1)
    axes.margins(0.12)
    if len(chosen) > MAX_NAMED or whole.spec.facets:
        return  # all panels have one common legend
    for number, (name, _, _) in enumerate(chosen, start=1):
        axes.annotate(
            str(number),
            xy=(across[number - 1], up[number - 1]),
            xytext=(-5, 5),
            textcoords="offset points",
            ha="right",
            va="bottom",
            fontsize=9,
            color="#333333",
        )
        axes.plot([], [], " ", label=f"{number}: {name}")


def front(points: Sequence[tuple[float, float]], x_high: bool, y_high: bool) -> list[int]:
    """Returns the indices of the points that no other point surpasses, by rising x.

    A point surpasses another if it is at least as good in both coordinates and better in one.
    """
    signs = np.array([1 if x_high else -1, 1 if y_high else -1])
    worth = np.array(points).reshape(-1, 2) * signs
    kept = [
        index
        for index, own in enumerate(worth)
        if not np.any(np.all(worth >= own, axis=1) & np.any(worth > own, axis=1))
    ]
    return sorted(kept, key=lambda index: points[index])


KINDS: dict[str, Callable[[Table, Table, str, Axes], object]] = {
    "lines": lines,
    "heatmap": heatmap,
    "cdf": cdf,
    "box": box,
    "pareto": pareto,
}


def _scaled(points: Sequence[Point], scale: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns means and both ends of the bands, in the unit that is drawn."""
    rows = np.array([(point.mean, point.low, point.high) for point in points]) / scale
    return rows[:, 0], rows[:, 1], rows[:, 2]


def plain(value: float, _position: float) -> str:
    """Returns the number at a tick."""
    return f"{value:,.4g}"


class Between:
    """Numbers at some of the minor ticks of a logarithmic axis: as many as fit."""

    def __init__(self, axis: Axis) -> None:
        self._axis = axis

    def __call__(self, value: float, position: float) -> str:
        """Returns the number, or an empty text."""
        return plain(value, position) if f"{value:e}"[0] in self._digits() else ""

    def _digits(self) -> str:
        """Returns the first digits of the numbers that are shown: 2 and 5, or 3 alone, or none."""
        axes, along_x = self._axis.axes, isinstance(self._axis, XAxis)
        inches = (axes.bbox.width if along_x else axes.bbox.height) / axes.figure.dpi
        low, high = sorted(self._axis.get_view_interval())
        if low <= 0:
            return ""
        decade = inches / max(np.log10(high / low), 1e-9)
        two, one = (1.5, 0.8) if along_x else (0.7, 0.45)
        return "25" if decade >= two else "3" if decade >= one else ""


def _plain_ticks(axis: Axis) -> None:
    """Writes numbers in full at the ticks, on a logarithmic axis at some of the minor ones too."""
    axis.set_major_formatter(plain)
    axis.set_minor_formatter(Between(axis))


def _scale_y(axes: Axes, scale: str) -> None:
    axes.set_yscale(scale)
    _plain_ticks(axes.yaxis)


def _scale_x(axes: Axes, places: list[float], scale: str) -> None:
    """Sets ticks at the values themselves on a logarithmic axis, as many as fit."""
    axes.set_xscale(scale)
    if scale != "log":
        return
    columns = _grid(axes)[1]
    logs = np.log(places)
    room = 0.06 * columns * max(logs[-1] - logs[0], 1e-9)
    kept = [places[0]]
    for place in places[1:]:
        if np.log(place / kept[-1]) >= room:
            kept.append(place)
    axes.xaxis.set_major_locator(FixedLocator(kept))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(plain)


def _grid(axes: Axes) -> tuple[int, int]:
    """Returns the numbers of rows and columns of panels."""
    grid = axes.get_gridspec()
    return (1, 1) if grid is None else (grid.nrows, grid.ncols)


def _title_x(axes: Axes, column: Column) -> None:
    """Writes the label of the x axis, without its owner if the panel is narrow."""
    narrow = _grid(axes)[1] > 2 and len(column.title) > 20
    axes.set_xlabel(column.title.replace(column.label, column.short) if narrow else column.title)


def _title_y(axes: Axes, title: str) -> None:
    """Writes the label of the y axis, on two lines if the panel is low."""
    low = _grid(axes)[0] > 1 and len(title) > 24
    axes.set_ylabel(title.replace(" of ", "\nof ", 1) if low else title)


def _name_x(axes: Axes, places: Sequence[float], below: NamesBelow | None) -> None:
    """Writes texts below the axis, aslant if they would overlap."""
    assert below is not None
    how: dict[str, Any] = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"}
    axes.set_xticks(places, below.names, **(how if below.aslant else {}))
