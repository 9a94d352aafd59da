"""Definition of a sizing rule, and checks of assumptions that several rules share."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from goodqueue.sizing.controls import DECREASE
from goodqueue.sizing.throughput import cubic_overflow_loss_rate, reno_friendly_loss_rate

if TYPE_CHECKING:
    from collections.abc import Callable

    from goodqueue.sizing.link import Link

FEWEST_PACKETS_PER_FLOW = 4
"""Packets in flight below which three duplicate ACKs cannot arrive (RFC 5681 section 3.2). Losses
then end in timeouts, and windows are not saw-teeth."""

BURST_PACKETS = 2
"""Number of packets that a sender sends at once: pairs, because of delayed ACKs."""

DELAYED_ACK = 0.87
"""sqrt(3/4), the factor of the square-root law R = 0.87 M / (T sqrt p) with an ACK for two segments
(equation (2) of Dhamdhere et al.)."""

MOST_LOSS = 0.05
"""Loss rate above which equation (18) of Dhamdhere et al. does not apply (2 % to 5 %), because
timeouts dominate."""

NAMES = {"bbr": "BBR", "bbr3": "BBRv3", "prague": "Prague"}
"""Names in sentences of the controls whose windows are no saw-teeth."""

ROUNDING = 1e-9
"""Relative error that a formula's floating-point arithmetic may have."""

SLOW_ACCESS = 0.1
"""Largest rate of access links, as a share of the link's rate, that spaces packets like pacing."""


@dataclass(frozen=True, slots=True)
class Advice:
    """Advice of a rule for one link.

    Attributes:
        packets: the buffer in packets, not rounded; None if the rule has no number here.
        broken: the assumptions that do not hold on this link, a sentence each.
        notes: further remarks of the rule on the link.
    """

    packets: float | None
    broken: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """True if all assumptions that can be checked hold."""
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
    """A published rule for the size of a buffer.

    Attributes:
        name: its name in tables and files.
        title: its name in full.
        equation: the formula, with C in bits per second, T in seconds, N flows, B in packets.
        source: its publication.
        assumptions: conditions of its derivation.
        advise: function that returns its answer for a link.
        kind: a derived `rule`, or a `claim` that is quoted without a derivation.
        bound: `at least` if the buffer is a lower bound, `at most` if it is an upper bound.
        trial: the study with its measured record: that of loss-based flows, or of modern ones.
    """

    name: str
    title: str
    equation: str
    source: str
    assumptions: tuple[str, ...]
    advise: Callable[[Link], Advice] = field(repr=False)
    kind: Literal["rule", "claim"] = "rule"
    bound: Literal["at least", "at most"] = "at least"
    trial: Literal["classic", "modern"] = "classic"


def broken(*checks: tuple[bool, str]) -> tuple[str, ...]:
    """Returns the sentences whose condition is true."""
    return tuple(sentence for is_broken, sentence in checks if is_broken)


def few_in_flight(link: Link, packets: float) -> tuple[bool, str]:
    """Returns True if this buffer leaves windows too small for saw-teeth, and a sentence about it.

    Losses occur when the buffer is full, so a window at a loss includes its part of the buffer.
    """
    window = link.window_packets + packets / link.flows
    return (
        window < FEWEST_PACKETS_PER_FLOW,
        (
            f"{window:.2g} packets in flight per flow are too few for fast retransmit, so "
            "timeouts and not saw-teeth determine the rate of flows"
        ),
    )


def saw_tooth_checks(link: Link, packets: float) -> tuple[tuple[bool, str], ...]:
    """Returns the assumptions of every rule that is derived from halved windows."""
    return (
        few_in_flight(link, packets),
        (
            any(name not in DECREASE for name, _ in link.shares),
            f"{no_saw_tooth(link)} does not halve its window on a loss",
        ),
    )


def burst_checks(link: Link, packets: float) -> tuple[tuple[bool, str], ...]:
    """Returns the assumptions of rules for windows out of step, which ignore single packets."""
    idle = idle_from_bursts(packets)
    return (
        (
            sends_in_bursts(link) and 2 * idle > 1 - link.min_utilization,
            (
                "senders do not pace, and their bursts alone leave the link idle for "
                f"{idle:.1%} of the time, more than half of the allowed share"
            ),
        ),
    )


def idle_from_bursts(packets: float, burst: float = BURST_PACKETS) -> float:
    """Returns the idle share b / (2 B), at most 1, that bursts of b packets cause by themselves.

    If bursts arrive as a Poisson process at the rate of the link, its queue is a Brownian motion of
    variance b per packet time, without drift, between barriers at 0 and B (Harrison, Brownian
    Motion and Stochastic Flow Systems, 1985).
    """
    return min(1.0, burst / (2 * packets))


def loss_checks(link: Link, packets: float) -> tuple[tuple[bool, str], ...]:
    """Returns the conditions on loss for a rule that considers only utilisation."""
    if link.max_loss_rate is None:
        return ()
    if no_saw_tooth(link) is not None:
        return (
            (
                True,
                (
                    "the rule does not bound loss, and there is no formula for the loss of "
                    f"{no_saw_tooth(link)}"
                ),
            ),
        )
    return (
        (
            loss_rate(link, packets) > link.max_loss_rate,
            (
                f"the rule does not bound loss; with {link.flows} flow{'s' * (link.flows > 1)} "
                f"{loss_words(link, packets)} would be lost"
            ),
        ),
    )


def no_saw_tooth(link: Link) -> str | None:
    """Returns the name of the first control whose window is no saw-tooth; None if there is none."""
    return next((NAMES[name] for name, _ in link.shares if name not in DECREASE), None)


def loss_words(link: Link, packets: float) -> str:
    """Returns a phrase on the loss of N flows by formula; it has no figure if there is none."""
    lost = loss_rate(link, packets)
    if link.congestion_control != "cubic" and lost > MOST_LOSS:
        return f"more than {100 * MOST_LOSS:.0f} %, beyond the range of equation (18),"
    return f"about {lost:.2%}"


def loss_rate(link: Link, packets: float) -> float:
    """Returns the loss of N flows that fill link and buffer, at most 1.

    For Reno with delayed ACKs it is equation (18) of Dhamdhere et al., p = (0.87 N / (C_e T_e +
    B))^2. For CUBIC it is the larger of two estimates: that of the Reno-friendly region, and that
    of the growth of windows before a loss is noticed. The second increases with the round-trip
    time, and so with the buffer.
    """
    if link.controls:  # the largest loss of its controls
        return max(loss_rate(part, packets) for part in link.parts())
    window = (link.local_bdp_packets + packets) / link.flows
    if link.congestion_control == "cubic":
        rtt = link.mean_rtt_s + link.seconds(packets)
        lost = max(reno_friendly_loss_rate(window), cubic_overflow_loss_rate(window, rtt))
    else:
        lost = (DELAYED_ACK / window) ** 2
    return min(1.0, lost)


def sends_in_bursts(link: Link) -> bool:
    """Returns True if neither pacing nor slow access links space the packets of a flow."""
    slow_access = (
        link.access_rate_bps is not None and link.access_rate_bps <= SLOW_ACCESS * link.rate_bps
    )
    return not link.paces and not slow_access
