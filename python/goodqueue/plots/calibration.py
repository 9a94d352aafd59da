"""Pictures of a calibration: simulation and theory over the kernel's figures."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING

from goodqueue.plots.style import CYCLE, GREY, MARKERS, Picture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from goodqueue.core.intervals import Interval
    from goodqueue.live.calibration.compare import Compared, Row

FIGURES = (
    ("delay_s", 1000.0, "mean queueing delay, ms", "Mean queueing delay"),
    ("drops", 1.0, "drops in the measured time", "Drops"),
    ("utilization", 100.0, "utilisation, %", "Utilisation"),
)
"""Figure, factor, label and title of each panel."""


def pictures(rows: Sequence[Row]) -> list[Picture]:
    """Returns a picture with a panel for each figure; none without emulations."""
    measured = [row for row in rows if row.compared[0].kernel is not None]
    return [_scatter(measured)] if measured else []


def _scatter(rows: Sequence[Row]) -> Picture:
    controls = list(dict.fromkeys(row.cell.control for row in rows))

    def draw(panels: list[Axes]) -> None:
        for axes, (figure, factor, label, title) in zip(panels, FIGURES, strict=True):
            for control, colour, marker in zip(controls, CYCLE, MARKERS, strict=False):
                found = [_of(row, figure) for row in rows if row.cell.control == control]
                _points(axes, found, factor, color=colour, marker=marker, label=control)
            low, high = (0.0, axes.get_ylim()[1]) if figure != "utilization" else (40.0, 101.0)
            axes.axline((low, low), slope=1, color=GREY, lw=0.8, zorder=0)
            axes.set_xlim(low, high)
            axes.set_ylim(low, high)
            if figure != "utilization":
                axes.set_xscale("symlog", linthresh=10)
                axes.set_yscale("symlog", linthresh=10)
            axes.set_title(title)
            axes.set_xlabel("kernel")
            axes.set_ylabel(f"simulation: {label}")
        panels[0].legend(loc="upper left")

    caption = (
        "Simulation over this machine's kernel, a point for each queue, number of flows and "
        "buffer; bars are 95 % intervals. On the line both agree."
    )
    return Picture(
        "calibration",
        caption,
        draw,
        panels=3,
        height_inches=13.0,
        share_x="none",
        share_y="none",
    )


def _of(row: Row, figure: str) -> Compared:
    return next(one for one in row.compared if one.figure == figure)


def _points(axes: Axes, found: Sequence[Compared], factor: float, **style: str) -> None:
    sides = [(one.kernel, one.simulation) for one in found if one.kernel is not None]
    kernels, simulations = [kernel for kernel, _ in sides], [simulated for _, simulated in sides]
    axes.errorbar(
        [factor * kernel.mean for kernel in kernels],
        [factor * simulation.mean for simulation in simulations],
        xerr=_bars(kernels, factor),
        yerr=_bars(simulations, factor),
        linestyle="none",
        markersize=4,
        elinewidth=0.8,
        **style,  # type: ignore[arg-type]
    )


def _bars(intervals: Sequence[Interval], factor: float) -> list[list[float]]:
    """Returns the lengths of error bars below and above the means; 0 without an interval."""
    known = [one if isfinite(one.half_width) else replace(one, half_width=0) for one in intervals]
    return [
        [factor * max(one.mean - one.low, 0) for one in known],
        [factor * max(one.high - one.mean, 0) for one in known],
    ]
