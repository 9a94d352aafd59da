"""Links and bounds that are drawn, as flags of `goodqueue size` and for runs of our own."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goodqueue.errors import RequestError
from goodqueue.sizing.link import Link, rtt_range
from goodqueue.sizing.search.reach import expected_packets
from goodqueue.sizing.trials.length import length

if TYPE_CHECKING:
    from collections.abc import Iterator

SEED = 60
LINKS = 60

MAX_PACKETS = 2_000_000
"""Largest number of packets of a run of full length behind one BDP or the buffer that theory
expects, whichever is larger. Links that need more are left out."""


@dataclass(frozen=True)
class Question:
    """A drawn link with its bounds.

    Attributes:
        rate_kbps: rate of the link in kb/s.
        rtts_ms: base round-trip time in milliseconds, or the shortest and the longest of 18.
        flows: number of long flows.
        control: congestion control, `cubic` or `reno`.
        profile: hosts, `linux` or `rfc`.
        busy: smallest utilisation, as a share.
        loss: largest loss rate, as a share; None without this bound.
        delay_ms: largest 99th percentile of the queueing delay; None without this bound.
    """

    rate_kbps: float
    rtts_ms: tuple[float, ...]
    flows: int
    control: str
    profile: str
    busy: float
    loss: float | None
    delay_ms: float | None

    @property
    def flags(self) -> list[str]:
        """The arguments of `goodqueue size`."""
        found = ["--rate", f"{self.rate_kbps:.8g}kbps", "--flows", f"{self.flows}"]
        found += ["--rtt", "..".join(f"{one:.8g}ms" for one in self.rtts_ms)]
        found += ["--control", self.control, "--profile", self.profile]
        found += ["--target", f"{100 * self.busy:.8g}%"]
        if self.loss is not None:
            found += ["--max-loss", f"{100 * self.loss:.8g}%"]
        if self.delay_ms is not None:
            found += ["--max-delay", f"{self.delay_ms:.8g}ms"]
        return found

    @property
    def link(self) -> Link:
        """The link as the command describes it.

        Raises:
            RequestError: if no queue could keep the bounds.
        """
        rtts = tuple(one / 1e3 for one in self.rtts_ms)
        return Link(
            1e3 * self.rate_kbps,
            rtt_range(rtts[0], rtts[-1]) if len(rtts) > 1 else rtts,
            self.flows,
            congestion_control=self.control,
            profile=self.profile,
            min_utilization=self.busy,
            max_loss_rate=self.loss,
            max_delay_s=None if self.delay_ms is None else self.delay_ms / 1e3,
        )

    def varied(self) -> dict[str, Question]:
        """Returns questions that differ by one per cent in one thing, by its name."""
        found = {
            "rate": replace(self, rate_kbps=1.01 * self.rate_kbps),
            "round trip": replace(self, rtts_ms=tuple(0.99 * one for one in self.rtts_ms)),
        }
        looser = replace(self, busy=1 - 1.01 * (1 - self.busy))
        if self.loss is not None:
            looser = replace(looser, loss=1.01 * self.loss)
        if self.delay_ms is not None:
            looser = replace(looser, delay_ms=1.01 * self.delay_ms)
        return found | {"bounds": looser}


def questions(seed: int = SEED) -> Iterator[Question]:
    """Yields drawn questions without end: 1 to 300 flows, 5 to 300 ms, windows of 3 to 300 packets.

    A window is the share of one flow in the bandwidth-delay product. The rate follows from it, and
    is 1 Mb/s to 10 Gb/s.
    """
    rng = random.Random(seed)  # noqa: S311 - links, no secrets
    while True:
        shortest = 5 * 60 ** rng.random()
        longest = min(300.0, shortest * rng.choice([1, 2, 4]))
        rtts = (shortest, longest) if longest > shortest else (shortest,)
        flows = round(300 ** rng.random())
        window_bits = 3 * 100 ** rng.random() * 12_000
        rate_kbps = flows * window_bits / ((shortest + longest) / 2)
        one = Question(
            rate_kbps=float(f"{rate_kbps:.4g}"),
            rtts_ms=tuple(round(rtt, 1) for rtt in rtts),
            flows=flows,
            control=rng.choice(["cubic", "cubic", "cubic", "reno"]),
            profile=rng.choice(["linux", "linux", "linux", "linux", "rfc"]),
            busy=rng.choice([0.9, 0.95, 0.98, 0.99]),
            loss=rng.choice([None, None, 0.005, 0.01, 0.02, 0.05]),
            delay_ms=rng.choice([None, None, 50.0, 100.0, 200.0]),
        )
        if 1e3 <= rate_kbps <= 1e7 and _is_affordable(one):
            yield one


def _is_affordable(one: Question) -> bool:
    try:
        link = one.link
    except RequestError:  # Bounds that no queue could keep are refused before any search.
        return False
    at = max(math.ceil(link.bdp_packets), expected_packets(link))
    return length(link, at, cold=True).packets <= MAX_PACKETS
