"""Incast: goodput over the number of servers collapses where the literature says it does.

A client reads a block in stripes of 256 kB from n servers at once over 1 Gb/s and 100 µs, through a
port with a small buffer, from hosts with a smallest timeout of 200 ms. A. Phanishayee and others,
"Measurement and Analysis of TCP Throughput Collapse in Cluster-based Storage Systems", USENIX FAST
2008: twice the buffer of the port lets twice as many servers send before goodput collapses (also V.
Vasudevan and others, SIGCOMM 2009).
"""

from __future__ import annotations

from itertools import pairwise
from statistics import median
from typing import Any

import pytest

import goodqueue
from goodqueue.runs.settings import scenario_of

STRIPE_BYTES = 256_000
RATE_BPS = 1e9
FULL = 0.9
"""Share of the port's rate that goodput has before its collapse."""

FACTOR = 1.3
"""Largest ratio of the number of servers at the collapse to that of the literature."""

SEEDS = range(1, 6)
SERVERS = (3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 18, 20, 22, 24, 27, 30, 34, 38, 42, 48, 54, 60)


def settings(servers: int, buffer: str, control: str, seed: int) -> dict[str, Any]:
    """Returns the scenario: twelve blocks, of which the first two are not measured."""
    return {
        "schema_version": 2,
        "duration": "12s",
        "warmup": "2s",
        "seed": seed,
        "topology": {
            "shape": "star",
            "framing": "ethernet",
            "ports": servers + 1,
            "port": {
                "rate": "1Gbps",
                "delay": "25us",
                "queue": {"limit": buffer},
                "reverse": {"queue": {"limit": "unlimited"}},
            },
        },
        "tcp": {
            "profile": "linux",
            "congestion_control": control,
            "details": {"idle_restart": "never"},
        },
        "flow": [
            {
                "name": "stripe",
                "count": servers,
                "from": "host0",
                "to": f"host1..{servers}",
                "start_jitter": "0s",
                "workload": {
                    "kind": "exchanges",
                    "request": "200B",
                    "reply": f"{STRIPE_BYTES}B",
                    "pause": "1s",
                    "periodic": True,
                },
            }
        ],
    }


def goodput_bps(servers: int, buffer: str, control: str) -> float:
    """Returns the median goodput of a block over seeds; the slowest server ends a block."""
    found: list[float] = []
    for seed in SEEDS:
        scenario = scenario_of(settings(servers, buffer, control, seed), "incast")
        flows = goodqueue.run(scenario.resolved_toml()).summary["flows"].values()
        slowest_s = max(flow["mean_exchange_time_s"] for flow in flows)
        found.append(8 * servers * STRIPE_BYTES / slowest_s)
    return median(found)


def most_servers(buffer: str, control: str, among: range) -> int:
    """Returns the largest number of servers before the collapse."""
    full = [
        servers
        for servers in SERVERS
        if servers in among and goodput_bps(servers, buffer, control) >= FULL * RATE_BPS
    ]
    return max(full)


@pytest.mark.parametrize("control", ["reno", "cubic"])
def test_twice_the_buffer_lets_twice_as_many_servers_send(control: str) -> None:
    found = [
        most_servers("64kB", control, range(3, 15)),
        most_servers("128kB", control, range(6, 25)),
        most_servers("256kB", control, range(12, 49)),
    ]
    for less, more in pairwise(found):
        assert 2 / FACTOR <= more / less <= 2 * FACTOR, found


def test_goodput_falls_to_a_part_of_the_rate_beyond_the_collapse() -> None:
    """One timeout of 200 ms takes a hundred times as long as a stripe of the port's rate."""
    assert goodput_bps(4, "64kB", "reno") > FULL * RATE_BPS
    assert goodput_bps(16, "64kB", "reno") < RATE_BPS / 3
