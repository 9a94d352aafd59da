"""Pictures of queue disciplines: side by side on one link, and over the rate of the link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib import rc_context
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from goodqueue.plots.style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, STYLE, VERMILION

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from evidence.which_queue.figures import Figures, Quantity
    from evidence.which_queue.make import Row
    from goodqueue.core.intervals import Interval

LEAST_SHOWN = 90
"""Smallest utilisation on its axis, in per cent."""

LEAST_MS = 0.1
"""Smallest delay on its axis over the rate, in ms; smaller ones are drawn there."""

OVER_RATES = {
    "drop_tail, 1000 packets": (GREY, "s"),
    "drop_tail, 1 BDP": (BLACK, "s"),
    "red": (PURPLE, "v"),
    "pie": (ORANGE, "^"),
    "codel": (VERMILION, "D"),
    "fq_codel": (BLUE, "o"),
    "cake": (GREEN, "P"),
}
"""Disciplines of the picture over the rate, with their colours and marks."""


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


def save_over_rates(found: Figures, path: Path) -> None:
    """Writes a picture of the ping's delay and the utilisation over the rate of the link."""
    from evidence.which_queue.digest import RATES
    from evidence.which_queue.figures import ping, use

    with rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(9, 4), layout="constrained")
        FigureCanvasSVG(figure)
        delay, busy = figure.subplots(1, 2)
        for name in OVER_RATES:
            _over_rates(delay, found, name, {rate: ping(case) for rate, case in RATES.items()})
            _over_rates(busy, found, name, {rate: use(case) for rate, case in RATES.items()})
        for axes in (delay, busy):
            axes.set_xscale("log")
            axes.set_xlabel("rate of the link, Mb/s")
            axes.set_xticks(list(RATES), [f"{rate:,}" for rate in RATES])
            axes.xaxis.set_minor_locator(NullLocator())
        delay.set_yscale("log")
        delay.set_ylabel("the ping waits, p99, ms")
        delay.set_ylim(bottom=LEAST_MS / 1.5)
        delay.yaxis.set_major_formatter(lambda value, _position: f"{value:,g}")
        busy.set_ylabel("utilisation, %")
        busy.set_ylim(0, 103)
        busy.legend(loc="lower left")
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None, "Creator": "goodqueue"})


def _over_rates(axes: Axes, found: Figures, name: str, quantities: dict[int, Quantity]) -> None:
    """Draws a figure of a queue over the rates."""
    colour, marker = OVER_RATES[name]
    figures = [found.of(name, quantity) for quantity in quantities.values()]
    axes.errorbar(
        list(quantities),
        [max(figure.mean, LEAST_MS) for figure in figures],
        yerr=[figure.half if figure.mean > LEAST_MS else 0 for figure in figures],
        marker=marker,
        markersize=5,
        capsize=2.5,
        linewidth=1.2,
        color=colour,
        label=name,
    )
