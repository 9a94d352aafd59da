"""The links of the study: each is a pure function of the study's seed and of the link's number.

A draw hashes seed, number and the name of what is drawn to 53 bits (SHA-256), so a new parameter
shifts no other. Powers of ten are rounded to four digits, which hides how a machine computes them.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from goodqueue.errors import RequestError
from goodqueue.sizing.link import Link, rtt_range

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")

STUDY_SEED = 17
"""Seed of the links to which the surfaces are fitted."""

CALIBRATION_SEED = 18
"""Seed of the links whose searches calibrate the width of the intervals."""

CHECK_SEED = 19
"""Seed of the links on which the answer is checked; drawn after the fit."""

RATES_BPS = (1e5, 1e10)
FLOWS = (1, 10_000)
RTTS_S = (0.002, 0.6)
MOST_SPREAD = 30.0
LEAST_WINDOW = 1.5
"""Smallest number of packets per flow that the path and 100 ms of queue hold."""

STACKS = (
    (0.40, "linux", "cubic", True),
    (0.20, "linux", "reno", True),
    (0.25, "rfc", "reno", False),
    (0.075, "rfc", "reno", True),
    (0.075, "rfc", "cubic", False),
)
"""Weights of the draws: profile, congestion control, growth of windows by the bytes acknowledged.
"""

UTILIZATIONS = (0.9, 0.95, 0.98, 0.98, 0.98, 0.99, 0.995)
"""Requested utilisations, each as frequent as any other entry."""

LOSSES = (0.002, 0.05)
DELAYS_S = (0.001, 0.5)


@dataclass(frozen=True, slots=True)
class Draw:
    """Numbers in [0, 1) of one link, by name."""

    seed: int
    index: int
    attempt: int

    def __call__(self, name: str) -> float:
        """Returns the number of that name."""
        text = f"rules-on-trial/{self.seed}/{self.index}/{self.attempt}/{name}"
        return (int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 11) / (1 << 53)

    def logarithmic(self, name: str, ends: tuple[float, float]) -> float:
        """Returns a number between two ends whose logarithm is uniform, to four digits."""
        first, last = ends
        return float(f"{first * (last / first) ** self(name):.4g}")

    def one_of(self, name: str, values: Sequence[T]) -> T:
        """Returns one of the values, each with the same probability."""
        return values[int(self(name) * len(values))]


def link(seed: int, index: int) -> Link:
    """Returns the link of that number, with its bounds.

    A draw that is not a valid link is repeated.
    """
    attempt = 0
    while True:
        drawn = _attempt(Draw(seed, index, attempt))
        if drawn is not None:
            return drawn
        attempt += 1


def _attempt(draw: Draw) -> Link | None:
    place, stack = draw("stack"), STACKS[-1]
    for entry in STACKS:
        if place < entry[0]:
            stack = entry
            break
        place -= entry[0]
    _, profile, control, counting = stack
    try:
        drawn = Link(
            rate_bps=draw.logarithmic("rate", RATES_BPS),
            rtts_s=_rtts(draw),
            flows=round(draw.logarithmic("flows", FLOWS)),
            packet_bytes=1500 if draw("packet?") < 0.9 else draw.one_of("packet", (576, 9000)),
            local_share=1.0 if draw("mix?") < 0.6 else round(0.5 + 0.5 * draw("mix"), 3),
            congestion_control=control,
            byte_counting=counting,
            paced=draw("paced") < 0.2,
            profile=profile,
        )
    except RequestError:
        return None
    # Half of the longest bound on delay is included, because the queue of slow links holds most
    # packets.
    room = 0.1 / drawn.packet_time_s
    if (drawn.local_bdp_packets + min(room, 4 * drawn.flows)) / drawn.flows < LEAST_WINDOW:
        return None
    return _asked(drawn, draw)


def _rtts(draw: Draw) -> tuple[float, ...]:
    """Returns one base round-trip time, or a range of 18 even steps."""
    first = draw.logarithmic("rtt", RTTS_S)
    if draw("spread?") < 0.5:
        return (first,)
    most = min(MOST_SPREAD, RTTS_S[1] / RTTS_S[0])
    last = float(f"{first * draw.logarithmic('spread', (1.1, most)):.4g}")
    if last > RTTS_S[1]:
        first, last = float(f"{first * RTTS_S[1] / last:.4g}"), RTTS_S[1]
    return rtt_range(max(first, RTTS_S[0]), last)


def _asked(drawn: Link, draw: Draw) -> Link:
    """Returns the link with bounds on utilisation, in half the draws loss, in a third delay."""
    loss = draw.logarithmic("loss", LOSSES) if draw("loss?") < 0.5 else None
    delay = draw.logarithmic("delay", DELAYS_S) if draw("delay?") < 1 / 3 else None
    if delay is not None:
        delay = max(delay, float(f"{3 * drawn.packet_time_s:.4g}"))
    return replace(
        drawn,
        min_utilization=draw.one_of("utilization", UTILIZATIONS),
        max_loss_rate=loss,
        max_delay_s=delay,
    )
