"""The buffer of a link that is not full: it holds the bursts of flows that begin, and of offload.

A link whose flows offer less than it can carry limits none of them, so no rule about long flows
applies. Packets wait only if several hosts send bursts at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodqueue.sizing.answer.parts import buffer_dict, link_dict
from goodqueue.sizing.link import OFFLOAD_BYTES

if TYPE_CHECKING:
    from goodqueue.sizing.flow_records import FlowRecords
    from goodqueue.sizing.link import Link

FULL = 0.7
"""Share of the rate from which on the flows of records may be limited by the link. Records of an
hour contain quiet minutes, so a link that is full at times has a lower mean."""

INITIAL_WINDOW = 10
"""Segments that a flow sends at once when it begins (RFC 6928)."""

FASTER = 10.0
"""Rate of hosts relative to the link."""

QUANTILE = 0.999
"""Share of the time in which the buffer holds all bursts."""


@dataclass(frozen=True, slots=True)
class Bursts:
    """The buffer of a link that is not full.

    Attributes:
        link: the link.
        load_bps: offered load in bits per second.
        flows_per_s: flows that begin in a second.
        together: flows that begin while a burst is sent, at most in 99.9 % of the time.
    """

    link: Link
    load_bps: float
    flows_per_s: float
    together: int

    @property
    def packets(self) -> int:
        """Packets that wait after all of these bursts and one of offload came at once."""
        offload = math.ceil(OFFLOAD_BYTES / self.link.packet_bytes)
        come = INITIAL_WINDOW * max(self.together, 1) + offload
        return math.ceil(come * (1 - 1 / FASTER))

    @property
    def used(self) -> float:
        """Offered load as a share of the rate."""
        return self.load_bps / self.link.rate_bps

    def as_dict(self, notes: tuple[str, ...]) -> dict[str, Any]:
        """Returns plain values, with the keys of an answer that was not simulated."""
        return {
            "schema_version": 1,
            "engine": None,
            "link": link_dict(self.link),
            "notes": list(notes),
            "bursts": {
                "load_bps": self.load_bps,
                "used": self.used,
                "flows_per_s": self.flows_per_s,
                "flows_at_once": self.together,
            },
            "recommendation": {**buffer_dict(self.link, self.packets), "by": "bursts"},
            "decision": {
                "packets": self.packets,
                "shown": False,
                "impossible": None,
                "sets": [],
                "deciding_bound": None,
                "chance": [None, None],
                "world": [None, None],
                "expected": None,
                "engine": "theory",
                "nearest_miss": None,
            },
        }


def bursts_of(records: FlowRecords, link: Link) -> Bursts | None:
    """Returns the buffer for bursts; None if the link may be full, or the records have no time."""
    if records.span_s <= 0:
        return None
    load_bps = 8 * records.total_bytes / records.span_s
    used = load_bps / link.rate_bps
    if used >= FULL:
        return None
    long_per_s = records.long.flows / records.span_s
    flows_per_s = records.short_per_s + long_per_s
    busy_s = INITIAL_WINDOW * link.packet_time_s / (1 - used)
    return Bursts(link, load_bps, flows_per_s, poisson_quantile(flows_per_s * busy_s, QUANTILE))


def poisson_quantile(mean: float, share: float) -> int:
    """Returns the smallest count that a Poisson variable exceeds with at most 1 - share."""
    if mean > 700:  # exp(-mean) would be 0; the normal quantile of 99.9 % is 3.09
        return math.ceil(mean + 3.09 * math.sqrt(mean))
    count, term = 0, math.exp(-mean)
    total = term
    while total < share:
        count += 1
        term *= mean / count
        total += term
    return count
