"""Pictures of one run: delay, throughput, backlog and windows over time; queueing delays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from goodqueue.plots.over_time import picture, round_trips, throughput
from goodqueue.plots.panels import Line
from goodqueue.plots.style import (
    CYCLE,
    GREY,
    VERMILION,
    Picture,
    legend_above,
    legend_label,
    limit_line,
    over_time,
)
from goodqueue.plots.thin import thin

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from goodqueue.runs.results.result import Result

MAX_FLOWS_DRAWN = len(CYCLE)
MAX_BINS = 300
"""Largest number of points in a line of throughput; each point is the mean over an interval."""


def pictures(result: Result, link: str) -> list[Picture]:
    """Returns the pictures that a run's data allow; those over time need its series."""
    drawn = []
    if result.series is not None and rtt_flows(result):
        drawn.append(rtt_over_time(result))
    if result.throughput is not None and result.throughput.height:
        drawn.append(throughput_over_time(result))
    if result.waits is not None and link in result.waits["link"].unique():
        drawn.append(delay_over_time(result.waits, link))
    if result.series is not None:
        if link in result.series.backlog["link"].unique():
            drawn.append(backlog_over_time(result, link))
        if result.series.windows.height:
            drawn.append(windows_over_time(result))
    if result.delays.filter(pl.col("link") == link).height:
        drawn.append(delay_distribution(result, link))
    return drawn


def rtt_flows(result: Result) -> list[str]:
    """Returns the flows whose round-trip times are drawn: the pings, or TCP flows without pings."""
    if result.series is None:
        return []
    flows = result.series.rtt["flow"].unique(maintain_order=True).to_list()
    pings = [flow for flow in flows if "unloaded_rtt_s" in _figures(result, flow)]
    return pings or flows


def _figures(result: Result, flow: str) -> dict[str, Any]:
    """Returns the figures of a flow; a flow of a large group has the figures of its group."""
    summary = result.summary
    if flow in summary["flows"]:
        return dict(summary["flows"][flow])
    return dict(summary["groups"][flow.rpartition(".")[0]])


def rtt_over_time(result: Result) -> Picture:
    """Draws round-trip times of the first few pings, or else of the first few TCP flows."""
    flows = rtt_flows(result)
    drawn = flows[:MAX_FLOWS_DRAWN]
    lines = [round_trips(result, flow, flow if len(drawn) > 1 else "") for flow in drawn]
    # An emulation measures no round-trip times except those of pings.
    emulated = result.summary["engine"] == "emulated"
    is_ping = emulated or "unloaded_rtt_s" in _figures(result, flows[0])
    caption = f"Round-trip time of {'pings' if is_ping else 'TCP segments'} ({_which(flows)})"
    figures = result.summary["flows"].get(flows[0])
    if figures and figures["p50_rtt_s"] is not None:
        caption += (
            f" over time. In the measured part of the run {flows[0]} has a median of "
            f"{figures['p50_rtt_s'] * 1000:.3g} ms and a 99th percentile of "
            f"{figures['p99_rtt_s'] * 1000:.3g} ms."
        )
    else:
        caption += " over time."
    title = "Ping round-trip time" if is_ping else "Round-trip time"
    return picture("rtt", title, "round-trip time, ms", caption, lines)


def delay_over_time(waits: pl.DataFrame, link: str) -> Picture:
    """Draws the queueing delay of the packets at a link.

    Args:
        waits: columns `link`, `time_s` and `queueing_delay_s`.
        link: name of the link.
    """
    shown = thin(waits.filter(pl.col("link") == link), "queueing_delay_s")
    delays_ms = (shown["queueing_delay_s"] * 1000).to_list()
    line = Line("", shown["time_s"].to_list(), delays_ms)
    caption = f"Queueing delay of each packet at {link}."
    return picture("delay", f"Queueing delay at {link}", "queueing delay, ms", caption, [line])


TO = {"up": "server", "down": "client"}
"""Receiving end of a flow, by the direction of the data."""


def throughput_over_time(result: Result) -> Picture:
    """Draws the throughput of received payload: a line for each flow, or for the sum of many."""
    assert result.throughput is not None
    measured = result.throughput
    flows = measured["flow"].n_unique()
    parts = measured.partition_by("flow", "direction", maintain_order=True)
    apart = len(parts) <= MAX_FLOWS_DRAWN
    if not apart:
        parts = measured.partition_by("direction", maintain_order=True)
    ways = measured["direction"].unique(maintain_order=True).to_list()
    labels = [_way_of(part, apart=apart, ways=ways) for part in parts]
    lines = [
        throughput(part, label if len(parts) > 1 else "", MAX_BINS)
        for part, label in zip(parts, labels, strict=True)
    ]
    whose = "; ".join(labels) if apart else f"{flows} flows together"
    received = " or the ".join(TO[way] for way in ways)
    caption = (
        f"TCP or UDP payload that reached the {received} ({whose}), as a mean over each "
        f"{lines[0][1]:.3g} s. It counts when it arrives, also out of order or a second time."
    )
    if flows < _carrying(result):
        caption += f" Flows of the run other than pings: {_carrying(result)}."
    title = "Throughput" if apart else f"Throughput of {flows} flows together"
    shown = [line for line, _ in lines]
    return picture("throughput", title, "payload received, Mbit/s", caption, shown)


def _way_of(part: pl.DataFrame, *, apart: bool, ways: list[str]) -> str:
    """Returns the label of a line of throughput: its flow, and its receiver if they differ."""
    whose = part["flow"][0] if apart else "all flows"
    return f"{whose}, to the {TO[part['direction'][0]]}" if len(ways) > 1 else whose


def _carrying(result: Result) -> int:
    """Returns the number of flows that are not pings."""
    groups = result.summary.get("groups", {}).values()
    alone = sum("unloaded_rtt_s" not in flow for flow in result.summary["flows"].values())
    return alone + sum(int(group["flows"]) for group in groups if "unloaded_rtt_s" not in group)


def _which(flows: list[str]) -> str:
    """Returns a description of the flows in a picture, with names if they are few."""
    if len(flows) > MAX_FLOWS_DRAWN:
        return f"the first {MAX_FLOWS_DRAWN} of {len(flows)} flows"
    return ", ".join(flows)


def backlog_over_time(result: Result, link: str) -> Picture:
    """Draws the packets waiting in one link's queue."""
    assert result.series is not None
    backlog = result.series.backlog.filter(pl.col("link") == link)
    waiting = thin(backlog, "backlog_packets")
    figures = result.summary["links"][link]
    limit = (figures["limit"] or {}).get("packets")

    def draw(panels: list[Axes]) -> None:
        (axes,) = panels
        axes.step(
            waiting["time_s"], waiting["backlog_packets"], where="post", color=CYCLE[0], lw=0.9
        )
        over_time(axes, f"Backlog of {link}", "packets waiting")
        # A limit far above the largest backlog would flatten the picture.
        if limit is not None and limit <= 3 * max(figures["max_backlog_packets"] or 0, 1):
            limit_line(axes, limit, f"limit {limit:,} packets")

    caption = (
        f"Packets waiting at {link} over time, without the one being sent: "
        f"{figures['mean_backlog_packets']:.3g} on average (time-weighted), "
        f"{figures['max_backlog_packets']:.3g} at most; {figures['drops']:,} dropped."
    )
    return Picture("backlog", caption, draw)


def windows_over_time(result: Result) -> Picture:
    """Draws congestion window and slow-start threshold of the first few TCP flows."""
    assert result.series is not None
    windows = result.series.windows
    flows = windows["flow"].unique(maintain_order=True).to_list()
    drawn = flows[:MAX_FLOWS_DRAWN]
    shown = windows.filter(pl.col("flow").is_in(drawn))
    peak, settled = _peaks_kb(shown)
    cut = peak > 4 * settled
    # The slow-start threshold is drawn if there is only one flow, from its first value on.
    thresholds = shown.drop_nulls("ssthresh_bytes") if len(drawn) == 1 else shown.clear()

    def draw(panels: list[Axes]) -> None:
        (axes,) = panels
        for flow, colour in zip(drawn, CYCLE, strict=False):
            own = windows.filter(pl.col("flow") == flow)
            cwnd = thin(own, "cwnd_bytes")
            axes.step(
                cwnd["time_s"],
                cwnd["cwnd_bytes"] / 1000,
                where="post",
                color=colour,
                label=legend_label(flow),
            )
        if thresholds.height:
            axes.step(
                thresholds["time_s"],
                thresholds["ssthresh_bytes"] / 1000,
                where="post",
                color=VERMILION,
                lw=1.0,
                ls="--",
                label="slow-start threshold",
            )
        over_time(axes, "Congestion window", "cwnd, kB")
        axes.set_ylim(0, 1.05 * (settled if cut else peak) or 1)
        legend_above(axes)

    which = f"of {drawn[0]}" if len(flows) == 1 else f"of each of {len(flows)} flows"
    if len(flows) > len(drawn):
        which = f"of the first {len(drawn)} of {len(flows)} flows"
    caption = f"Congestion window {which} over time"
    caption += ", with its slow-start threshold." if thresholds.height else "."
    if cut:
        caption += f" The start, which reaches {peak:,.0f} kB, is cut off."
    return Picture("cwnd", caption, draw)


def _peaks_kb(windows: pl.DataFrame) -> tuple[float, float]:
    """Returns the largest window of all, and the largest after the first tenth of the time."""
    time = windows["time_s"]
    start = time[0] + (time[-1] - time[0]) / 10
    settled = windows.filter(time >= start)["cwnd_bytes"]
    peak = windows["cwnd_bytes"].max()
    assert isinstance(peak, int)
    most = settled.max()
    return peak / 1000, (most if isinstance(most, int) else peak) / 1000


def delay_distribution(result: Result, link: str) -> Picture:
    """Draws the distribution function of the packets' waiting time."""
    delays = result.delays.filter(pl.col("link") == link).sort("queueing_delay_s")
    share = delays["packets"].cum_sum() / delays["packets"].sum()
    milliseconds = delays["queueing_delay_s"] * 1000
    figures = result.summary["links"][link]
    p50, p99 = figures["p50_queueing_delay_s"] * 1000, figures["p99_queueing_delay_s"] * 1000

    def draw(panels: list[Axes]) -> None:
        (axes,) = panels
        # Lines between the bins of the delays are straight, because the delay has no steps within a
        # bin.
        axes.plot([milliseconds[0], *milliseconds], [0.0, *share * 100], color=CYCLE[0], lw=1.8)
        for value, quantile in ((p50, 50), (p99, 99)):
            axes.plot([value, value], [0, quantile], color=GREY, ls=":", lw=1.2)
            # The curve rises, so the text is placed below the curve on the right.
            left = value > 0.8 * milliseconds[-1]
            axes.annotate(
                f"p{quantile}: {value:.3g} ms",
                xy=(value, quantile),
                xytext=(-8, 2) if left else (8, -6),
                textcoords="offset points",
                ha="right" if left else "left",
                va="top" if not left else "bottom" if quantile == 50 else "center",
                fontsize=10,
            )
        axes.set_title(f"Queueing delay at {link}")
        axes.set_xlabel("queueing delay, ms")
        axes.set_ylabel("packets that waited no longer, %")
        axes.set_ylim(0, 102)
        axes.set_xlim(left=0)

    caption = (
        f"Distribution function of the time that packets sent on {link} waited before "
        f"their transmission: median {p50:.3g} ms, 99th percentile {p99:.3g} ms."
    )
    return Picture("delay-cdf", caption, draw)
