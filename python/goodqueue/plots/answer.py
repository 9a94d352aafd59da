"""The curves that a recommendation comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.ticker import LogLocator, NullLocator

from goodqueue.plots.style import (
    BLACK,
    BLUE,
    CYCLE,
    GREEN,
    GREY,
    VERMILION,
    Picture,
    limit_line,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from goodqueue.intervals import Interval
    from goodqueue.sizing.answer import Answer

FIGURES = (
    ("utilization", "utilisation, %", 100, BLUE),
    ("p99_delay_s", "p99 queueing\ndelay, ms", 1000, GREEN),
    ("loss_rate", "loss, %", 100, VERMILION),
)


def curve(answer: Answer) -> Picture:
    """Utilisation, p99 delay and loss against the buffer, with intervals, bounds and rules."""
    trials = answer.trials
    assert trials is not None
    limits = trials.limits

    def draw(panels: list[Axes]) -> None:
        for axes, (figure, label, scale, colour) in zip(panels, FIGURES, strict=True):
            band(axes, limits, [answer.interval(one, figure) for one in limits], scale, colour)
            axes.set_ylabel(label)
        utilization, delay, loss = panels
        for axes in (delay, loss):
            axes.set_ylim(bottom=0)
        link = answer.link
        bounds(panels, link.min_utilization, link.max_delay_s, link.max_loss_rate)
        _rules(answer, utilization)
        utilization.set_title("What a buffer buys, and what it costs")
        packets_axis(loss)
        if answer.buffer is not None:
            mark_recommended(panels, answer.buffer)

    verdict = (
        f"the line at {answer.buffer:,} packets is the smallest that keeps every bound"
        if answer.buffer is not None
        else "no buffer keeps every bound"
    )
    caption = (
        "Utilisation, 99th percentile of the queueing delay, and loss against the buffer. Dots are "
        f"means of {_replicates(answer)} replicates, bands their 95 % intervals (none where fewer "
        f"than seven were run); ticks above are what the rules say; {verdict}."
    )
    return Picture("curve", caption, draw, panels=3, height_inches=7.6)


def pareto(answer: Answer) -> Picture:
    """Utilisation against delay, loss by the size of the dots: what can be had together."""
    trials = answer.trials
    assert trials is not None
    limits = trials.limits

    def figure(limit: int, name: str) -> float:
        return answer.interval(limit, name).mean

    def draw(panels: list[Axes]) -> None:
        axes = panels[0]
        delays = [max(1000 * figure(limit, "p99_delay_s"), 1e-3) for limit in limits]
        uses = [100 * figure(limit, "utilization") for limit in limits]
        losses = [100 * figure(limit, "loss_rate") for limit in limits]
        axes.plot(delays, uses, color=BLUE, alpha=0.6, zorder=1)
        axes.scatter(delays, uses, s=[8 + 30 * loss for loss in losses], color=BLUE, label="FIFO")
        for limit in _apart(limits):
            at = limits.index(limit)
            axes.annotate(
                f"{limit:,}",
                (delays[at], uses[at]),
                xytext=(4, -12),
                textcoords="offset points",
                fontsize=9,
                color=GREY,
            )
        for index, one in enumerate(answer.alternatives):
            axes.scatter(
                1000 * one.figures["p99_delay_s"].mean,
                100 * one.figures["utilization"].mean,
                s=8 + 30 * 100 * one.figures["loss_rate"].mean,
                color=CYCLE[1 + index],
                marker="D",
                edgecolor=BLACK,
                linewidth=0.5,
                label=one.queue,
                zorder=3,
            )
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _position: f"{value:g}")
        axes.set_xlabel("p99 queueing delay, ms (logarithmic)")
        axes.set_ylabel("utilisation, %")
        axes.set_title("Utilisation against delay against loss")
        axes.legend(loc="lower right")

    caption = (
        "What can be had together: each dot is a buffer of a FIFO (packets beside it), each "
        "diamond a queue discipline with its defaults; the larger the mark, the larger the loss."
    )
    return Picture("pareto", caption, draw, height_inches=4.6)


def _apart(limits: Sequence[int]) -> list[int]:
    """Limits far enough apart for their numbers to be read."""
    shown = [limits[0]]
    for limit in limits:
        if limit >= 2.5 * shown[-1]:
            shown.append(limit)
    return shown


def _replicates(answer: Answer) -> str:
    assert answer.trials is not None
    counts = {len(runs) for runs in answer.trials.replicates.values()}
    least, most = min(counts), max(counts)
    return f"{least}" if least == most else f"{least} to {most}"


def bounds(
    panels: Sequence[Axes],
    least_utilization: float,
    most_delay_s: float | None,
    most_loss: float | None,
) -> None:
    """Dashed lines where bounds are: on panels of utilisation, delay in ms, and loss."""
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
    """An axis of buffers, with whole numbers at 1, 2, 5, 10 and so on."""
    axes.set_xlabel("buffer, packets (logarithmic)")
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(lambda value, _position: f"{value:,.0f}")


def _rules(answer: Answer, axes: Axes) -> None:
    """A tick on top for each derived rule whose buffer was simulated; full if it holds here."""
    for one in answer.rules:
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
            zorder=4,
        )
        if one.advice.holds:
            axes.annotate(
                one.rule.name,
                xy=(packets, 0.93),
                xycoords=("data", "axes fraction"),
                fontsize=9,
                ha="center",
                va="top",
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1.0},
            )


def mark_recommended(panels: Sequence[Axes], packets: int) -> None:
    """A line through all panels where the answer is."""
    for axes in panels:
        axes.axvline(packets, color=BLACK, lw=1.2)
    panels[0].annotate(
        f"recommended: {packets:,}",
        xy=(packets, 0.04),
        xycoords=("data", "axes fraction"),
        xytext=(-6, 0),
        textcoords="offset points",
        ha="right",
        fontsize=10,
        fontweight="bold",
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1.0},
    )


def band(
    axes: Axes, limits: Sequence[int], intervals: Sequence[Interval], scale: float, colour: str
) -> None:
    """Means as dots on a line, intervals where they have an end as a band behind it."""
    known = [
        (limit, interval)
        for limit, interval in zip(limits, intervals, strict=True)
        if interval.half_width < 1e9
    ]
    axes.fill_between(
        [limit for limit, _ in known],
        [max(interval.low, 0) * scale for _, interval in known],
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
