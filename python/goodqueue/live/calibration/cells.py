"""The cells of a calibration: links with a queue and a buffer, and the flows over them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.runs.settings import Settings

QUEUES = ("fifo", "codel", "fq_codel", "pie", "cake")
CONTROLS = ("reno", "cubic", "bbr")
FLOWS = (1, 4)
BUFFERS_BDP = (0.25, 1.0, 4.0)
"""Buffers in bandwidth-delay products."""

FRAME_BITS = 12_000
"""Bits of an IP packet of 1500 bytes."""

QUICK = ("fifo", "fq_codel"), ("reno", "cubic"), (1,)
"""Queues, controls and numbers of flows of a quick calibration."""


@dataclass(frozen=True, slots=True)
class Path:
    """The link of a calibration and the times of its runs.

    Attributes:
        rate: rate of the link with its unit.
        rtt: base round-trip time with its unit.
        duration_s: length of a run in seconds.
        warmup_s: time before its measurement in seconds.
    """

    rate: str = "10Mbps"
    rtt: str = "40ms"
    duration_s: float = 30.0
    warmup_s: float = 10.0

    @property
    def rate_bps(self) -> float:
        """Rate of the link in bits per second."""
        return float(_core.parse_rate("--rate", self.rate))

    @property
    def rtt_s(self) -> float:
        """Base round-trip time in seconds."""
        return float(_core.parse_span("--rtt", self.rtt))

    @property
    def bdp_packets(self) -> float:
        """Bandwidth-delay product in packets of 1500 bytes."""
        return self.rate_bps * self.rtt_s / FRAME_BITS

    @property
    def packet_s(self) -> float:
        """Transmission time of 1500 bytes in seconds."""
        return FRAME_BITS / self.rate_bps

    @property
    def measured_s(self) -> float:
        """Length of the measurement in seconds."""
        return self.duration_s - self.warmup_s


@dataclass(frozen=True, slots=True)
class Cell:
    """One queue, control, number of flows and buffer.

    Attributes:
        queue: the queue, as `tc` names it; `fifo` counts packets.
        control: congestion control, as the kernel names it.
        flows: number of flows.
        packets: limit of the queue in packets, without the one in transmission.
    """

    queue: str
    control: str
    flows: int
    packets: int

    @property
    def name(self) -> str:
        """Words for the cell."""
        flows = "1 flow" if self.flows == 1 else f"{self.flows} flows"
        return f"{self.queue}, {self.control}, {flows}, {self.packets} packets"

    def settings(self, path: Path) -> Settings:
        """Returns the scenario of the cell: bulk flows of Linux's TCP over one link."""
        queue: Settings = {"kind": self.queue, "limit": f"{self.packets}p"}
        if self.queue == "fifo":
            queue["kind"] = "drop_tail"
        if self.queue == "cake":
            # All emulated connections are between two hosts, and those of a simulation are not.
            queue["isolation"] = "flows"
        return {
            "schema_version": 1,
            "title": f"Calibration: {self.name}",
            "duration": f"{path.duration_s:g}s",
            "warmup": f"{path.warmup_s:g}s",
            "topology": {
                "shape": "dumbbell",
                "bottleneck": {
                    "rate": path.rate,
                    "delay": f"{path.rtt_s / 2 * 1e9:.0f}ns",
                    "queue": queue,
                    "reverse": {"queue": {"limit": "unlimited"}},
                },
            },
            "tcp": {"profile": "linux", "congestion_control": self.control},
            "flow": [
                {
                    "name": "bulk",
                    "count": self.flows,
                    "start_jitter": "5ms",
                    "workload": {"kind": "bulk"},
                }
            ],
        }


def cells(path: Path, *, only: Sequence[str] = (), quick: bool = False) -> list[Cell]:
    """Returns the cells of a calibration.

    Args:
        path: the link.
        only: values to which the cells are restricted: queues, controls, numbers of flows (`4`) and
            limits (`33p`). Values of one kind are alternatives.
        quick: leave most cells out.

    Raises:
        RequestError: if a value belongs to no cell; the message lists those that do.
    """
    queues, controls, flows = QUICK if quick else (QUEUES, CONTROLS, FLOWS)
    limits = tuple(max(1, math.floor(share * path.bdp_packets)) for share in BUFFERS_BDP)
    kinds: dict[str, tuple[str, ...]] = {
        "queue": queues,
        "control": controls,
        "flows": tuple(map(str, flows)),
        "packets": tuple(f"{limit}p" for limit in limits),
    }
    for value in only:
        if not any(value in values for values in kinds.values()):
            known = "; ".join(", ".join(values) for values in kinds.values())
            raise RequestError(f"--only {value}: no cell has this; the cells have {known}")
    kept = {
        kind: tuple(value for value in values if value in only)
        if set(values) & set(only)
        else values
        for kind, values in kinds.items()
    }
    return [
        Cell(queue, control, int(count), int(limit.removesuffix("p")))
        for queue, control, count, limit in product(*kept.values())
    ]
