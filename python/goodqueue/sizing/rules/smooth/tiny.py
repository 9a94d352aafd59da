"""Tiny buffers: O(log W) packets if arrivals are smooth."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from goodqueue.sizing.rules.rule import Advice, Rule, broken, sends_in_bursts

if TYPE_CHECKING:
    from goodqueue.sizing.link import Link


def advise(link: Link) -> Advice:
    """B = log(W^2 / 2(1 - theta)) / log(1/rho), with rho = theta = the requested utilisation."""
    load = min(link.min_utilization, 0.99)
    window = link.max_window_packets or link.window_packets
    return Advice(
        buffer_packets(load, max(window, 1), load),
        broken(
            (
                sends_in_bursts(link),
                (
                    "senders neither pace nor have access links much slower than this "
                    "one, so their bursts overflow a tiny buffer"
                ),
            ),
            (
                link.min_utilization > 0.9,
                (
                    f"the requested utilisation is {link.min_utilization:.0%}, but the "
                    "rule gives up 10 % to 30 % of the capacity"
                ),
            ),
        ),
        (f"windows of up to {window:.3g} packets",),
    )


def buffer_packets(load: float, window: float, effective_utilization: float) -> float:
    """Returns B >= log_{1/rho}(W^2 / (2 (1 - theta))), in packets.

    Args:
        load: rho, arrivals over capacity, below 1.
        window: W, the largest window in packets.
        effective_utilization: theta, the share of the offered load that is carried, below 1.
    """
    return max(
        0.0, math.log(window * window / (2 * (1 - effective_utilization))) / math.log(1 / load)
    )


RULE = Rule(
    name="tiny",
    title="tiny buffers, O(log W)",
    equation="B = log(W^2 / 2(1 - theta)) / log(1 / rho)",
    source="Enachescu, Ganjali, Goel, McKeown and Roughgarden, Routers with very small buffers, "
    "INFOCOM 2006",
    assumptions=(
        "arrivals are nearly Poisson: senders pace, or access links are much slower",
        "the link may stay partly idle (over-provisioned by 1/rho)",
        "windows are bounded",
    ),
    advise=advise,
)
