"""The scenario of a box: a star of ports on one memory, an incast, and long sessions beside it.

Port k leads from the switch to host k. Host 0 is the client. Long sessions fill the ports after
it, and the hosts behind all other ports answer the client.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodqueue.errors import RequestError
from goodqueue.runs.settings import readable_toml
from goodqueue.tuning.axis import written

if TYPE_CHECKING:
    from goodqueue.boxes.switch import Incast, Ports, Switch

CAPACITY, ALPHA_PATH = "topology.pool.memory.capacity", "topology.pool.memory.alpha"
SENDERS, BUSY_PATH = "flow.query.count", "flow.busy.count"
"""Paths of the values that are searched."""

QUERIES, QUERIES_BESIDE = 10, 5
"""Measured queries of a run, and those of a run with long sessions beside them."""

SESSIONS = 2
"""Long sessions of a port that they fill. A single sender behind a port of the same rate would
make a queue at its own host, and none in the switch."""

PERIOD_S = 0.020
"""Shortest time from one query to the next, as in scenarios/partition-aggregate.toml."""

SPARE = 1.5
"""Time between queries over the time of the largest one at the client's line rate."""

REACH = 4
"""Largest number of senders that is tried, over the number of the question."""

MAX_SENDERS = 1000

REQUEST_BYTES = 200


@dataclass(frozen=True, slots=True)
class Box:
    """A switch and its traffic.

    Attributes:
        switch: the switch.
        incast: the answers that come at once.
        rtt_s: base round-trip time between two hosts in seconds.
        control: congestion control of all hosts.
        mark_packets: threshold above which the ports mark packets; None if they do not.
        seed: seed of the first run.
    """

    switch: Switch
    incast: Incast
    rtt_s: float
    control: str = "cubic"
    mark_packets: int | None = None
    seed: int = 1

    @property
    def most_senders(self) -> int:
        """Largest number of senders that is tried."""
        return min(REACH * self.incast.senders, MAX_SENDERS)

    @property
    def period_s(self) -> float:
        """Time from one query to the next in seconds."""
        bits = 8 * self.most_senders * self.incast.size_bytes
        return max(PERIOD_S, SPARE * bits / self.switch.groups[0].rate_bps)

    @property
    def most_busy(self) -> int:
        """Largest number of ports that sessions can fill, all of the client's kind.

        Each session has a sender of its own, and one other host or more answers the client.
        """
        hosts = (self.switch.ports - 2) // (1 + SESSIONS)
        return max(min(self.switch.groups[0].count - 1, hosts), 0)

    def settings(self, busy: int = 0) -> dict[str, Any]:
        """Returns the scenario, as scenario files write it.

        Args:
            busy: the number of ports that long sessions fill.
        """
        switch, queries = self.switch, QUERIES_BESIDE if busy else QUERIES
        first, *others = switch.groups
        topology: dict[str, Any] = {"shape": "star", "framing": "ethernet", "ports": first.count}
        topology["port"] = self._port(first)
        topology["pool"] = [self._memory()]
        links = [(group, i) for group in others for i in range(group.count)]
        named = [
            {"name": f"port{k}", "from": "switch", "to": f"host{k}", **self._port(group)}
            for k, (group, _) in enumerate(links, first.count)
        ]
        if named:
            topology["node"] = [{"name": one["to"]} for one in named]
            topology["link"] = named
        period_us = round(1e6 * self.period_s)
        return {
            "schema_version": 2,
            "title": f"{self.incast.senders} answers of {self.incast.size_bytes:,} B at once "
            f"into a switch with {switch.ports} ports",
            "description": "Host 0 asks the others at once, again and again. All ports share one "
            "memory in cells.",
            "duration": f"{(queries + 1) * period_us}us",
            "warmup": f"{period_us}us",
            "seed": self.seed,
            "topology": topology,
            "tcp": {"profile": "linux", "congestion_control": self.control},
            "flow": [self._query(busy, period_us), *self._sessions(busy)],
        }

    def toml(self) -> str:
        """Returns the scenario as a file for people."""
        comments = {
            "": f"Other values: goodqueue run FILE --set {ALPHA_PATH}=2 --set {SENDERS}=64",
            "topology.port": "Port k leads from the switch to host k.",
            "topology.pool.0": "A full frame of Ethernet takes whole cells, without its preamble.",
        }
        return readable_toml(self.settings(), comments)

    def _port(self, group: Ports) -> dict[str, Any]:
        queue: dict[str, Any] = {"limit": "unlimited"}
        if self.mark_packets is not None:
            queue |= {"kind": "step", "threshold": f"{self.mark_packets}p"}
        return {
            "rate": written(group.rate_bps, "Gbps", digits=12),
            "delay": f"{round(1e9 * self.rtt_s / 4)}ns",
            "pool": "memory",
            "queue": queue,
            "reverse": {"queue": {"limit": "unlimited"}},
        }

    def _memory(self) -> dict[str, Any]:
        switch = self.switch
        return {
            "name": "memory",
            "capacity": f"{switch.memory_bytes}B",
            "alpha": switch.alpha,
            "headroom": f"{switch.reserved_bytes}B",
            "cell": f"{switch.cell_bytes}B",
            "gap": "20B",
        }

    def _query(self, busy: int, period_us: int) -> dict[str, Any]:
        last = self.switch.ports - 1
        return {
            "name": "query",
            "count": self.incast.senders,
            "from": "host0",
            "to": _hosts(busy + 1, last),
            "start_jitter": "0s",
            "workload": {
                "kind": "exchanges",
                "request": f"{REQUEST_BYTES}B",
                "reply": f"{self.incast.size_bytes}B",
                "pause": f"{period_us}us",
                "periodic": True,
            },
        }

    def _sessions(self, busy: int) -> list[dict[str, Any]]:
        if not busy:
            return []
        last = self.switch.ports - 1
        return [
            {
                "name": "busy",
                "count": SESSIONS * busy,
                "from": _hosts(last - SESSIONS * busy + 1, last),
                "to": [f"host{port}" for port in range(1, busy + 1) for _ in range(SESSIONS)],
                "workload": {"kind": "bulk"},
            }
        ]


def check_frames(box: Box) -> None:
    """Refuses a memory that has no room for a frame.

    Raises:
        RequestError: with what to write instead.
    """
    switch = box.switch
    if switch.shared_bytes < 0:
        reserved = switch.ports * switch.reserved_bytes
        raise RequestError(
            f"--reserved {switch.reserved_bytes}B: {switch.ports} ports reserve {reserved:,} B of "
            f"--memory {switch.memory_bytes:,} B; write less"
        )
    if not switch.holds_a_frame:
        raise RequestError(
            f"--memory {switch.memory_bytes}B: with alpha {switch.alpha:g} a port holds "
            f"{switch.held(1):.0f} B, less than a frame of {switch.frame_bytes} B; write more"
        )


def _hosts(first: int, last: int) -> str:
    return f"host{first}" if first == last else f"host{first}..{last}"
