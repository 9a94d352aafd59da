"""The summary of a run: tables of links, flows and groups, and sentences about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodqueue.output.applications import application_tables
from goodqueue.output.pauses import pauses
from goodqueue.output.terminal import (
    counted,
    milliseconds,
    number,
    packets,
    percent,
    plain,
    rate,
    size_of,
    stdout,
    table,
)

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_FLOWS_PRINTED = 20
MAX_LINKS_PRINTED = 20


def print_summary(summary: dict[str, Any]) -> None:
    """Prints the summary of a run as tables and a line on the buffers."""
    console = stdout()
    title = plain(summary["title"]) or "Run"
    console.print(
        f"[bold]{title}[/]: {number(summary['measured_s'])} s measured, seed {summary['seed']}"
    )
    console.print()
    links = summary["links"]
    shown = _busiest(links)
    console.print(_links(shown))
    if len(shown) < len(links):
        left_out = len(links) - len(shown)
        console.print(
            f"... and {counted(left_out, 'link')} with less traffic; --json prints them all"
        )
    console.print(_buffers(shown))
    for line in _bursts(shown):
        console.print(line)
    for part in pauses(links, summary["measured_s"]):
        console.print(part, soft_wrap=isinstance(part, str))
    console.print()
    flows = summary["flows"]
    first = dict(list(flows.items())[:MAX_FLOWS_PRINTED])
    groups = summary.get("groups", {})
    if groups:
        console.print(_groups(groups))
    if first:
        console.print(_flows(first))
    if len(flows) > MAX_FLOWS_PRINTED:
        console.print(
            f"... and {counted(len(flows) - MAX_FLOWS_PRINTED, 'more flow')}; "
            "--json prints them all"
        )
    for line in _held_by_windows(flows, shown):
        console.print(line, soft_wrap=True)
    for application_table in application_tables(first):
        console.print()
        console.print(application_table)


def _held_by_windows(flows: dict[str, Any], links: dict[str, Any]) -> list[str]:
    """Returns a sentence about the flows whose receive windows, and not the queue, limit them."""
    shares = {
        name: flow["limited_by"]["receiver_window"]
        for name, flow in flows.items()
        if flow["class"] == "window" and flow["limited_by"]["receiver_window"]
    }
    if not shares:
        return []
    first, share = next(iter(shares.items()))
    others = f" and {counted(len(shares) - 1, 'other flow')}" if len(shares) > 1 else ""
    busiest = max(links.values(), key=lambda link: link["utilization"] or 0)
    rtt_s, rate_bps = flows[first]["mean_rtt_s"], busiest.get("rate_bps")
    needed = ""
    if rtt_s and rate_bps:
        needed = (
            f"; {rate(rate_bps)} x its round trip of {milliseconds(rtt_s)} ms are "
            f"{size_of(rate_bps * rtt_s / 8)}"
        )
    return [
        (
            f"{first}{others}: the receive window held data back for {percent(share)} of the time, "
            f"so a buffer hardly changes this rate (tcp.receive_window{needed})"
        )
    ]


def _busiest(links: dict[str, Any]) -> dict[str, Any]:
    """Returns the links in the order of the scenario; if there are many, the busiest ones."""
    most = sorted(links, key=lambda name: -(links[name]["utilization"] or 0))[:MAX_LINKS_PRINTED]
    return {name: link for name, link in links.items() if name in most}


def _links(links: dict[str, Any]) -> object:
    columns = [
        "link",
        "rate",
        "utilisation",
        "loss",
        "drops",
        "backlog mean",
        "backlog p99",
        "backlog max",
        "delay mean",
        "delay p50",
        "delay p99",
    ]
    marks = any(link["marks"] for link in links.values())
    if marks:
        columns.insert(5, "marks")
    rows = [
        [
            name,
            _link_rate(link),
            percent(link["utilization"]),
            percent(link["loss_rate"]),
            number(link["drops"]),
            *([number(link["marks"])] if marks else []),
            number(link["mean_backlog_packets"], 3),
            number(link["p99_backlog_packets"], 3),
            number(link["max_backlog_packets"], 3),
            milliseconds(link["mean_queueing_delay_s"]),
            milliseconds(link["p50_queueing_delay_s"]),
            milliseconds(link["p99_queueing_delay_s"]),
        ]
        for name, link in links.items()
    ]
    return table(
        "Links (backlog in packets, time-weighted; queueing delay in ms)",
        columns,
        rows,
        important=["rate", "utilisation", "loss", "delay mean", "delay p99", "backlog mean"],
    )


def _link_rate(link: dict[str, Any]) -> str:
    """Returns the rate of a link; links that only delay have none."""
    unlimited = "rate_bps" in link and link["rate_bps"] is None
    return "unlimited" if unlimited else rate(link.get("rate_bps"))


def _buffers(links: dict[str, Any]) -> str:
    limits = [
        f"{name} {link['queue']} {_limit(link['limit'])}"
        for name, link in links.items()
        if link["limit"] and link["limit"]["packets"] is not None
    ]
    counts = next((link["limit"]["counts"] for link in links.values() if link["limit"]), "")
    return f"Limits: {'; '.join(limits) or 'none'} ({counts})."


def _bursts(links: dict[str, Any]) -> list[str]:
    lines = []
    for name, link in links.items():
        if not link["loss_bursts"]:
            continue
        longest = link["p99_loss_burst_packets"]
        p99 = "" if longest is None else f"p99 {number(longest, 3)}, "
        lines.append(
            f"Losses at {name} come in bursts of "
            f"{counted(link['mean_loss_burst_packets'], 'packet')} "
            f"({p99}{counted(link['loss_bursts'], 'burst', 4)}) that hit "
            f"{counted(link['mean_flows_hit'], 'flow')} on average."
        )
    return lines


def _limit(limit: dict[str, Any]) -> str:
    text = f"{packets(limit['packets'])} = {size_of(limit['bytes'])} = {number(limit['ms'], 3)} ms"
    return text if limit["bdp"] is None else f"{text} = {number(limit['bdp'], 3)} BDP"


def _limited_by(flow: dict[str, Any]) -> str:
    """Returns the link, the window or the size that limited a TCP flow."""
    if flow["class"] == "congestion":
        return str(flow["bottleneck"] or "congestion")
    return flow["class"] or "-"


def _lost(flow: dict[str, Any]) -> float | None:
    """Returns the packets that were lost: of both hosts if the server sends data, too.

    `packets_lost` counts those of the client. It would be 0 for downloads, however many timeouts
    they have.
    """
    if flow["reverse_data_span_s"] is None:
        lost: float | None = flow["packets_lost"]
        return lost
    lost_at: dict[str, int] = flow["losses_at"]
    return sum(lost_at.values())


def _flows(flows: dict[str, Any]) -> object:
    limited = any(flow["class"] for flow in flows.values())
    columns = [
        "flow",
        "goodput",
        "throughput (IP)",
        *(["limited by"] if limited else []),
        "RTT mean",
        "RTT p50",
        "RTT p99",
        "RTT max",
        "lost",
        "retransmitted",
        "timeouts",
        "completion, s",
    ]
    rows = [
        [
            name,
            rate(flow["goodput_bps"]),
            rate(flow["throughput_bps"]),
            *([_limited_by(flow)] if limited else []),
            milliseconds(flow["mean_rtt_s"]),
            milliseconds(flow["p50_rtt_s"]),
            milliseconds(flow["p99_rtt_s"]),
            milliseconds(flow["max_rtt_s"]),
            number(_lost(flow)),
            number(flow["retransmissions"]),
            number(flow["timeouts"]),
            number(flow["completion_time_s"]),
        ]
        for name, flow in flows.items()
    ]
    return table(
        "Flows (round-trip times in ms)",
        columns,
        rows,
        important=["goodput", "RTT mean", "RTT p99", "lost", "limited by"],
    )


GROUP_FIGURES: list[tuple[str, str, Callable[[float | None], str]]] = [
    ("goodput", "goodput_bps", rate),
    ("RTT mean, ms", "mean_rtt_s", milliseconds),
    ("RTT p99, ms", "p99_rtt_s", milliseconds),
    ("lost", "packets_lost", number),
    ("retransmitted", "retransmissions", number),
    ("timeouts", "timeouts", number),
    ("completion, s", "completion_time_s", number),
]
"""Figures of large groups that are printed: title, key, and format."""


def _groups(groups: dict[str, Any]) -> object:
    statistics = ["mean", "min", "p5", "p50", "p95", "max"]
    rows = [
        [
            f"{name} ({counted(group['flows'], 'flow')})",
            title,
            *(shown(group[key][statistic]) for statistic in statistics),
            number(group[key].get("jain_index"), 3),
        ]
        for name, group in groups.items()
        for title, key, shown in GROUP_FIGURES
        if group[key]["flows"]
    ]
    return table(
        "Groups of flows (distributions over their flows)",
        ["group", "figure", *statistics, "Jain's index"],
        rows,
        important=["figure", "p5", "p50", "p95"],
    )
