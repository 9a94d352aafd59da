"""Ratio of core to access speed: above a limit, flows alone cannot congest the link."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.sizing.rules.rule import Advice, Rule, broken

if TYPE_CHECKING:
    from goodqueue.sizing.link import Link

LARGE_RATIO = 50
"""Ratio from which on the flows in progress seldom exceed the link's rate at a load of 80 %."""

CONSTANT_PACKETS = 20
"""Packets of the O(1) buffer: the order of magnitude in the paper's figures."""


def advise(link: Link) -> Advice:
    """O(1) packets if a flow's access link is slow beside this one; otherwise no number."""
    access = link.access_rate_bps
    if access is None:
        return Advice(None, ("the rate of the access links is not known (--access-rate)",))
    ratio = link.rate_bps / access
    load = min(link.min_utilization, 0.99)
    overload = overload_probability(ratio, load)
    return Advice(
        float(CONSTANT_PACKETS) if ratio >= LARGE_RATIO else None,
        broken(
            (
                ratio < LARGE_RATIO,
                (
                    f"the link is only {ratio:.3g} times as fast as an access link, so a "
                    "few flows fill it, and a larger buffer improves their completion "
                    "times"
                ),
            ),
            (
                load > 0.9,
                (f"a load of {load:.0%} leaves no capacity for arrivals and departures of flows"),
            ),
        ),
        (
            (
                "flows at full access rate exceed the link with probability "
                f"{overload:.3f} at a load of {load:.0%}"
            ),
        ),
    )


def overload_probability(ratio: float, load: float) -> float:
    """Returns P(N c > C) for N flows at access rate c, where N is Poisson with mean rho C/c."""
    return _core.poisson_tail(math.floor(ratio), load * ratio)


RULE = Rule(
    name="core_to_access",
    title="core over access speed",
    equation="B = O(1) where C / c is large",
    source="Lakshmikantha, Beck and Srikant, Impact of file arrivals and departures on buffer "
    "sizing in core routers, INFOCOM 2008",
    assumptions=("flows come and go; each is limited by an access link much slower than this",),
    advise=advise,
)
