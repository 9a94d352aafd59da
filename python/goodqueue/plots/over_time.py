"""Lines over time, such as the backlog of a link or the round-trip times of a flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from goodqueue.plots import style
from goodqueue.plots.panels import Line
from goodqueue.plots.style import CYCLE, DASHES, Picture
from goodqueue.plots.thin import thin
from goodqueue.runs.results.frames import in_bins

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from goodqueue.runs.results.result import Result


def picture(name: str, title: str, ylabel: str, caption: str, lines: Sequence[Line]) -> Picture:
    """Returns a picture of lines in one panel; a legend above it names those with a label."""

    def draw(panels: list[Axes]) -> None:
        (axes,) = panels
        for index, line in enumerate(lines):
            colour, dash = CYCLE[index % len(CYCLE)], DASHES[index // len(CYCLE)]
            label = style.legend_label(line.label)
            axes.plot(line.x, line.y, color=colour, linestyle=dash, lw=1.1, label=label)
        style.over_time(axes, title, ylabel)
        axes.set_ylim(0, 1.05 * axes.get_ylim()[1])
        if any(line.label for line in lines):
            style.legend_above(axes)

    return Picture(name, caption, draw)


def backlog(result: Result, link: str, label: str, unit: str = "packets") -> Line:
    """Returns the backlog of a link over time, in packets, or in kB if the unit is `bytes`."""
    assert result.series is not None
    own = thin(result.series.backlog.filter(pl.col("link") == link), f"backlog_{unit}")
    scale = 1 if unit == "packets" else 1000
    values = (own[f"backlog_{unit}"] / scale).to_list()
    return Line(label, own["time_s"].to_list(), values, form="steps")


def round_trips(result: Result, flow: str, label: str, until_s: float = 1e9) -> Line:
    """Returns the round-trip times of a flow over time, in ms."""
    assert result.series is not None
    rtt = result.series.rtt
    own = thin(rtt.filter((pl.col("flow") == flow) & (pl.col("time_s") <= until_s)), "rtt_s")
    return Line(label, own["time_s"].to_list(), (own["rtt_s"] * 1000).to_list())


def throughput(measured: pl.DataFrame, label: str, most: int) -> tuple[Line, float]:
    """Returns the throughput of flows together over time, in Mbit/s.

    Args:
        measured: rows of `Result.throughput`.
        label: label of the line.
        most: largest number of means.

    Returns:
        The line, and the length of the intervals of the means in seconds.
    """
    means, length_s = in_bins(measured, most)
    megabits = (means["throughput_bps"] / 1e6).to_list()
    return Line(label, means["time_s"].to_list(), megabits), length_s
