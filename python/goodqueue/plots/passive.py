"""Pictures of a capture: flows by class, round-trip times, loss bursts, the link over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from matplotlib.ticker import MaxNLocator

from goodqueue.passive.traffic import forward
from goodqueue.plots.style import CYCLE, GREY, ORANGE, VERMILION, Picture, limit_line, over_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from goodqueue.passive.analysis import Analysis

MAX_FLOWS_DRAWN = len(CYCLE)
MIN_SHARE = 0.001
"""Smallest share of the bytes of a flow whose round-trip times are drawn."""

MAX_BINS = 400


def pictures(analysis: Analysis) -> list[Picture]:
    """Returns the pictures that the capture allows."""
    drawn = []
    if any(of["flows"] for of in analysis.summary["classes"].values()):
        drawn.append(flows_by_class(analysis))
    if analysis.rtts.height:
        drawn.append(round_trips(analysis))
    if analysis.bursts.height:
        drawn.append(loss_bursts(analysis))
    if analysis.series.height:
        drawn.append(link_over_time(analysis))
    return drawn


def flows_by_class(analysis: Analysis) -> Picture:
    """Draws the shares of flows and of bytes by limiting factor."""
    classes = {
        name.replace("_", " "): of
        for name, of in sorted(
            analysis.summary["classes"].items(), key=lambda item: -item[1]["bytes"]
        )
        if of["flows"]
    }
    shares = {
        what: [
            100 * of[what] / max(sum(each[what] for each in classes.values()), 1)
            for of in classes.values()
        ]
        for what in ("bytes", "flows")
    }

    def draw(panels: list[Axes]) -> None:
        (axes,) = panels
        for offset, (what, colour) in zip(
            (-0.2, 0.2), (("bytes", CYCLE[0]), ("flows", ORANGE)), strict=True
        ):
            places = [place + offset for place in range(len(classes))]
            bars = axes.barh(
                places, shares[what], height=0.36, color=colour, label=f"of the {what}"
            )
            axes.bar_label(
                bars, [f"{share:.3g} %" for share in shares[what]], padding=3, fontsize=9.5
            )
        axes.set_yticks(range(len(classes)), list(classes))
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        axes.set_xlim(0, 115)
        axes.set_xlabel("share, %")
        axes.set_title("What limits the flows")
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)

    first = next(iter(classes))
    caption = (
        f"Limiting factors of the TCP flows over the link, by bytes and by number: {first} "
        f"limits {shares['bytes'][0]:.3g} % of the bytes and {shares['flows'][0]:.3g} % of "
        "the flows."
    )
    return Picture("classes", caption, draw, height_inches=1.6 + 0.55 * len(classes))


def round_trips(analysis: Analysis) -> Picture:
    """Draws round-trip times of the largest flows over time, and their values without a queue."""
    timed = forward(analysis).filter(
        pl.col("flow").is_in(analysis.rtts["flow"].unique()),
        pl.col("bytes") >= MIN_SHARE * pl.col("bytes").sum(),
    )
    largest = timed.head(MAX_FLOWS_DRAWN)

    def draw(panels: list[Axes]) -> None:
        (axes,) = panels
        for flow, colour in zip(largest.iter_rows(named=True), CYCLE, strict=False):
            own = analysis.rtts.filter(pl.col("flow") == flow["flow"])
            axes.plot(
                own["time_s"],
                own["rtt_s"] * 1e3,
                ".",
                ms=3,
                color=colour,
                label=flow["name"].removesuffix("/tcp"),
            )
            if flow["rtt_s"] is not None:
                axes.axhline(flow["rtt_s"] * 1e3, color=colour, ls="--", lw=1.0)
        over_time(axes, "Round-trip times", "round-trip time, ms")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, markerscale=3)

    which = (
        f"each of the {timed.height} flows"
        if timed.height <= MAX_FLOWS_DRAWN
        else (f"the {largest.height} largest of {timed.height} flows")
    )
    known = [1e3 * rtt for rtt in largest["rtt_s"].drop_nulls().to_list()]
    dashed = f" Dashed: without a queue, {min(known):.3g} to {max(known):.3g} ms." if known else ""
    caption = f"Round-trip times of {which}, from data to their ACK.{dashed}"
    return Picture("rtts", caption, draw, height_inches=4.8)


def loss_bursts(analysis: Analysis) -> Picture:
    """Draws the sizes of loss bursts over time, and the number of bursts of each size."""
    bursts = analysis.bursts
    figures = analysis.summary["bursts"]

    def draw(panels: list[Axes]) -> None:
        bursts_over_time, sizes = panels
        bursts_over_time.vlines(bursts["time_s"], 0, bursts["packets"], color=VERMILION, lw=1.2)
        bursts_over_time.plot(bursts["time_s"], bursts["packets"], "o", ms=4, color=VERMILION)
        bursts_over_time.set_xlabel("time, s")
        bursts_over_time.set_ylabel("packets lost in the burst")
        bursts_over_time.set_ylim(bottom=0)
        counts = bursts["packets"].value_counts().sort("packets")
        sizes.bar(counts["packets"], counts["count"], width=0.8, color=CYCLE[0])
        sizes.axvline(figures["mean_packets"], color=GREY, ls="--")
        sizes.set_xlabel(f"packets of a burst (mean {figures['mean_packets']:.3g}, dashed)")
        sizes.set_ylabel("bursts")
        sizes.yaxis.set_major_locator(MaxNLocator(integer=True))
        bursts_over_time.set_title("Loss bursts at the link")

    caption = (
        f"Loss bursts at the link (number: {figures['count']:,}). On average, packets per "
        f"burst: {figures['mean_packets']:.3g}, flows hit: "
        f"{figures['mean_flows_hit']:.3g}."
    )
    return Picture("loss-bursts", caption, draw, panels=2, height_inches=5.6, share_x="none")


def link_over_time(analysis: Analysis) -> Picture:
    """Draws throughput, losses and queueing delay of the link."""
    series, link = _coarser(analysis.series), analysis.summary["link"]
    delays = series.drop_nulls("queueing_delay_mean_s")

    def draw(panels: list[Axes]) -> None:
        load = panels[0]
        load.step(series["time_s"], series["throughput_bps"] / 1e6, where="post", color=CYCLE[0])
        load.set_ylabel("throughput, Mb/s")
        load.set_ylim(bottom=0)
        if link["rate_bps"]:
            load.set_ylim(0, 1.2 * max(link["rate_bps"], series["throughput_bps"].max()) / 1e6)
            limit_line(
                load, link["rate_bps"] / 1e6, f"rate, {link['rate_is']}", corner="upper left"
            )
        load.set_title("The link over time")
        if delays.height:
            wait = panels[1]
            wait.fill_between(
                delays["time_s"],
                delays["queueing_delay_max_s"] * 1e3,
                step="post",
                color=CYCLE[4],
                alpha=0.5,
                lw=0,
                label="longest",
            )
            wait.step(
                delays["time_s"],
                delays["queueing_delay_mean_s"] * 1e3,
                where="post",
                color=CYCLE[0],
                label="mean",
            )
            wait.set_ylabel("queueing delay, ms")
            wait.set_ylim(bottom=0)
            wait.legend(loc="lower right", bbox_to_anchor=(1.0, 0.98), ncols=2)
        panels[-1].set_xlabel("time, s")
        panels[-1].margins(x=0.01)

    bin_ms = 1e3 * series["bin_s"][0]
    caption = f"Throughput of the link (frames as captured), in bins of {bin_ms:.3g} ms"
    queueing = link["queueing_delay_s"]
    if delays.height and queueing:
        caption += (
            f", and queueing delay: median {1000.0 * queueing['p50']:.3g} ms, 99th "
            f"percentile {1000.0 * queueing['p99']:.3g} ms"
        )
    panels = 2 if delays.height else 1
    return Picture("link", f"{caption}.", draw, panels=panels, height_inches=2.2 + 2 * panels)


def _coarser(series: pl.DataFrame) -> pl.DataFrame:
    """Returns the series in bins that can be distinguished in a picture."""
    several = -(-series.height // MAX_BINS)
    groups = pl.int_range(pl.len()) // several
    return series.group_by(groups.alias("group"), maintain_order=True).agg(
        pl.col("time_s").first(),
        pl.col("bin_s").sum(),
        pl.col("throughput_bps", "queueing_delay_mean_s").mean(),
        pl.col("queueing_delay_max_s").max(),
    )
