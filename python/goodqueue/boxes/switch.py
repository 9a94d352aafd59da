"""A switch whose ports share one memory in cells, and what follows from its dynamic thresholds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import ceil, floor
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.core.files.reading import read_text
from goodqueue.errors import RequestError

if TYPE_CHECKING:
    from pathlib import Path

GROUP = re.compile(r"\s*(\d{1,4})\s*x\s*(\S+)\s*")
"""A number, `x`, and what there are that many of."""

MAX_PORTS = 1000
"""Largest number of ports of a scenario's star."""

GAP_BYTES = 20
"""Bytes of preamble and gap of an Ethernet frame, which take time on the line and no memory."""

FRAME_BYTES = 1538
"""Bytes of a full Ethernet frame on the line."""

CUBIC_KEPT, RENO_KEPT = 0.7, 0.5
"""Share of its window that a sender keeps after a loss: RFC 9438 section 4.6, RFC 5681 (4)."""

M_PER_S = 2e8
"""Metres that a signal goes in a second in glass, whose group index is about 1.5."""


@dataclass(frozen=True, slots=True)
class Ports:
    """Equal ports.

    Attributes:
        count: their number.
        rate_bps: line rate of each in bit/s.
    """

    count: int
    rate_bps: float


@dataclass(frozen=True, slots=True)
class Incast:
    """Servers that answer one client at once.

    Attributes:
        senders: their number.
        size_bytes: bytes of the answer of each.
    """

    senders: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch with one class of traffic.

    Attributes:
        groups: its ports; the client of an incast is behind the first one.
        memory_bytes: memory that all ports share.
        alpha: factor of the dynamic thresholds.
        cell_bytes: bytes of a cell of the memory.
        reserved_bytes: bytes that are reserved for each port.
    """

    groups: tuple[Ports, ...]
    memory_bytes: int
    alpha: float = 1.0
    cell_bytes: int = 256
    reserved_bytes: int = 0

    @property
    def ports(self) -> int:
        """Number of ports."""
        return sum(group.count for group in self.groups)

    @property
    def frame_bytes(self) -> int:
        """Memory of a full frame in bytes, in whole cells."""
        return -(-(FRAME_BYTES - GAP_BYTES) // self.cell_bytes) * self.cell_bytes

    @property
    def shared_bytes(self) -> int:
        """Memory beyond what is reserved for all ports, in bytes."""
        return self.memory_bytes - self.ports * self.reserved_bytes

    @property
    def least_shared(self) -> int:
        """Smallest shared memory with which one busy port holds a frame, in bytes."""
        beyond = max(self.frame_bytes - self.reserved_bytes, 0)
        return ceil(beyond * (1 + self.alpha) / self.alpha) + 1

    @property
    def holds_a_frame(self) -> bool:
        """True if an idle switch has room for a full frame."""
        return self.shared_bytes >= self.least_shared

    def held(self, busy: int) -> float:
        """Returns the bytes that each of some overloaded ports holds in the end.

        These are the reserved bytes and alpha S / (1 + n alpha) of the S shared bytes: A. K.
        Choudhury and E. L. Hahne, IEEE/ACM Transactions on Networking 6(2), 1998.

        Args:
            busy: the number n of overloaded ports, 1 or more.
        """
        share = self.alpha / (1 + busy * self.alpha)
        return self.reserved_bytes + share * self.shared_bytes

    def free(self, busy: int) -> float:
        """Returns the shared bytes that some overloaded ports leave free."""
        return self.shared_bytes / (1 + busy * self.alpha)

    def busy_for(self, needed: float) -> int:
        """Returns the largest number of overloaded ports of which each can hold some bytes.

        It is 0 if not even a single one can, and the number of ports if all can.
        """
        beyond = needed - self.reserved_bytes
        if beyond <= 0:
            return self.ports
        most = floor(self.shared_bytes / beyond - 1 / self.alpha + 1e-9)
        return min(max(most, 0), self.ports)

    def session_rtt_s(self, rate_bps: float, kept: float) -> float:
        """Returns the longest round-trip time that one TCP session fills a port at.

        The window falls to a share k of C T + B at a loss, and the port stays busy if that is C T
        or more: B = C T (1 - k) / k. All other ports are idle, so B is `held(1)`.

        Args:
            rate_bps: line rate C of the port.
            kept: the share k.
        """
        return 8 * self.held(1) * kept / (1 - kept) / rate_bps


def groups_of(text: str) -> tuple[Ports, ...]:
    """Returns the ports of `--ports`, such as `48x10Gbps,4x100Gbps`.

    Raises:
        RequestError: if the text names no ports.
        ScenarioError: if a rate cannot be read.

    Examples:
        >>> groups_of("48x10Gbps,4x100Gbps")[1]
        Ports(count=4, rate_bps=100000000000.0)
    """
    groups = []
    for part in text.split(","):
        count, rate = _times("--ports", part, "48x10Gbps,4x100Gbps")
        groups.append(Ports(count, float(_core.parse_rate("--ports", rate))))
    switch = Switch(tuple(groups), 0)
    if not 2 <= switch.ports <= MAX_PORTS:
        raise RequestError(f"--ports {text}: a switch has 2 to {MAX_PORTS} ports")
    if groups[0].count < 2:
        raise RequestError(f"--ports {text}: write a group of 2 ports or more first")
    return switch.groups


def incast_of(text: str) -> Incast:
    """Returns the senders of `--incast`, such as `32x64kB`.

    Raises:
        RequestError: if the text names no senders.
        ScenarioError: if the size cannot be read.
    """
    senders, size = _times("--incast", text, "32x64kB")
    return Incast(senders, _core.parse_size("--incast", size))


def _times(option: str, text: str, example: str) -> tuple[int, str]:
    """Returns the number before an `x`, and the text after it."""
    found = GROUP.fullmatch(text)
    if found is None or not 1 <= int(found[1]) <= MAX_PORTS:
        raise RequestError(
            f"{option} {text.strip()}: write a number from 1 to {MAX_PORTS}, x and a value, as in "
            f"{option} {example}"
        )
    return int(found[1]), found[2]


def from_config(file: Path, queue: str | None) -> tuple[Switch, tuple[str, ...]]:
    """Returns a switch under SONiC, and sentences about its file.

    Args:
        file: its `config_db.json`.
        queue: the queue whose buffer profile is taken, as in `Ethernet0|3`; None for the first
            with a dynamic threshold.

    Raises:
        ScenarioError: if the file describes no switch.
        RequestError: if it cannot be read.
    """
    found = _core.read_switch(str(file), read_text(file), queue)
    groups = tuple(Ports(count, float(rate)) for count, rate in found["ports"])
    note = f"queue {found['queue']} has profile {found['profile']}"
    switch = Switch(
        groups,
        found["pool_bytes"],
        alpha=found["alpha"],
        reserved_bytes=found["reserved_bytes"],
    )
    return switch, (note, *found["remarks"])
