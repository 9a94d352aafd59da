"""Advice of the studies that goodqueue reproduces, as claims with their conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.sizing.rules.rule import Advice, Rule, broken

if TYPE_CHECKING:
    from goodqueue.sizing.link import Link

NS2_STUDIES = (
    "the 2020 ns-2 study of drop tail and the 2021 ns-2 study of RED, both on lossy low-rate "
    "bottlenecks"
)


def _uplink(link: Link) -> Advice:
    """3 to 6 frames; the upper end is given."""
    first, last = 3, 6
    return Advice(
        float(last),
        broken(
            (link.rate_bps > 1e6, "claimed for an uplink of 1 Mb/s"),
            (link.flows > 1, "claimed for one bulk flow"),
            (
                link.bdp_packets > last,
                f"the path holds {link.bdp_packets:.3g} packets, more than the whole range",
            ),
        ),
        (f"{first} to {last} frames of 583 B",),
    )


def _slow_links(link: Link) -> tuple[str, ...]:
    """Returns the conditions of the two ns-2 studies that this link does not meet."""
    return broken(
        (link.rate_bps > 0.5e6, "claimed for links of 0.05 to 0.5 Mb/s"),
        (link.flows > 3, "claimed for up to three TCP flows beside a CBR source"),
    )


def _kilobytes(link: Link) -> Advice:
    """5 to 10 kB; the upper end is given."""
    first, last = (bytes_ / link.packet_bytes for bytes_ in (5_000, 10_000))
    return Advice(last, _slow_links(link), (f"5 kB to 10 kB, {first:.3g} to {last:.3g} packets",))


def _packets(link: Link) -> Advice:
    """5 to 10 packets; the upper end is given."""
    return Advice(10.0, _slow_links(link), ("5 to 10 packets of 592 B",))


RULE_UPLINK = Rule(
    name="claim_3_6_packets",
    title="3 to 6 packets",
    equation="B = 3 to 6",
    source=(
        "Gijsbers and Akkoorath, Performance simulation of buffer bloat in routers, 2011 "
        "(OMNeT++/INET): the throughput-latency optimum of table 5"
    ),
    assumptions=("one bulk flow on an uplink of 1 Mb/s with short round trips",),
    advise=_uplink,
    kind="claim",
)
RULE_KILOBYTES = Rule(
    name="claim_5_10_kB",
    title="5 to 10 kB",
    equation="B = 5 kB to 10 kB",
    source=NS2_STUDIES,
    assumptions=("drop tail or RED at 0.05 to 0.5 Mb/s with 1 to 5 % random loss",),
    advise=_kilobytes,
    kind="claim",
)
RULE_PACKETS = Rule(
    name="claim_5_10_packets",
    title="5 to 10 packets",
    equation="B = 5 to 10",
    source=f"{NS2_STUDIES}; their buffers of 5 to 10 were simulated as packets",
    assumptions=("drop tail or RED at 0.05 to 0.5 Mb/s with 1 to 5 % random loss",),
    advise=_packets,
    kind="claim",
)
