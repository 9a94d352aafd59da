"""The part of docs/hosts.md with what a kernel does."""

from __future__ import annotations

from typing import Any

INTRODUCTION = """\
Linux {kernel} sent one CUBIC flow for {seconds} s through a `pfifo` of 1000 packets behind `htb`,
in network namespaces connected by virtual Ethernet (`tools/captures/aggregates.py`). The machine
has two cores and was busy with other work, which lengthens the tails. Before the queue we counted
the segments per packet, the segments that each ACK covers, and the time from an ACK to data that
follow it. ACKs were late by the delay. Each cell has the 10, 50 and 90 % quantiles.
"""

GREEDY = """\
| rate | delay | offloads | measured | segments per packet | segments per ACK | ACK to data, us |
| --- | --- | --- | --- | --- | --- | --- |
"""

PACED = """
A paced sender (`SO_MAX_PACING_RATE`) shows how late its departures are: the time between two
packets, less the time that the first takes at the pace. The kernel spreads packets a little less
than we count, so a median slightly below zero is exact. The last column also has the 99 % quantile.

| pace | offloads | segments per packet | late, us |
| --- | --- | --- | --- |
"""


def text(data: dict[str, Any], seconds: int) -> str:
    """Returns the part of the page."""
    lines = [INTRODUCTION.format(kernel=data["kernel"], seconds=seconds), "\n", GREEDY]
    lines += [_greedy(row) for row in data["rows"] if not row["pace_mbps"]]
    lines.append(PACED)
    lines += [_paced(row) for row in data["rows"] if row["pace_mbps"]]
    return "".join(lines)


def _greedy(row: dict[str, Any]) -> str:
    cells = [
        f"{row['rate_mbps']} Mb/s",
        f"{row['delay_ms']} ms",
        row["offloads"],
        f"{row['rate_bps'] / 1e6:.0f} Mb/s",
        _three(row["segments_per_packet"]),
        _three(row["segments_per_ack"]),
        _three(row["ack_to_data_us"]),
    ]
    return f"| {' | '.join(cells)} |\n"


def _paced(row: dict[str, Any]) -> str:
    late = f"{_three(row['late_us'])}, {row['late_us']['p99']:.0f}"
    sizes = _three(row["segments_per_packet"])
    return f"| {row['pace_mbps']} Mb/s | {row['offloads']} | {sizes} | {late} |\n"


def _three(figures: dict[str, float]) -> str:
    return ", ".join(str(round(figures[f"p{q}"])) for q in (10, 50, 90))
