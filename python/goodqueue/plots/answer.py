"""Curves behind a recommendation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from goodqueue.plots.style import (
    BLACK,
    BLUE,
    CYCLE,
    GREEN,
    GREY,
    VERMILION,
    Picture,
    legend_below,
    limit_line,
    log_ticks,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from goodqueue.core.intervals import Interval
    from goodqueue.sizing.answer.answer import Answer

FIGURES = (
    ("utilization", "utilisation, %", 100, BLUE),
    ("p99_delay_s", "p99 queueing\ndelay, ms", 1000, GREEN),
    ("loss_rate", "loss, %", 100, VERMILION),
)


BEHIND: dict[str, Any] = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.0}
"""Background of a label, which keeps lines from running through it."""


def curve(answer: Answer) -> Picture:
    """Draws utilisation, p99 delay and loss by buffer, with intervals, bounds and rules."""
    limits = answer.limits

    def draw(panels: list[Axes]) -> None:
        for axes, (figure, label, scale, colour) in zip(panels, FIGURES, strict=True):
            band(axes, limits, [answer.interval(one, figure) for one in limits], scale, colour)
            axes.set_ylabel(label)
        utilization, delay, loss = panels
        link = answer.link
        bounds(panels, link.min_utilization, link.max_delay_s, link.max_loss_rate)
        for axes in (delay, loss):  # after the bounds are drawn, which may extend the axis
            axes.set_ylim(bottom=0)
        _rules(answer, utilization)
        utilization.set_title("Benefit and cost of a buffer")
        packets_axis(loss)
        if answer.buffer is not None:
            mark_recommended(panels, answer.buffer, f"recommended: {answer.buffer:,}")

    verdict = (
        f"the line at {answer.buffer:,} packets is the smallest that keeps every bound"
        if answer.buffer is not None
        else "no buffer that was run keeps every bound"
    )
    caption = (
        "Utilisation, 99th percentile of the queueing delay, and loss against the buffer. "
        f"Dots are means of {_replicates(answer)} replicates by the {answer.engine_name}, "
        "bands their 95 % intervals (none with fewer than seven runs); ticks at the top "
        f"are the buffers of the rules; {verdict}."
    )
    return Picture("curve", caption, draw, panels=3, height_inches=7.6)


def pareto(answer: Answer) -> Picture:
    """Draws utilisation and loss against delay for each buffer, and for other queues."""
    limits = answer.limits

    def draw(panels: list[Axes]) -> None:
        utilization, loss = panels
        delays = [_milliseconds(answer.interval(limit, "p99_delay_s")) for limit in limits]
        for axes, figure, label in (
            (utilization, "utilization", "utilisation, %"),
            (loss, "loss_rate", "loss, %"),
        ):
            shares = [100 * answer.interval(limit, figure).mean for limit in limits]
            axes.plot(
                delays,
                shares,
                color=BLUE,
                marker="o",
                markersize=3.5,
                label="its own queue, packets",
            )
            _name_limits(axes, limits, delays, shares, above=axes is loss)
            _other_queues(answer, axes, figure)
            axes.set_ylabel(label)
        _recommended_point(answer, utilization, loss)
        link = answer.link
        limit_line(utilization, 100 * link.min_utilization, "asked for", corner="lower left")
        if link.max_loss_rate is not None:
            limit_line(loss, 100 * link.max_loss_rate, "allowed", corner="upper left")
        for axes in panels:  # room for the numbers beside the dots
            axes.margins(x=0.08, y=0.12)
        loss.set_ylim(bottom=0)
        if link.max_delay_s is not None:
            for axes in panels:
                axes.axvline(1000 * link.max_delay_s, color=BLACK, linestyle="--", linewidth=1.0)
        loss.set_xscale("log")
        log_ticks(loss.xaxis, "{:g}".format)
        loss.set_xlabel("p99 queueing delay, ms (logarithmic)")
        utilization.set_title("Trade-off of delay, utilisation and loss")
        legend_below(loss.figure, *loss.get_legend_handles_labels(), None)

    others = (
        " Diamonds are other queue disciplines in its place, with their defaults."
        if any(one.figures for one in answer.alternatives)
        else ""
    )
    caption = (
        "Utilisation and loss against the 99th percentile of the queueing delay: each dot is a "
        "buffer of the link's own queue, in packets; up and to the left is better above, down and "
        f"to the left below; dashed lines are the bounds.{others}"
    )
    return Picture("pareto", caption, draw, panels=2, height_inches=6.8)


SHORTEST_MS = 1e-3
"""Position of a zero delay on a logarithmic axis, in ms."""


def _milliseconds(interval: Interval) -> float:
    return max(1000 * interval.mean, SHORTEST_MS)


def _name_limits(
    axes: Axes,
    limits: Sequence[int],
    delays: Sequence[float],
    shares: Sequence[float],
    *,
    above: bool,
) -> None:
    """Writes numbers of packets beside the dots, as many as can be read."""
    for limit in _apart(limits):
        at = limits.index(limit)
        axes.annotate(
            f"{limit:,}",
            (delays[at], shares[at]),
            xytext=(5, 5) if above else (5, -13),
            textcoords="offset points",
            fontsize=9,
            color=GREY,
            bbox=BEHIND,
            zorder=5,
        )


def _other_queues(answer: Answer, axes: Axes, figure: str) -> None:
    for index, one in enumerate(other for other in answer.alternatives if other.figures):
        axes.plot(
            _milliseconds(one.figures["p99_delay_s"]),
            100 * one.figures[figure].mean,
            linestyle="none",
            marker="D",
            markersize=7,
            color=CYCLE[(1 + index) % len(CYCLE)],
            markeredgecolor=BLACK,
            markeredgewidth=0.5,
            label=one.queue,
            zorder=3,
        )


def _recommended_point(answer: Answer, utilization: Axes, loss: Axes) -> None:
    if answer.buffer is None:
        return
    delay = _milliseconds(answer.interval(answer.buffer, "p99_delay_s"))
    for axes, figure in ((utilization, "utilization"), (loss, "loss_rate")):
        axes.plot(
            delay,
            100 * answer.interval(answer.buffer, figure).mean,
            linestyle="none",
            marker="o",
            markersize=11,
            markerfacecolor="none",
            markeredgecolor=BLACK,
            markeredgewidth=1.6,
            label=f"recommended: {answer.buffer:,}",
            zorder=4,
        )


def _apart(limits: Sequence[int]) -> list[int]:
    """Returns limits far enough apart for their numbers to be read."""
    shown = [limits[0]]
    for limit in limits:
        if limit >= 2.5 * shown[-1]:
            shown.append(limit)
    return shown


def _replicates(answer: Answer) -> str:
    counts = {answer.runs(limit) for limit in answer.limits}
    least, most = min(counts), max(counts)
    return f"{least}" if least == most else f"{least} to {most}"


def bounds(
    panels: Sequence[Axes],
    least_utilization: float,
    most_delay_s: float | None,
    most_loss: float | None,
) -> None:
    """Draws dashed lines at the bounds, on panels of utilisation, delay in ms, and loss."""
    utilization, delay, loss = panels
    target = least_utilization * 100
    limit_line(utilization, target, f"at least {target:.4g} %", corner="lower right")
    if most_delay_s is not None:
        bound = most_delay_s * 1000
        limit_line(delay, bound, f"at most {bound:.4g} ms", corner="upper left")
    if most_loss is not None:
        bound = most_loss * 100
        limit_line(loss, bound, f"at most {bound:.4g} %")


def packets_axis(axes: Axes) -> None:
    """Formats an axis of buffers, with whole numbers at 1, 2, 5, 10 and so on."""
    axes.set_xlabel("buffer, packets (logarithmic)")
    axes.set_xscale("log")
    log_ticks(axes.xaxis, "{:,.0f}".format)


def _rules(answer: Answer, axes: Axes) -> None:
    """Draws a tick at the top for each simulated derived rule; full if the rule holds here."""
    named: dict[int, list[str]] = {}
    for one in answer.by_rule:
        packets = one.advice.whole_packets
        if packets is None or not one.simulated or one.rule.kind == "claim":
            continue
        axes.plot(
            packets,
            1.0,
            marker="v",
            markersize=7,
            color=BLACK if one.advice.holds else "white",
            markeredgecolor=BLACK,
            transform=axes.get_xaxis_transform(),
            clip_on=False,
            zorder=4 + one.advice.holds,
        )
        if one.advice.holds:
            named.setdefault(packets, []).append(one.rule.name)
    # Labels are placed below one another, so that rules close to each other can be read.
    for level, packets in enumerate(sorted(named)):
        axes.annotate(
            ", ".join(named[packets]),
            xy=(packets, 0.8 - 0.12 * level),
            xycoords=("data", "axes fraction"),
            xytext=(6, 0),
            textcoords="offset points",
            fontsize=9,
            va="top",
            bbox=BEHIND,
        )
        axes.plot(
            [packets, packets],
            [0.8 - 0.12 * level, 1.0],
            color=GREY,
            linewidth=0.8,
            linestyle=":",
            transform=axes.get_xaxis_transform(),
        )


def mark_recommended(panels: Sequence[Axes], at: float, text: str) -> None:
    """Draws a line through all panels, with a text at the lower end of the first."""
    for axes in panels:
        axes.axvline(at, color=BLACK, lw=1.2)
    low, high = panels[0].get_xlim()
    is_log = panels[0].get_xscale() == "log"
    right = at < (math.sqrt(low * high) if is_log else (low + high) / 2)
    panels[0].annotate(
        text,
        xy=(at, 0.06),
        xycoords=("data", "axes fraction"),
        xytext=(6 if right else -6, 0),
        textcoords="offset points",
        ha="left" if right else "right",
        fontsize=10,
        fontweight="bold",
        bbox=BEHIND,
    )


def band(
    axes: Axes, limits: Sequence[float], intervals: Sequence[Interval], scale: float, colour: str
) -> None:
    """Draws means as dots on a line, and finite intervals as a band behind it."""
    known = [
        (limit, interval)
        for limit, interval in zip(limits, intervals, strict=True)
        if interval.half_width < 1e9
    ]
    axes.fill_between(
        [limit for limit, _ in known],
        [interval.low * scale for _, interval in known],
        [interval.high * scale for _, interval in known],
        color=colour,
        alpha=0.2,
        linewidth=0,
    )
    axes.plot(
        limits,
        [interval.mean * scale for interval in intervals],
        marker="o",
        markersize=3.5,
        color=colour,
        markeredgecolor=GREY,
        markeredgewidth=0.3,
    )
