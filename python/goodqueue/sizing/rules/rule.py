"""What a sizing rule is."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from goodqueue.sizing.throughput import cubic_overflow_loss_rate, reno_friendly_loss_rate

if TYPE_CHECKING:
    from collections.abc import Callable

    from goodqueue.sizing.link import Link

FEWEST_PACKETS_PER_FLOW = 4
"""Below so many packets in flight three duplicate ACKs cannot come (RFC 5681 section 3.2): losses
end in timeouts, and windows are no saw-teeth."""

BURST_PACKETS = 2
"""Delayed ACKs let packets go in pairs."""

DELAYED_ACK = 0.87
"""sqrt(3/4): R = 0.87 M / (T sqrt p) with one ACK for two segments, (2) of Dhamdhere et al."""

MOST_LOSS = 0.05
"""Equation (18) of Dhamdhere et al. is for losses below 2 % to 5 %: above, timeouts decide."""

ROUNDING = 1e-9
"""Relative error that a formula's floating-point arithmetic may make."""

SLOW_ACCESS = 0.1
"""Access links of at most this share of the link space packets as pacing does."""


@dataclass(frozen=True, slots=True)
class Advice:
    """What a rule says about one link.

    Attributes:
        packets: the buffer in packets, not rounded; None where the rule has no number here.
        broken: the assumptions that do not hold on this link, a sentence each.
        notes: what else the rule says about it.
    """

    packets: float | None
    broken: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether all assumptions that can be checked hold."""
        return not self.broken

    @property
    def whole_packets(self) -> int | None:
        """The buffer rounded down, as the papers' tables do, but at least one packet.

        A buffer that rounding errors put just below a whole number counts as that number.
        """
        if self.packets is None:
            return None
        return max(1, math.floor(self.packets * (1 + ROUNDING)))


@dataclass(frozen=True, slots=True)
class Rule:
    """A published way to size a buffer.

    Attributes:
        name: its name in tables and files.
        title: its name in full.
        equation: the formula, with C in bits per second, T in seconds, N flows, B in packets.
        source: where it was published.
        assumptions: when it was derived to hold.
        advise: its answer for a link.
        kind: a derived `rule`, or a `claim` that is quoted without a derivation.
        bound: whether the buffer should be `at least` or `at most` what it says.
    """

    name: str
    title: str
    equation: str
    source: str
    assumptions: tuple[str, ...]
    advise: Callable[[Link], Advice] = field(repr=False)
    kind: Literal["rule", "claim"] = "rule"
    bound: Literal["at least", "at most"] = "at least"


def broken(*checks: tuple[bool, str]) -> tuple[str, ...]:
    """The sentences whose condition is true."""
    return tuple(sentence for is_broken, sentence in checks if is_broken)


def few_in_flight(link: Link, packets: float) -> tuple[bool, str]:
    """Whether windows are too small for saw-teeth with a buffer of so many packets.

    Losses come when the buffer is full, so what it holds belongs to the windows that lose.
    """
    window = link.window_packets + packets / link.flows
    return (
        window < FEWEST_PACKETS_PER_FLOW,
        (
            f"{window:.2g} packets in flight per flow: too few for fast retransmit, so flows "
            "live on timeouts and not on saw-teeth"
        ),
    )


def saw_tooth_checks(link: Link, packets: float) -> tuple[tuple[bool, str], ...]:
    """What every rule that argues from halved windows assumes of its buffer of so many packets."""
    return (
        few_in_flight(link, packets),
        (
            link.congestion_control == "bbr",
            "BBR does not halve its window on a loss",
        ),
    )


def burst_checks(link: Link, packets: float) -> tuple[tuple[bool, str], ...]:
    """What rules assume that argue from windows out of step, and know of no packets."""
    idle = idle_from_bursts(packets)
    return (
        (
            sends_in_bursts(link) and 2 * idle > 1 - link.min_utilization,
            (
                f"senders do not pace: their bursts alone leave the link idle for "
                f"{idle:.1%} of the time, more than half of what may be"
            ),
        ),
    )


def idle_from_bursts(packets: float, burst: float = BURST_PACKETS) -> float:
    """Idle share b / (2 B) that bursts of b packets cause, whatever windows do; at most 1.

    If bursts come as a Poisson process as fast as the link sends, its queue is a Brownian motion
    of variance b per packet time, without drift, between barriers at 0 and B (Harrison, Brownian
    Motion and Stochastic Flow Systems, 1985).
    """
    return min(1.0, burst / (2 * packets))


def loss_checks(link: Link, packets: float) -> tuple[tuple[bool, str], ...]:
    """What is asked of a rule that has utilisation as its only aim, where loss is bounded."""
    if link.max_loss_rate is None:
        return ()
    if link.congestion_control == "bbr":
        return ((True, "nothing in it bounds loss, and no formula tells that of BBR"),)
    return (
        (
            loss_rate(link, packets) > link.max_loss_rate,
            (
                f"nothing in it bounds loss: with {link.flows} flows {loss_words(link, packets)} "
                "would be lost"
            ),
        ),
    )


def loss_words(link: Link, packets: float) -> str:
    """The loss of N flows by formula, in words; without a figure where the formula has none."""
    lost = loss_rate(link, packets)
    if link.congestion_control != "cubic" and lost > MOST_LOSS:
        return f"more than {100 * MOST_LOSS:.0f} %, beyond the range of equation (18),"
    return f"about {lost:.2%}"


def loss_rate(link: Link, packets: float) -> float:
    """Loss of N flows that fill link and buffer, at most 1.

    Reno with delayed ACKs: equation (18) of Dhamdhere et al., p = (0.87 N / (C_e T_e + B))^2.
    CUBIC: the larger of two estimates, its Reno-friendly region and what its windows add before a
    loss is known. The second grows with the round-trip time, and so with the buffer.
    """
    window = (link.local_bdp_packets + packets) / link.flows
    if link.congestion_control == "cubic":
        rtt = link.mean_rtt_s + link.seconds(packets)
        lost = max(reno_friendly_loss_rate(window), cubic_overflow_loss_rate(window, rtt))
    else:
        lost = (DELAYED_ACK / window) ** 2
    return min(1.0, lost)


def sends_in_bursts(link: Link) -> bool:
    """Whether neither pacing nor slow access links space the packets of a flow."""
    slow_access = (
        link.access_rate_bps is not None and link.access_rate_bps <= SLOW_ACCESS * link.rate_bps
    )
    return not link.paced and not slow_access
