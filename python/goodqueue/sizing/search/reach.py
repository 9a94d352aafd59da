"""The range of a search: the buffer that theory expects, and the limits at which it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue._core import bscl
from goodqueue.sizing.calibrated.smallest import calibrated

if TYPE_CHECKING:
    from goodqueue.sizing.link import Link
    from goodqueue.sizing.search.laboratory import Laboratory

VERY_MANY_FLOWS = 10_000
"""Number of flows beyond those of the study of calibrated theory. BSCL then asks for far too much:
for 40 times as much as the hybrid engine at 100 Gb/s with 80,000 flows."""

FARTHEST = 1 << 20
"""Largest limit tried, in packets (1.5 GB), if larger buffers do not need longer runs."""

GROWTH = 8
"""Largest factor by which a search grows beyond its usual end while a larger buffer still helps."""


def first_reach(link: Link) -> int:
    """Returns the first reach of a search in packets, above the expected answer."""
    if not link.flows or link.for_bursts:
        return max(int(2 * link.bdp_packets) + 1, 8)
    return max(int(1.5 * expected_packets(link)) + 1, 8)


def expected_packets(link: Link) -> int:
    """Returns the packets near which theory expects the answer.

    Calibrated theory has priority over the rules. If no rule applies to the flows, the answer is
    one BDP. With very many flows only the rule of the root of N is used.
    """
    if not link.flows or link.for_bursts:
        return max(int(link.bdp_packets), 1)
    theory = calibrated(link)
    if theory is not None and theory.least is not None and not theory.outside:
        return theory.least
    by_root = link.bdp_packets / link.flows**0.5
    if link.flows > VERY_MANY_FLOWS:
        return max(int(by_root), 1)
    return max(int(max(min(bscl(link).packets, link.bdp_packets), by_root)), 1)


def last_reach(link: Link, laboratory: Laboratory) -> int:
    """Returns the largest limit of a search in packets.

    The limit is 1.5 times the buffer that the delay bound allows. Without such a bound it is eight
    bandwidth-delay products, or twice the answer of BSCL. If larger buffers do not need longer
    runs, it is unlimited.
    """
    if link.max_delay_s is not None:
        # The limit includes the expected answer, so that the search finds the delay that would be
        # needed.
        last = max(1.5 * link.max_delay_s / link.packet_time_s, first_reach(link))
    elif laboratory.trial.elastic:
        last = max(8 * link.bdp_packets, 2 * bscl(link).packets)
    else:
        last = FARTHEST
    return max(int(last), 8)


def farthest_reach(link: Link, laboratory: Laboratory) -> int:
    """Returns the largest limit to which a search grows while a larger buffer still helps."""
    last = last_reach(link, laboratory)
    if link.max_delay_s is not None or not laboratory.trial.elastic:
        return last
    return max(min(GROWTH * last, FARTHEST), last)
