"""Interfaces of hosts on a link of 1 Gb/s with 100 flows: loss and utilisation."""

from __future__ import annotations

import json
from typing import Any

from evidence.core.cells import Cell
from goodqueue.runs.api import load
from goodqueue.runs.results.result import Result

SCENARIO = """\
schema_version = 1
duration = "15s"
warmup = "5s"

[topology]
shape = "dumbbell"
framing = "14B"
access = { rate = "10Gbps" }

[topology.bottleneck]
rate = "1Gbps"
delay = "0s"
queue = { limit = "330p" }

[tcp]
profile = "linux"

[[flow]]
count = 100
rtt = { from = "20ms", to = "60ms" }
start_jitter = "1s"
workload = { kind = "bulk" }
"""

LIMITS = ("330p", "500kB")
"""The same buffer: a bandwidth-delay product over the square root of the number of flows."""

INTERFACES: dict[str, dict[str, Any]] = {
    "none": {},
    "`super_segments`": {"super_segments": True},
    "`receive_coalescing` of 50 us": {"receive_coalescing": "50us"},
    "`receive_coalescing` of 1 ms": {"receive_coalescing": "1ms"},
    "`send_jitter` of 20 us": {"send_jitter": {"law": "exponential", "mean": "20us"}},
    "`super_segments`, 50 us and 20 us": {
        "super_segments": True,
        "receive_coalescing": "50us",
        "send_jitter": {"law": "exponential", "mean": "20us"},
    },
}


def settings(limit: str, interface: dict[str, Any]) -> dict[str, Any]:
    """Returns the settings of one run."""
    one: dict[str, Any] = {"topology.bottleneck.queue.limit": limit}
    return one | ({"flow.0.interface": interface} if interface else {})


def cells() -> list[Cell]:
    """Returns all runs."""
    every = (settings(limit, one) for limit in LIMITS for one in INTERFACES.values())
    return [Cell.of(SCENARIO, one) for one in every]


def rows() -> list[dict[str, Any]]:
    """Runs all of them and returns their figures."""
    found = []
    for limit in LIMITS:
        for name, interface in INTERFACES.items():
            done = load(SCENARIO, set=settings(limit, interface)).run()
            summary = Result(done, "").summary
            link, flows = summary["links"]["bottleneck"], summary["flows"].values()
            sent = sum(flow["packets_sent"] for flow in flows)
            lost = sum(flow["packets_lost"] for flow in flows)
            found.append(
                {
                    "limit": limit,
                    "interface": name,
                    "utilization": round(link["utilization"], 4),
                    "segments_per_packet": round(sent / link["arrivals"], 2),
                    "packets_lost": round(link["loss_rate"], 5),
                    "segments_lost": round(lost / sent, 5),
                    "mean_queueing_delay_ms": round(1e3 * link["mean_queueing_delay_s"], 3),
                }
            )
    return found


INTRODUCTION = """\
A link of 1 Gb/s has 100 CUBIC flows of the `linux` profile with round trips of 20 to 60 ms. Its
buffer is a BDP over the square root of the number of flows: 330 packets, or 500 kB. Each cell has
the figure behind the limit in packets, then behind the limit in bytes.

| `interface` | utilisation | segments per packet | segments lost | mean queueing delay |
| --- | --- | --- | --- | --- |
"""


def text(data: list[dict[str, Any]]) -> str:
    """Returns the table."""
    half = len(data) // len(LIMITS)
    pairs = zip(data[:half], data[half:], strict=True)
    return INTRODUCTION + "".join(map(_line, pairs))


def _line(both: tuple[dict[str, Any], dict[str, Any]]) -> str:
    columns = [
        both[0]["interface"],
        " / ".join(f"{100 * one['utilization']:.1f} %" for one in both),
        " / ".join(f"{one['segments_per_packet']:.1f}" for one in both),
        " / ".join(f"{100 * one['segments_lost']:.3f} %" for one in both),
        " / ".join(f"{one['mean_queueing_delay_ms']:.2f} ms" for one in both),
    ]
    return f"| {' | '.join(columns)} |\n"


def document() -> str:
    """Returns the figures of all runs as JSON."""
    return json.dumps(rows(), indent=1) + "\n"
