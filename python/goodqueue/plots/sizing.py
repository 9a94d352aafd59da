"""The curve that a recommendation comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.ticker import LogLocator, NullLocator

from goodqueue.plots.style import BLACK, BLUE, GREEN, GREY, VERMILION, Picture, limit_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from goodqueue.intervals import Interval
    from goodqueue.sizing.curve import Point
    from goodqueue.sizing.requirements import Requirements


def sizing_curve(
    points: Sequence[Point],
    requirements: Requirements,
    recommended: int | None,
    link: str,
    replicates: int,
) -> Picture:
    """Utilisation, p99 delay and loss against the buffer, with intervals and bounds."""
    limits = [point.limit_packets for point in points]

    def draw(panels: list[Axes]) -> None:
        utilization, delay, loss = panels
        _band(utilization, limits, [p.utilization for p in points], 100, BLUE)
        _band(delay, limits, [p.p99_delay_s for p in points], 1000, GREEN)
        _band(loss, limits, [p.loss_rate for p in points], 100, VERMILION)
        target = requirements.target_utilization * 100
        limit_line(utilization, target, f"target {target:.4g} %", corner="lower right")
        if requirements.max_delay_s is not None:
            bound = requirements.max_delay_s * 1000
            limit_line(delay, bound, f"at most {bound:.4g} ms", corner="upper left")
        if requirements.max_loss_rate is not None:
            bound = requirements.max_loss_rate * 100
            limit_line(loss, bound, f"at most {bound:.4g} %")
        utilization.set_title(f"What the buffer of {link} buys, and what it costs")
        utilization.set_ylabel("utilisation, %")
        delay.set_ylabel("p99 queueing\ndelay, ms")
        loss.set_ylabel("loss, %")
        loss.set_xlabel("buffer limit, packets (logarithmic)")
        loss.set_xscale("log")
        loss.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        loss.xaxis.set_minor_locator(NullLocator())
        loss.xaxis.set_major_formatter(lambda value, _position: f"{value:,.0f}")
        for axes in (delay, loss):
            axes.set_ylim(bottom=0)
        if recommended is not None:
            for axes in panels:
                axes.axvline(recommended, color=BLACK, lw=1.2)
            utilization.annotate(
                f"recommended: {recommended:,}",
                xy=(recommended, 0.04),
                xycoords=("data", "axes fraction"),
                xytext=(6, 0),
                textcoords="offset points",
                fontsize=10,
                fontweight="bold",
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1.0},
            )

    answer = (
        f"the line at {recommended:,} packets is the smallest that keeps every bound"
        if recommended is not None
        else "no limit keeps every bound"
    )
    caption = (
        f"Utilisation, 99th percentile of the queueing delay, and loss at {link} against its "
        f"buffer limit; dots are means of {replicates} replicates, bands their 95 % intervals; "
        f"{answer}."
    )
    return Picture("curve", caption, draw, panels=3, height_inches=7.2)


def _band(
    axes: Axes, limits: Sequence[int], intervals: Sequence[Interval], scale: float, colour: str
) -> None:
    """Means as dots on a line, intervals as a band behind it."""
    low = [max(interval.low, 0) * scale for interval in intervals]
    high = [interval.high * scale for interval in intervals]
    axes.fill_between(limits, low, high, color=colour, alpha=0.2, linewidth=0)
    axes.plot(
        limits,
        [interval.mean * scale for interval in intervals],
        marker="o",
        markersize=3.5,
        color=colour,
        markeredgecolor=GREY,
        markeredgewidth=0.3,
    )
