"""What a sizing rule is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from goodqueue.sizing.link import Link

FEWEST_PACKETS_PER_FLOW = 4
"""Below so many packets in flight three duplicate ACKs cannot come (RFC 5681 section 3.2): losses
end in timeouts, and windows are no saw-teeth."""

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
        """The buffer rounded down, as the papers' tables do, but at least one packet."""
        return None if self.packets is None else max(1, int(self.packets))


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


def saw_tooth_checks(link: Link) -> tuple[tuple[bool, str], ...]:
    """What every rule that argues from saw-teeth assumes."""
    window = link.window_packets
    return (
        (
            window < FEWEST_PACKETS_PER_FLOW,
            (
                f"{window:.2g} packets in flight per flow: too few for fast retransmit, so flows "
                "live on timeouts and not on saw-teeth"
            ),
        ),
        (
            link.congestion_control == "bbr",
            "BBR does not halve its window on a loss",
        ),
    )


def sends_in_bursts(link: Link) -> bool:
    """Whether neither pacing nor slow access links space the packets of a flow."""
    slow_access = (
        link.access_rate_bps is not None and link.access_rate_bps <= SLOW_ACCESS * link.rate_bps
    )
    return not link.paced and not slow_access
