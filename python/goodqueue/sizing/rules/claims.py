"""Advice of the studies that goodqueue reproduces, as claims with their conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.sizing.rules.rule import Advice, Rule, broken

if TYPE_CHECKING:
    from goodqueue.sizing.link import Link


def _kilobytes(link: Link) -> Advice:
    """5 to 10 kB; the upper end is given."""
    return Advice(
        10_000 / link.packet_bytes,
        broken(
            (link.rate_bps > 1e6, "claimed for an uplink of 1 Mb/s"),
            (link.flows > 1, "claimed for one bulk flow"),
            (
                link.bdp_packets * link.packet_bytes > 10_000,
                (
                    f"the path holds {link.bdp_packets * link.packet_bytes:,.0f} B, more than the "
                    "whole range"
                ),
            ),
        ),
        (f"5 kB to 10 kB, {5_000 / link.packet_bytes:.3g} to {10_000 / link.packet_bytes:.3g}",),
    )


def _few_packets(first: int, last: int) -> Rule:
    red = (first, last) == (3, 6)

    def advise(link: Link) -> Advice:
        return Advice(
            float(last),
            broken(
                (link.rate_bps > 0.5e6, "claimed for links of 0.05 to 0.5 Mb/s"),
                (link.flows > 3, "claimed for up to three TCP flows beside a CBR source"),
            ),
            (f"{first} to {last} packets of 552 B",),
        )

    return Rule(
        name=f"claim_{first}_{last}_packets",
        title=f"{first} to {last} packets",
        equation=f"B = {first} to {last}",
        source="the 2021 ns-2 study of RED on lossy low-rate bottlenecks"
        if red
        else "the 2020 ns-2 study of drop tail on lossy low-rate bottlenecks",
        assumptions=(
            f"{'RED' if red else 'drop tail'} at 0.05 to 0.5 Mb/s with 1 to 5 % random loss",
        ),
        advise=advise,
        kind="claim",
    )


RULE_KILOBYTES = Rule(
    name="claim_5_10_kB",
    title="5 to 10 kB",
    equation="B = 5 kB to 10 kB",
    source="Gijsbers, Bufferbloat in routers, 2011 (OMNeT++/INET)",
    assumptions=("one bulk flow on an uplink of 1 Mb/s with short round trips",),
    advise=_kilobytes,
    kind="claim",
)
RULE_RED = _few_packets(3, 6)
RULE_DROP_TAIL = _few_packets(5, 10)
