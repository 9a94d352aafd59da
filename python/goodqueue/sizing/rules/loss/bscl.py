"""BSCL: buffer sizing for congested links, by utilisation, loss and delay at once.

Equation numbers are those of Dhamdhere, Jiang and Dovrolis, INFOCOM 2005. Its loss and delay
formulas count packets, its utilisation formula bytes; here all count packets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue.sizing.rules.rule import (
    DELAYED_ACK,
    Advice,
    Rule,
    broken,
    burst_checks,
    saw_tooth_checks,
)

if TYPE_CHECKING:
    from goodqueue.sizing.link import Link

FEWEST_FLOWS = 5
"""Number of flows below which losses are not in bursts, and a halved flow is too large a share: B =
C_e T_e."""

LARGEST_LOSS = 0.05
"""Loss rate from which on the square-root formula, which ignores timeouts, does not hold (2 to 5
%)."""

CLAIMED_UTILIZATION = 0.98
"""Utilisation that the paper requires of (14) to (16) and has simulated. They keep the link busy
after a burst that hits the mean number of flows; a burst that hits more leaves it idle for a while.
"""

LEAST_LOCAL_SHARE = 0.8
"""Local share below which the paper's own simulations deviate: figures 5 to 7."""


@dataclass(frozen=True, slots=True)
class Bscl:
    """The parts of the answer, in packets.

    Attributes:
        for_utilization: B_rho, equation (16), or C_e T_e below five flows (11); not clamped.
        for_loss: B_p, equation (22); None without a bound on loss.
        packets: the larger (23), at least one packet.
        most_for_delay: C d (24), the largest buffer that the delay bound allows; None without a
            bound on delay.
    """

    for_utilization: float
    for_loss: float | None
    packets: float
    most_for_delay: float | None

    @property
    def feasible(self) -> bool:
        """True if the delay bound allows the buffer that utilisation and loss need (25)."""
        return self.most_for_delay is None or self.packets <= self.most_for_delay


def bscl(link: Link, burst_packets: float | None = None) -> Bscl:
    """Returns the buffer of a congested link.

    Args:
        link: rate, round trips, flows and bounds.
        burst_packets: mean loss-burst length L; by default alpha N (17).
    """
    burst = link.synchronization * link.flows if burst_packets is None else burst_packets
    if link.flows < FEWEST_FLOWS:
        least = globally_synchronized(link)
    else:
        least = partially_synchronized(link, burst)
    loss = None if link.max_loss_rate is None else for_loss(link, link.max_loss_rate)
    delay = link.max_delay_s
    return Bscl(
        for_utilization=least,
        for_loss=loss,
        packets=max(least, loss or 0.0, 1.0),
        most_for_delay=None if delay is None else delay / link.packet_time_s,
    )


def globally_synchronized(link: Link) -> float:
    """Returns C_e T_e packets (11), for which every flow loses in every burst."""
    return link.local_bdp_packets


def share_hit(flows: int, burst_packets: float) -> float:
    """Returns q, the share of flows that a burst of this number of packets hits (13)."""
    if flows == 1:
        return 1.0
    return 1 - math.pow(1 - 1 / flows, burst_packets)


def partially_synchronized(link: Link, burst_packets: float) -> float:
    """Returns B_rho = (q C_e T_e - 2 N (1 - q)) / (2 - q) packets (16), negative for many flows."""
    q = share_hit(link.flows, burst_packets)
    return (q * link.local_bdp_packets - 2 * link.flows * (1 - q)) / (2 - q)


def packets_per_flow(loss_rate: float) -> float:
    """Returns K_p = 0.87 / sqrt(p): the window at which a flow loses this share of its packets."""
    return DELAYED_ACK / math.sqrt(loss_rate)


def for_loss(link: Link, loss_rate: float) -> float:
    """Returns B_p = K_p N - C_e T_e (20)-(22): the N windows less what the path holds."""
    return packets_per_flow(loss_rate) * link.flows - link.local_bdp_packets


def most_flows(link: Link, loss_rate: float, buffer_packets: float = 0.0) -> float:
    """Returns the largest number of flows that keep the loss with this buffer, by (18)."""
    return (link.local_bdp_packets + buffer_packets) / packets_per_flow(loss_rate)


def advise(link: Link) -> Advice:
    """B = max(B_rho, B_p), at least one packet."""
    answer = bscl(link)
    notes = [_decides(link, answer), _parts(link, answer)]
    if link.max_loss_rate is not None:
        room = answer.packets if answer.most_for_delay is None else answer.most_for_delay
        most = int(most_flows(link, link.max_loss_rate, room))
        allowed = "" if answer.most_for_delay is None else ", which the delay allows,"
        notes.append(f"{room:.4g} packets{allowed} keep the loss with up to {most} flows (18)")
    if answer.most_for_delay is not None and not answer.feasible:
        notes.append(
            f"not feasible (25): the delay allows {answer.most_for_delay:.4g} packets; it would "
            f"have to be at least {link.seconds(answer.packets) * 1e3:.4g} ms"
        )
    return Advice(
        answer.packets,
        broken(
            *saw_tooth_checks(link, answer.packets),
            *_utilization_checks(link, answer.packets),
            (
                link.local_share < LEAST_LOCAL_SHARE,
                (
                    f"this link limits only {link.local_share:.0%} of the traffic, and the "
                    "rule needs at least 80 %"
                ),
            ),
            (
                (link.max_loss_rate or 0) > LARGEST_LOSS,
                "above a loss of 5 % timeouts dominate, which the formula ignores",
            ),
            (
                link.grows_fast and link.congestion_control in {"reno", "abe"},
                (
                    "windows grow by one packet per round trip, twice as fast as its 0.87 "
                    "assumes, so about twice as many packets are lost"
                ),
            ),
            (
                link.congestion_control in {"cubic", "scalable"},
                f"{link.congestion_control} does not follow the square-root law of Reno",
            ),
        ),
        tuple(notes),
    )


def _utilization_checks(link: Link, packets: float) -> tuple[tuple[bool, str], ...]:
    """Returns conditions of (16), for five flows or more and partially synchronised losses."""
    if link.flows < FEWEST_FLOWS:
        return ()
    return (
        (
            link.min_utilization > CLAIMED_UTILIZATION,
            (
                f"the requested utilisation is {100 * link.min_utilization:.4g} %, but the "
                "rule covers loss bursts of mean length, and is claimed for "
                f"{100 * CLAIMED_UTILIZATION:.4g} %"
            ),
        ),
        *burst_checks(link, packets),
    )


def _decides(link: Link, answer: Bscl) -> str:
    if answer.for_loss is not None and answer.for_loss >= answer.for_utilization:
        return "loss decides" if answer.for_loss >= 1 else "one packet keeps all bounds"
    if answer.for_utilization < 1:
        return "one packet keeps all bounds, because the saw-teeth of so many flows leave no gap"
    by = "globally synchronised" if link.flows < FEWEST_FLOWS else "partially synchronised"
    return f"utilisation decides, losses {by}"


def _parts(link: Link, answer: Bscl) -> str:
    """Returns B_rho and B_p in packets."""
    equation = "(11)" if link.flows < FEWEST_FLOWS else "(16)"
    parts = [f"B_rho = {_needed(answer.for_utilization)} for utilisation {equation}"]
    if answer.for_loss is not None:
        parts.append(f"B_p = {_needed(answer.for_loss)} for loss (22)")
    return ", ".join(parts)


def _needed(packets: float) -> str:
    """Formats the value of a formula, which asks for no buffer if it is negative."""
    return f"{packets:.4g} packets{'' if packets > 0 else ' (no buffer is needed)'}"


RULE = Rule(
    name="bscl",
    title="BSCL",
    equation="B = max((q C_e T_e - 2N(1-q)) / (2-q), 0.87 N / sqrt(p) - C_e T_e)",
    source="Dhamdhere, Jiang and Dovrolis, Buffer sizing for congested Internet links, "
    "INFOCOM 2005",
    assumptions=(
        "at least 80 % of the traffic are long Reno flows that this link limits",
        "delayed ACKs and SACK, loss below 2 % to 5 %, few timeouts",
        "drop tail; at least five flows (below, C_e T_e)",
    ),
    advise=advise,
)
