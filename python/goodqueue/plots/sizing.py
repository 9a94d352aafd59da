"""The curve that a recommendation comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.plots.answer import band, bounds, mark_recommended, packets_axis
from goodqueue.plots.style import BLUE, GREEN, VERMILION, Picture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

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
        band(utilization, limits, [p.utilization for p in points], 100, BLUE)
        band(delay, limits, [p.p99_delay_s for p in points], 1000, GREEN)
        band(loss, limits, [p.loss_rate for p in points], 100, VERMILION)
        bounds(
            panels,
            requirements.target_utilization,
            requirements.max_delay_s,
            requirements.max_loss_rate,
        )
        utilization.set_title(f"What the buffer of {link} buys, and what it costs")
        utilization.set_ylabel("utilisation, %")
        delay.set_ylabel("p99 queueing\ndelay, ms")
        loss.set_ylabel("loss, %")
        packets_axis(loss)
        for axes in (delay, loss):
            axes.set_ylim(bottom=0)
        if recommended is not None:
            mark_recommended(panels, recommended)

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
