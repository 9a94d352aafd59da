"""Tables of the measurements of a run's applications, one for each kind of application."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodqueue.output.terminal import milliseconds, number, percent, rate, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TIMED = {
    "handshakes": ("connections", "handshake_time_s"),
    "transfers": ("transfers", "transfer_time_s"),
    "exchanges": ("exchanges", "exchange_time_s"),
    "objects": ("objects", "object_time_s"),
    "pages": ("pages", "page_time_s"),
    "segments": ("segments", "segment_time_s"),
}
"""Actions of applications: the keys of their number and of their durations."""

CLASSES = ("short", "medium", "long")
"""Classes of transfers by their size."""

ALL = ("mean", "p50", "p95", "p99", "max")


def application_tables(flows: dict[str, Any]) -> Iterator[object]:
    """Yields the tables that have rows, from the flows of a summary."""
    tables = [
        (
            "Applications (times in ms)",
            ["flow", "what", "ended", "mean", "p50", "p95", "p99", "max"],
            _times(flows),
        ),
        (
            "Slowdown of transfers",
            ["flow", "mean", "p50", "p95", "p99", "max"],
            _slowdowns(flows),
        ),
        (
            "Videos (times in s)",
            ["flow", "segments", "start-up", "stalls", "stalled", "bit rate", "switches"],
            _videos(flows),
        ),
        (
            "Games (one-way delay in ms)",
            ["flow", "way", "updates", "late", "lost or late", "mean", "p50", "p99"],
            _games(flows),
        ),
        (
            "Lag of games: from an input until its effect is seen (ms)",
            ["flow", "mean", "p50", "p95", "p99", "max"],
            _lags(flows),
        ),
        (
            "Responsiveness under load (times in ms)",
            ["flow", "probes", "beside: TCP", "TLS", "HTTP", "on the load", "round trips / min"],
            _responsiveness(flows),
        ),
        (
            "Calls (one-way delay in ms; rated by the E-model)",
            ["flow", "packets", "lost or late", "mean", "p50", "p99", "mouth to ear", "R", "MOS"],
            _calls(flows),
        ),
    ]
    return (table(title, columns, rows) for title, columns, rows in tables if rows)


def _times(flows: dict[str, Any]) -> list[list[str]]:
    return [
        [
            name,
            what,
            number(flow[count]) if count else "",
            *_delays(flow, time, ALL),
        ]
        for name, flow in flows.items()
        for what, count, time in _timed(flow)
    ]


def _timed(flow: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yields the actions of a flow, with the keys of their number, if it has one, and durations.

    Classes of transfers are listed if the flow has transfers of several ones.
    """
    for what, (count, time) in TIMED.items():
        if count in flow:
            yield what, count, time
    used = [one for one in CLASSES if flow.get(f"{one}_transfers", 0) > 0]
    for one in used if len(used) > 1 else []:
        yield f"{one} transfers", f"{one}_transfers", f"{one}_transfer_time_s"
    if "mean_first_byte_time_s" in flow:
        yield "first bytes", "", "first_byte_time_s"


def _delays(
    flow: dict[str, Any], key: str, statistics: Sequence[str] = ("mean", "p50", "p99")
) -> Iterator[str]:
    return (milliseconds(flow[f"{statistic}_{key}"]) for statistic in statistics)


def _slowdowns(flows: dict[str, Any]) -> list[list[str]]:
    return [
        [
            name,
            *(number(flow[f"{statistic}_slowdown"], 3) for statistic in ALL),
        ]
        for name, flow in flows.items()
        if "mean_slowdown" in flow
    ]


def _videos(flows: dict[str, Any]) -> list[list[str]]:
    return [
        [
            name,
            number(flow["segments"]),
            number(flow["startup_delay_s"], 3),
            number(flow["stalls"]),
            number(flow["stall_time_s"], 3),
            rate(flow["video_bitrate_bps"]),
            number(flow["bitrate_switches"]),
        ]
        for name, flow in flows.items()
        if "startup_delay_s" in flow
    ]


def _games(flows: dict[str, Any]) -> list[list[str]]:
    return [
        [
            name,
            way,
            number(flow[f"{way}_updates"]),
            number(flow[f"{way}_late"]),
            percent(flow[f"{way}_loss"]),
            *_delays(flow, f"{way}_delay_s"),
        ]
        for name, flow in flows.items()
        for way in ("up", "down")
        if f"{way}_updates" in flow
    ]


def _lags(flows: dict[str, Any]) -> list[list[str]]:
    return [
        [name, *_delays(flow, "lag_s", ALL)] for name, flow in flows.items() if "mean_lag_s" in flow
    ]


def _responsiveness(flows: dict[str, Any]) -> list[list[str]]:
    times = ("foreign_tcp_time_s", "foreign_tls_time_s", "foreign_http_time_s", "self_probe_time_s")
    return [
        [
            name,
            number(flow["foreign_probes"] + flow["self_probes"]),
            *(milliseconds(flow[f"mean_{time}"]) for time in times),
            number(flow["responsiveness_rpm"]),
        ]
        for name, flow in flows.items()
        if "responsiveness_rpm" in flow
    ]


def _calls(flows: dict[str, Any]) -> list[list[str]]:
    return [
        [
            name,
            number(flow["voice_packets"]),
            percent(flow["voice_loss"]),
            *_delays(flow, "one_way_delay_s"),
            milliseconds(flow["mouth_to_ear_s"]),
            number(flow["r_factor"], 3),
            number(flow["mos"], 3),
        ]
        for name, flow in flows.items()
        if "mos" in flow
    ]
