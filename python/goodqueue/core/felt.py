"""Figures of flows that people feel, by the kind of the workload."""

from __future__ import annotations

from typing import Literal

Unit = Literal["share", "s", "bps", ""]

FELT: dict[str, tuple[tuple[str, str, Unit], ...]] = {
    "ping": (("p50_rtt_s", "RTT, p50", "s"), ("p99_rtt_s", "RTT, p99", "s")),
    "game": (("p99_lag_s", "lag, p99", "s"),),
    "voice": (("r_factor", "R of the call", ""), ("mos", "MOS of the call", "")),
    "web": (("p50_page_time_s", "page time, p50", "s"), ("p95_page_time_s", "page time, p95", "s")),
    "video": (("startup_delay_s", "start-up delay", "s"), ("stall_time_s", "time stalled", "s")),
    "exchanges": (
        ("p50_exchange_time_s", "exchange time, p50", "s"),
        ("p95_exchange_time_s", "exchange time, p95", "s"),
    ),
    "transfers": (
        ("p50_transfer_time_s", "transfer time, p50", "s"),
        ("p95_transfer_time_s", "transfer time, p95", "s"),
    ),
    "responsiveness": (("responsiveness_rpm", "responsiveness in round trips per minute", ""),),
}
"""The ending of the metric, its name in tables without the unit, and its unit."""
