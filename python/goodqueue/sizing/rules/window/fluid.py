"""Stability of the fluid model: the largest stable drop-tail queue."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue.sizing.rules.rule import Advice, Rule, broken

if TYPE_CHECKING:
    from goodqueue.sizing.link import Link

LARGEST_SEARCHED = 100_000
"""Largest drop-tail buffer in packets whose stability is tested."""


@dataclass(frozen=True, slots=True)
class Equilibrium:
    """Reno flows at a drop-tail queue of B packets whose loss is rho^B.

    Attributes:
        load: rho, throughput over capacity.
        loss_rate: p.
        window: packets in flight per flow, w with w^2 p = 2.
    """

    load: float
    loss_rate: float
    window: float


def equilibrium(window_at_capacity: float, packets: float) -> Equilibrium:
    """Returns the equilibrium rho w_c = sqrt(2 / rho^B): rho = (2 / w_c^2)^(1/(B + 2)), at most 1.

    Args:
        window_at_capacity: w_c = C T / N in packets.
        packets: B.
    """
    load = min(1.0, (2 / window_at_capacity**2) ** (1 / (packets + 2)))
    return Equilibrium(load, load**packets, load * window_at_capacity)


def is_stable(window_at_capacity: float, packets: float) -> bool:
    """Returns True if T u' = -a u(t) - b u(t - T) decays, with a = p w and b = B / w.

    It decays for b <= a, and for larger b if sqrt(b^2 - a^2) < arccos(-a/b); roughly B < (pi/2) w.
    """
    at = equilibrium(window_at_capacity, packets)
    a, b = at.loss_rate * at.window, packets / at.window
    return b <= a or math.sqrt(b * b - a * a) < math.acos(-a / b)


def largest_stable(window_at_capacity: float) -> int:
    """Returns the largest stable drop-tail buffer in packets."""
    low, high = 0, LARGEST_SEARCHED
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_stable(window_at_capacity, middle) else (low, middle)
    return low


def advise(link: Link) -> Advice:
    """At most the largest stable drop-tail buffer, about (pi/2) w."""
    window = link.window_packets
    if window <= math.sqrt(2):
        return Advice(None, (f"{window:.2g} packets per flow: the model needs more than 1.4",))
    packets = largest_stable(window)
    at = equilibrium(window, packets)
    return Advice(
        float(packets),
        broken(
            (
                link.flows < 100,
                f"the number of flows ({link.flows}) is too small for a fluid model",
            ),
            (
                at.load < link.min_utilization,
                f"the model's load there is {at.load:.1%}, below the requested utilisation",
            ),
            (link.congestion_control != "reno", "derived for Reno"),
        ),
        (f"larger drop-tail buffers oscillate; loss there {at.loss_rate:.2%}",),
    )


RULE = Rule(
    name="fluid_stability",
    title="stable small buffer (fluid model)",
    equation="sqrt(b^2 - a^2) < arccos(-a/b), a = p w, b = B/w",
    source="after Raina and Wischik, Buffer sizes for large multiplexers, NGI 2005; the condition "
    "for p = rho^B is our derivation",
    assumptions=("very many Reno flows of one round-trip time", "a loss of rho^B (small queue)"),
    advise=advise,
    bound="at most",
)
