"""The memory that the queue of a link shares with others.

A pool drops packets behind every limit of a queue, so a larger limit has no effect once the pool
decides. What is sized then is the memory: the answer is the number of frames that the pool lets one
busy link hold while the others are idle (Choudhury and Hahne, "Dynamic Queue Length Thresholds for
Shared-Memory Packet Switches", IEEE/ACM Transactions on Networking 6(2), 1998).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.runs.settings import changed, settings_of
from goodqueue.sizing.trials.shaped import link_settings

if TYPE_CHECKING:
    from goodqueue._core import Scenario

DYNAMIC, STATIC = "dynamic", "static"
"""Policies of a pool with a threshold; `complete` has none."""

CELLS = (("cell", "1B"), ("gap", "0B"))
"""Keys of a pool for the memory that a frame takes, with their defaults."""

DUMBBELL = "bottleneck"
"""The link of a dumbbell, whose topology has no list of links."""


@dataclass(frozen=True, slots=True)
class Pool:
    """The memory in which a link's queue books its bytes, as the file states it.

    Attributes:
        name: its name.
        key: path of its table in the settings.
        policy: `dynamic`, `static` or `complete`.
        alpha: factor of dynamic thresholds; None with another policy.
        headroom_bytes: bytes that are reserved for each link.
        links: number of links that use it.
        capacity_bytes: its size.
        frame_bytes: memory of the largest frame of the link that is sized.
    """

    name: str
    key: str
    policy: str
    alpha: float | None
    headroom_bytes: int
    links: int
    capacity_bytes: int
    frame_bytes: int

    @property
    def share(self) -> float:
        """Share of the bytes beyond all headroom that one busy link may hold."""
        if self.policy == STATIC:
            return 1 / self.links
        return 1.0 if self.alpha is None else self.alpha / (1 + self.alpha)

    @property
    def thresholds(self) -> str:
        """The rule for the bytes of a link, in words."""
        if self.alpha is not None:
            return f"dynamic thresholds, alpha {self.alpha:g}"
        return "an equal part for each link" if self.policy == STATIC else "no thresholds"

    def decides(self, link: str) -> str:
        """Returns a sentence: the memory is sized, and what it holds today."""
        return (
            f"{link} books its queue on the shared memory {self.name} of "
            f"{self.capacity_bytes / 1e6:g} MB ({self.thresholds}), which lets one busy link hold "
            f"{self.packets:,} packets and drops the others behind every limit of the queue; so "
            "the memory decides, and the answer is what it must let the link hold"
        )

    @property
    def packets(self) -> int:
        """Largest frames that the pool lets one busy link hold while the others are idle."""
        shared = self.capacity_bytes - self.links * self.headroom_bytes
        return math.floor((self.headroom_bytes + self.share * shared) / self.frame_bytes)

    def capacity_for(self, packets: int) -> int:
        """Returns the bytes of memory with which one busy link may hold these frames."""
        if packets == self.packets:
            return self.capacity_bytes
        wanted = max(packets * self.frame_bytes - self.headroom_bytes, 0)
        # The thresholds are compared in floating point, so a byte is added.
        return math.ceil(wanted / self.share) + self.links * self.headroom_bytes + 1

    def alpha_for(self, packets: int) -> float | None:
        """Returns the factor with which the memory of the file lets one busy link hold frames.

        Returns None if no factor does, or if the pool has no dynamic thresholds.
        """
        if self.policy != DYNAMIC:
            return None
        shared = self.capacity_bytes - self.links * self.headroom_bytes
        share = (packets * self.frame_bytes - self.headroom_bytes) / shared
        return share / (1 - share) if 0 < share < 1 else None


def pool_of(scenario: Scenario, link: str) -> Pool | None:
    """Returns the pool that decides what a link may hold; None if its own limit is smaller."""
    topology = settings_of(scenario)["topology"]
    name = link_settings(topology, link).get("pool")
    pools = topology.get("pool", [])
    if name is None:
        return None
    links = topology.get("link") or [topology[DUMBBELL]]
    users = [one.get("pool") for of in links for one in (of, of.get("reverse", {}))]
    place, its = next((place, one) for place, one in enumerate(pools) if one["name"] == name)
    buffer = scenario.buffer(link)
    cell, gap = (_core.parse_size(key, its.get(key, usual)) for key, usual in CELLS)
    pool = Pool(
        name=name,
        key=f"topology.pool.{place}",
        policy=its["policy"],
        alpha=its.get("alpha"),
        headroom_bytes=_core.parse_size("headroom", its.get("headroom", "0B")),
        links=users.count(name),
        capacity_bytes=_core.parse_size("capacity", its["capacity"]),
        frame_bytes=-(-max(buffer["frame_bytes"] - gap, 1) // cell) * cell,
    )
    own = buffer["limit_packets"]
    return pool if own is None or own >= pool.packets else None


def with_memory(scenario: Scenario, link: str, pool: Pool, packets: int) -> Scenario:
    """Returns the scenario whose pool lets a busy link hold this many of its largest frames."""
    if scenario.buffer(link)["limit_packets"] is not None:
        scenario = scenario.with_limit(link, packets)
    return changed(scenario, {f"{pool.key}.capacity": f"{pool.capacity_for(packets)}B"})
