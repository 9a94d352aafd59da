"""Hosts that a description of a link does not exclude.

A described link says nothing about the rates of the hosts' own links, pacing, merged ACKs, or other
traffic, and its flows and round trips are estimates. Real networks differ in each of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goodqueue.errors import RequestError

if TYPE_CHECKING:
    from goodqueue.sizing.link import Link

FAST_ACCESS, SLOW_ACCESS = 3.0, 0.3
"""Rates of the hosts' own links, relative to this link, in place of ten times its rate. An equal
rate is left out, because it puts flows into lock-step as no real network does."""

MIN_ACCESS_SHARE = 2.0
"""Smallest sum of the hosts' rates over that of the link with which flows can still fill it."""

MERGED_ACKS = 8
"""Most segments per ACK of receivers that merge them (generic receive offload, Wi-Fi, DOCSIS)."""

MERGING_S = 4e-3
"""Longest time in which packets that arrive are merged: that of a Wi-Fi aggregate in Linux
(Høiland-Jørgensen and others, "Ending the Anomaly", USENIX ATC 2017). Cable modems get a grant
every 2 ms, and wired hosts merge what arrives within some 50 µs. A slow link sends fewer packets
than eight in this time, so no receiver behind it can merge eight."""

DEVIATION = 0.2
"""Relative error of the numbers of flows and of the round trips that a user states."""

OUT_OF_PHASE = "round trips that differ by a packet's time"

MAX_PHASES = 16
"""Largest number of round-trip times that replace a single one."""

ANY_SHARE = 0.01
"""Bound on the utilisation that any traffic keeps."""

BBR_SHARE = 0.3
OTHER_TRAFFIC = 0.1
"""Share of the rate of flows that this link does not limit: short, remote and window-limited."""


def hosts(link: Link) -> dict[str, Link]:
    """Returns the link with other hosts, by a description of the one property that differs."""
    changes: dict[str, dict[str, Any]] = {
        "a fifth fewer flows": {"flows": round(link.flows * (1 - DEVIATION))},
        "a fifth more flows": {"flows": round(link.flows * (1 + DEVIATION))},
        "round trips a fifth shorter": {"rtts_s": _times(link, 1 - DEVIATION)},
        "round trips a fifth longer": {"rtts_s": _times(link, 1 + DEVIATION)},
        OUT_OF_PHASE: {"rtts_s": _phases(link)},
    }
    if link.access_rate_bps is None:
        fast = FAST_ACCESS * link.rate_bps
        changes["access links three times as fast"] = {"access_rate_bps": fast}
        if link.flows * SLOW_ACCESS >= MIN_ACCESS_SHARE:
            slow = SLOW_ACCESS * link.rate_bps
            changes["access links of 0.3 times the rate"] = {"access_rate_bps": slow}
    if not link.paces:
        changes["senders pace"] = {"paced": True}
    merged = min(MERGED_ACKS, int(MERGING_S / link.packet_time_s))
    if link.ack_every == 2 and merged > link.ack_every:
        changes["receivers merge ACKs"] = {"ack_every": merged}
    if link.local_share == 1:
        changes["a tenth of other traffic"] = {"local_share": 1 - OTHER_TRAFFIC}
    control = link.congestion_control
    if not link.controls and control in {"cubic", "reno"} and link.flows * BBR_SHARE >= 1:
        mix = ((control, 1 - BBR_SHARE), ("bbr", BBR_SHARE))
        changes["30 % of the flows have BBR"] = {"controls": mix}
    found = {}
    # Other hosts than described have another share of a link that no buffer fills.
    least = ANY_SHARE if link.for_bursts else link.min_utilization
    for what, change in changes.items():
        try:
            other = replace(link, **change)
        except RequestError:  # no such link
            continue
        if other != link:
            found[what] = replace(other, min_utilization=least)
    return found


def _times(link: Link, factor: float) -> tuple[float, ...]:
    return tuple(factor * rtt for rtt in link.rtts_s)


def _phases(link: Link) -> tuple[float, ...]:
    """Returns round-trip times in place of a single one, within the time that a packet takes.

    Packets of flows with exactly the same round trip meet the same places of the queue each time,
    so which flows lose depends on tiny changes of this time (Floyd and Jacobson, "On Traffic Phase
    Effects in Packet-Switched Gateways", 1992). No two hosts of a real network are so alike.
    """
    count = min(link.flows, MAX_PHASES)
    if len(link.rtts_s) > 1 or count < 2:
        return link.rtts_s
    (rtt,) = link.rtts_s
    return tuple(rtt + (i / (count - 1) - 0.5) * link.packet_time_s for i in range(count))
