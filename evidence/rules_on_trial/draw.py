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

MOST_SPREAD = 30.0
LEAST_WINDOW = 1.5
"""Smallest number of packets per flow that the path and 100 ms of queue hold."""

UTILIZATIONS = (0.9, 0.95, 0.98, 0.98, 0.98, 0.99, 0.995)
"""Requested utilisations, each as frequent as any other entry."""

DELAYS_S = (0.001, 0.5)

LINKS, LINKS_OF_OPERATORS = 10_000, 400
"""Numbers of links to which the surfaces are fitted."""

CALIBRATION_LINKS, CALIBRATION_LINKS_OF_OPERATORS = 1_200, 350
CHECK_LINKS, CHECK_LINKS_OF_OPERATORS = 3_500, 500
"""Numbers of drawn links; a quarter (of operators: a tenth) are cheap enough to search."""

FIRST_OF_OPERATORS = 1_000_000
"""Number of the first link of the population of operators. Smaller numbers are ordinary links."""


@dataclass(frozen=True, slots=True)
class Population:
    """Ranges from which links are drawn, each uniform in the logarithm.

    Attributes:
        rates_bps: rates in bit/s.
        flows: numbers of long flows.
        rtts_s: base round-trip times in seconds.
        spread: share of the links whose round-trip times differ.
        loss_bounded: share of the links with a bound on loss.
        losses: bounds on loss.
        usual_packets: share of the links with packets of 1,500 bytes.
        alone: share of the links whose long flows are alone.
        paced: share of the links whose hosts pace.
        stacks: weight, profile, congestion control, growth of windows by the bytes acknowledged.
        cap_packets: largest number of packets of a run.
    """

    rates_bps: tuple[float, float]
    flows: tuple[float, float]
    rtts_s: tuple[float, float]
    spread: float
    loss_bounded: float
    losses: tuple[float, float]
    usual_packets: float
    alone: float
    paced: float
    stacks: tuple[tuple[float, str, str, bool], ...]
    cap_packets: int


ORDINARY = Population(
    rates_bps=(1e5, 1e10),
    flows=(1, 10_000),
    rtts_s=(0.002, 0.6),
    spread=0.5,
    loss_bounded=0.5,
    losses=(0.002, 0.05),
    usual_packets=0.9,
    alone=0.6,
    paced=0.2,
    stacks=(
        (0.40, "linux", "cubic", True),
        (0.20, "linux", "reno", True),
        (0.25, "rfc", "reno", False),
        (0.075, "rfc", "reno", True),
        (0.075, "rfc", "cubic", False),
    ),
    cap_packets=150_000,
)
"""Links of every kind that a scenario can describe and a short run can simulate."""

OPERATORS = Population(
    rates_bps=(5e8, 2e10),
    flows=(30, 5_000),
    rtts_s=(0.005, 0.2),
    spread=0.8,
    loss_bounded=0.75,
    losses=(0.002, 0.03),
    usual_packets=1.0,
    alone=0.6,
    paced=0.2,
    stacks=((0.8, "linux", "cubic", True), (0.2, "linux", "reno", True)),
    cap_packets=1_500_000,
)
"""Fast links with many flows, spread round trips and bounds on loss, as operators ask about."""


def population(index: int) -> Population:
    """Returns the population to which the link of that number belongs."""
    return OPERATORS if index >= FIRST_OF_OPERATORS else ORDINARY


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
        drawn = _attempt(Draw(seed, index, attempt), population(index))
        if drawn is not None:
            return drawn
        attempt += 1


def _attempt(draw: Draw, of: Population) -> Link | None:
    place, stack = draw("stack"), of.stacks[-1]
    for entry in of.stacks:
        if place < entry[0]:
            stack = entry
            break
        place -= entry[0]
    _, profile, control, counting = stack
    try:
        drawn = Link(
            rate_bps=draw.logarithmic("rate", of.rates_bps),
            rtts_s=_rtts(draw, of),
            flows=round(draw.logarithmic("flows", of.flows)),
            packet_bytes=1500
            if draw("packet?") < of.usual_packets
            else draw.one_of("packet", (576, 9000)),
            local_share=1.0 if draw("mix?") < of.alone else round(0.5 + 0.5 * draw("mix"), 3),
            congestion_control=control,
            byte_counting=counting,
            paced=draw("paced") < of.paced,
            profile=profile,
        )
    except RequestError:
        return None
    # Half of the longest bound on delay is included, because the queue of slow links holds most
    # packets.
    room = 0.1 / drawn.packet_time_s
    if (drawn.local_bdp_packets + min(room, 4 * drawn.flows)) / drawn.flows < LEAST_WINDOW:
        return None
    return _asked(drawn, draw, of)


def _rtts(draw: Draw, of: Population) -> tuple[float, ...]:
    """Returns one base round-trip time, or a range of 18 even steps."""
    shortest, longest = of.rtts_s
    first = draw.logarithmic("rtt", of.rtts_s)
    if draw("spread?") < 1 - of.spread:
        return (first,)
    most = min(MOST_SPREAD, longest / shortest)
    last = float(f"{first * draw.logarithmic('spread', (1.1, most)):.4g}")
    if last > longest:
        first, last = float(f"{first * longest / last:.4g}"), longest
    return rtt_range(max(first, shortest), last)


def _asked(drawn: Link, draw: Draw, of: Population) -> Link:
    """Returns the link with bounds on utilisation, often on loss, and in a third on delay."""
    loss = draw.logarithmic("loss", of.losses) if draw("loss?") < of.loss_bounded else None
    delay = draw.logarithmic("delay", DELAYS_S) if draw("delay?") < 1 / 3 else None
    if delay is not None:
        delay = max(delay, float(f"{3 * drawn.packet_time_s:.4g}"))
    return replace(
        drawn,
        min_utilization=draw.one_of("utilization", UTILIZATIONS),
        max_loss_rate=loss,
        max_delay_s=delay,
    )
