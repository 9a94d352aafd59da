"""The buffer that a probed link should have, beside the one that it has."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from goodqueue.live.probe import DIRECTIONS
from goodqueue.sizing.answer.effort import Effort
from goodqueue.sizing.api import size_link
from goodqueue.sizing.link import Link

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodqueue.live.probe import Probe
    from goodqueue.sizing.answer.answer import Answer

PACKET_BYTES = 1500
"""IP size of the packets in which `size` counts."""

SAME_RATE = 0.02
"""Relative difference of two rates below which both directions get the answer of the first."""


@dataclass(frozen=True)
class Sized:
    """The buffer of a direction.

    Attributes:
        direction: `up` or `down`.
        rate_bps: rate of the bottleneck, in bits of IP per second.
        base_rtt_s: base RTT in seconds.
        present_bytes: bytes that the present buffer holds; None if the probe did not see its end.
        present_s: queueing delay when the present buffer is full, in seconds. If the probe did not
            see its end, the longest delay that a load caused.
        needed_packets: buffer that keeps the link busy, in packets of 1500 bytes; None for none.
        needed_s: queueing delay when that buffer is full, in seconds.
        answer: the whole answer.
    """

    direction: str
    rate_bps: float
    base_rtt_s: float
    present_bytes: float | None
    present_s: float
    needed_packets: int | None
    needed_s: float | None
    answer: Answer

    @property
    def excess_s(self) -> float | None:
        """Queueing delay that a full present buffer adds to that of the needed one, in seconds."""
        return None if self.needed_s is None else self.present_s - self.needed_s

    def as_dict(self) -> dict[str, Any]:
        """Returns the figures as plain data."""
        names = (field.name for field in fields(self) if field.name != "answer")
        return {**{name: getattr(self, name) for name in names}, "excess_s": self.excess_s}


def sized(probe: Probe, flows: int) -> Iterator[Sized]:
    """Sizes the buffer of each direction whose rate was found.

    Args:
        probe: results of a probe.
        flows: number of long flows of the link.
    """
    rtt_s = probe.base_rtt_s()
    answers: dict[float, Answer] = {}
    for direction in DIRECTIONS:
        found = probe.figures[direction]
        if found is None or rtt_s is None or not found["is_saturated"]:
            continue
        if found["discipline"] == "policer":  # it has no buffer
            continue
        rate_bps = found["rate_bps"]["value"]
        same = [rate for rate in answers if abs(rate / rate_bps - 1) < SAME_RATE]
        if not same:
            link = Link(rate_bps, (max(rtt_s, 1e-4),), flows, PACKET_BYTES, profile="linux")
            effort = Effort(queues=(), changes=False, rules=False, hosts=False)
            answers[rate_bps] = size_link(link, effort)
        answer = answers[same[0] if same else rate_bps]
        needed = answer.buffer
        buffer = found["buffer"]
        yield Sized(
            direction,
            rate_bps,
            rtt_s,
            None if buffer is None else buffer["bytes"]["value"],
            found["longest_wait_s"] if buffer is None else buffer["seconds"]["value"],
            needed,
            None if needed is None else needed * PACKET_BYTES * 8 / rate_bps,
            answer,
        )
