"""C T / sqrt(N): many flows out of step need a smaller buffer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from goodqueue.sizing.rules.rule import (
    Advice,
    Rule,
    broken,
    burst_checks,
    loss_checks,
    saw_tooth_checks,
)

if TYPE_CHECKING:
    from goodqueue.sizing.link import Link

FEWEST_FLOWS = 16
"""Smallest number of flows that are assumed out of step. Fewer flows lose together, and the sum of
their windows is not Gaussian. The paper saw synchronisation vanish between 100 and 500 flows in
ns-2; with random starts and different round-trip times it vanishes earlier."""


def advise(link: Link) -> Advice:
    """B = C T / sqrt(N)."""
    packets = link.bdp_packets / math.sqrt(link.flows)
    bound = utilization_bound(link, packets)
    return Advice(
        packets,
        broken(
            *saw_tooth_checks(link, packets),
            (
                link.flows < FEWEST_FLOWS,
                f"the number of flows ({link.flows}) is too small for them to be out of step",
            ),
            (
                len(set(link.rtts_s)) == 1 and link.flows > 1,
                (
                    "all round-trip times are equal, so flows tend to lose at the same "
                    "time and stay in step"
                ),
            ),
            *burst_checks(link, packets),
            *loss_checks(link, packets),
            (
                link.decrease not in {None, 0.5},
                (
                    f"the rule is derived for Reno; {link.control_words} keeps "
                    f"{link.decrease} of its window and not half, so windows vary less and "
                    "a smaller buffer suffices"
                ),
            ),
        ),
        (f"utilisation at least {bound:.4f} by its Gaussian bound",),
    )


def utilization_bound(link: Link, packets: float) -> float:
    """Returns the least utilisation: erf((3 sqrt 3 / 2 sqrt 2) B sqrt(N) / (C T + B))."""
    in_flight = (link.bdp_packets + packets) / math.sqrt(link.flows)
    return math.erf(3 * math.sqrt(3) / (2 * math.sqrt(2)) * packets / in_flight)


RULE = Rule(
    name="sqrt_n",
    title="C T / sqrt(N)",
    equation="B = C T / (8M sqrt(N))",
    source="Appenzeller, Keslassy and McKeown, Sizing router buffers, SIGCOMM 2004",
    assumptions=(
        "many long flows, out of step with one another",
        "packets paced, or bursts small beside the buffer",
        "utilisation is the only aim: loss and fairness are not bounded",
        "Reno saw-teeth; drop tail",
    ),
    advise=advise,
)
