"""Drawn links on which the hybrid engine is compared with the packet engine, and their buffers."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue.runs.settings import scenario_of
from goodqueue.sizing.link import Link, rtt_range
from goodqueue.sizing.trials.described import settings, tail_drop
from goodqueue.sizing.trials.length import Length, length

if TYPE_CHECKING:
    from goodqueue._core import Scenario

TEST_SEEDS = (*range(5000, 5077), *range(6000, 6011))
"""Seeds of the links of the comparison. The model was developed on links of seeds below 1000."""

MOST_PACKETS = 6_000_000
"""Approximate number of packets after which a run ends."""

RUNS = 6
"""Smallest number of runs of each engine behind a buffer."""

CHEAP_PACKETS, MOST_OF_CHEAP = 1_000_000, 8
"""Short runs are repeated until they have this number of packets for each of `RUNS`, but at most
this number of times for each of `RUNS`.
"""


@dataclass(frozen=True)
class Drawn:
    """A drawn link.

    Attributes:
        seed: its seed.
        rate: rate in bit/s.
        rtts: base round-trip time of all flows in seconds, or the ends of the range of these times.
        flows: number of flows.
        control: congestion control, `reno` or `cubic`.
        profile: profile of the hosts, `linux` or `rfc`.
    """

    seed: int
    rate: int
    rtts: tuple[float, ...]
    flows: int
    control: str
    profile: str

    @property
    def link(self) -> Link:
        """The link in the form that the sizing rules need."""
        rtts = rtt_range(self.rtts[0], self.rtts[-1]) if len(self.rtts) > 1 else self.rtts
        return Link(
            self.rate,
            # Times in a scenario are whole microseconds.
            tuple(round(rtt * 1e6) / 1e6 for rtt in rtts),
            self.flows,
            congestion_control=self.control,
            profile=self.profile,
            byte_counting=self.profile == "linux",
        )

    @property
    def buffers(self) -> list[int]:
        """Five buffers, in packets, around those at which utilisation and loss change."""
        bdp = self.link.bdp_packets
        low = max(6.0, 0.15 * bdp / math.sqrt(self.flows))
        high = max(min(1.2 * bdp, 3.0 * bdp / math.sqrt(self.flows)), 2 * low)
        return sorted({round(low * (high / low) ** (i / 4)) for i in range(5)})

    def length(self, packets: int) -> Length:
        """Returns the length of a run behind a buffer, in which flows begin with slow start.

        The length is that of a replicate of `size`, cut after `MOST_PACKETS` packets or 40 of the
        longest round-trip times, whichever is later. A quarter is not measured.
        """
        link = self.link
        whole = length(link, packets, cold=True)
        share = min(1.0, MOST_PACKETS / whole.packets)
        duration = max(whole.duration_s * share, 40 * max(link.rtts_s))
        return Length(duration / 4, duration, duration / link.packet_time_s, warm=False)

    def runs(self, packets: int) -> int:
        """Returns the number of runs of each engine behind a buffer."""
        wanted = math.ceil(RUNS * CHEAP_PACKETS / self.length(packets).packets)
        return min(max(wanted, RUNS), MOST_OF_CHEAP * RUNS)

    def scenario(self, packets: int) -> Scenario:
        """Returns the scenario of a run behind a buffer."""
        made = settings(self.link, packets, tail_drop(packets), self.length(packets))
        return scenario_of(made, "the link")


def draw(seed: int) -> Drawn:
    """Draws a link in the range of the hybrid engine.

    The loss epochs of the link are so short that a run of `MOST_PACKETS` packets contains enough of
    them.
    """
    rng = random.Random(f"link {seed}")  # noqa: S311 - draws links, no secrets
    while True:
        drawn = _draw(rng, seed)
        link = drawn.link
        if length(link, link.bdp_packets / 2, cold=True).packets <= MOST_PACKETS:
            return drawn


def _draw(rng: random.Random, seed: int) -> Drawn:
    flows = round(math.exp(rng.uniform(0, math.log(1500))))
    window = math.exp(rng.uniform(math.log(9), math.log(300)))
    if flows < 5:
        window *= math.exp(rng.uniform(0, math.log(8)))
    if rng.random() < 0.5:
        rtts: tuple[float, ...] = (math.exp(rng.uniform(math.log(0.01), math.log(0.12))),)
    else:
        first = math.exp(rng.uniform(math.log(0.01), math.log(0.03)))
        rtts = (first, first * math.exp(rng.uniform(math.log(1.5), math.log(12))))
    rate = round(flows * window * 12000 / (sum(rtts) / len(rtts)))
    control = "cubic" if rng.random() < 0.55 else "reno"
    profile = "linux" if rng.random() < 0.7 else "rfc"
    return Drawn(seed, rate, rtts, flows, control, profile)
