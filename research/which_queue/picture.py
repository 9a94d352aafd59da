"""Picture of queue disciplines side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib import rc_context
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from goodqueue.plots.style import BLUE, GREEN, GREY, ORANGE, PURPLE, STYLE, VERMILION

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from goodqueue.core.intervals import Interval
    from research.which_queue.__main__ import Row

LEAST_SHOWN = 90
"""Smallest utilisation on its axis, in per cent."""


def save(rows: Sequence[Row], path: Path) -> None:
    """Writes a picture with a line per queue: utilisation, delays, short flows, loss, fairness."""
    with rc_context(STYLE):  # type: ignore[arg-type]
        height = 1.1 + 0.3 * len(rows)
        figure = Figure(figsize=(13, height), layout="constrained")
        FigureCanvasSVG(figure)
        panels = figure.subplots(1, 5, sharey=True)
        utilization, delay, web, loss, fairness = panels
        _dots(utilization, [row.utilization for row in rows], BLUE)
        _dots(delay, [row.p99_delay_ms for row in rows], VERMILION, "all packets", size=8)
        _dots(delay, [row.ping_ms for row in rows], ORANGE, "the ping", size=4)
        _dots(web, [row.web_ms for row in rows], PURPLE)
        _dots(loss, [row.loss for row in rows], GREY)
        _dots(fairness, [row.fairness for row in rows], GREEN)
        utilization.set_xlabel("utilisation, %")
        delay.set_xlabel("p99 delay, ms")
        web.set_xlabel("50 kB take, ms")
        loss.set_xlabel("loss, %")
        fairness.set_xlabel("fairness (1: equal)")
        for axes in (delay, web):
            axes.set_xscale("log")
            axes.xaxis.set_major_locator(LogLocator(subs=(1,) if axes is delay else (1, 2, 5)))
            axes.xaxis.set_minor_locator(NullLocator())
            axes.xaxis.set_major_formatter(lambda value, _position: f"{value:,.4g}")
        loss.set_xlim(left=0)
        fairness.set_xlim(right=1.02)
        _cut(utilization, [row.utilization for row in rows], LEAST_SHOWN)
        delay.legend(loc="upper left", handletextpad=0.1)
        utilization.set_yticks(range(len(rows)), [row.name for row in rows])
        utilization.invert_yaxis()
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None, "Creator": "goodqueue"})


def _cut(axes: Axes, intervals: Sequence[Interval], least: float) -> None:
    """Cuts the axis at `least`, and writes smaller values at its edge."""
    axes.set_xlim(least, 100 + (100 - least) / 25)
    for line, interval in enumerate(intervals):
        if interval.mean < least:
            axes.text(least, line, f" ← {interval.mean:.0f}", va="center", color=BLUE)


def _dots(
    axes: Axes, intervals: Sequence[Interval], colour: str, label: str = "", size: float = 5
) -> None:
    """Draws a mean and its interval on each line."""
    axes.errorbar(
        [interval.mean for interval in intervals],
        range(len(intervals)),
        xerr=[interval.half_width for interval in intervals],
        fmt="o",
        markersize=size,
        capsize=2.5,
        linewidth=1.2,
        color=colour,
        label=label,
    )
