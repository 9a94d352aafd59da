"""Buffers in proportion to the number of flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.sizing.rules.rule import Advice, Rule, broken

if TYPE_CHECKING:
    from goodqueue.sizing.link import Link

PACKETS_PER_FLOW = 6
"""Packets per flow: a window that fast retransmit can repair; loss then stays near 2 %."""


def advise(link: Link) -> Advice:
    """B = 6 N packets."""
    packets = PACKETS_PER_FLOW * link.flows
    return Advice(
        float(packets),
        broken(
            (
                packets < link.bdp_packets and link.flows < 10,
                (
                    f"the path holds {link.bdp_packets:.3g} "
                    "packets, and a few flows that halve leave the link idle with a queue "
                    "this short"
                ),
            ),
            (
                link.max_loss_rate is not None and link.max_loss_rate < 0.02,
                "the rule aims at a loss of about 2 %",
            ),
        ),
    )


RULE = Rule(
    name="flow_proportional",
    title="six packets per flow",
    equation="B = 6 N",
    source="Morris, TCP behavior with many flows, ICNP 1997; Scalable TCP congestion control, "
    "INFOCOM 2000",
    assumptions=(
        "many flows, each with a small window: the queue has to hold what the path does not",
        "a loss of about 2 % is acceptable",
    ),
    advise=advise,
)
