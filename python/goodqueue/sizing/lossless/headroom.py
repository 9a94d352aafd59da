"""Headroom of priority-based flow control (PFC): what still arrives after a switch says PAUSE.

A receiver that runs out of buffer sends a PAUSE, and data arrive until its sender has obeyed. The
delays are those of IEEE 802.1Qbb-2011, Annex O (802.1Q-2018, Annex N): a frame that the PAUSE waits
behind, the PAUSE itself, the cable both ways, MAC and PHY at both ends, the reaction of the sender,
and a frame that the sender has begun. SONiC computes the same sum when cables change
(`buffer_headroom_mellanox.lua` of sonic-swss). A switch stores frames in cells, so frames that
fill their cells badly occupy more memory than they had on the line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

from goodqueue import _core
from goodqueue.errors import RequestError, as_arguments

if TYPE_CHECKING:
    from collections.abc import Iterator

PAUSE_QUANTA = {
    100_000_000: 1,
    1_000_000_000: 2,
    10_000_000_000: 67,
    25_000_000_000: 80,
    40_000_000_000: 118,
    50_000_000_000: 147,
    100_000_000_000: 394,
    200_000_000_000: 453,
    400_000_000_000: 905,
    800_000_000_000: 905,
}
"""Largest reaction time to a PAUSE in quanta, by line rate in bit/s: IEEE 802.3, 31B.3.7.

The values are those of SONiC, which cites this clause.
"""

QUANTUM_BYTES = 64
"""A quantum of pause time is the time of 512 bits (IEEE 802.3, 31B.2)."""

PER_METRE_S = Fraction(5, 10**9)
"""Delay of a metre of fibre in seconds; the group index of glass is about 1.5."""

SMALLEST_BYTES = 64
"""Smallest Ethernet frame, which is also that of a PAUSE, in bytes."""

ETHERNET_BYTES = 18
"""Bytes of an Ethernet header and its check sequence, which switches store."""

GAP_BYTES = 20
"""Bytes of preamble and gap between frames, which take time on the line and no memory."""

LONGEST_CABLE_M = 1_000_000

METRES = re.compile(r"(\d+(?:\.\d+)?)\s*(m|km)")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the headroom.

    Attributes:
        name: event of this time, in words.
        seconds: its length.
        line_bytes: bytes on the line in this time, with preambles and gaps.
        buffer_bytes: memory of that, in the cells of the switch.
    """

    name: str
    seconds: float
    line_bytes: Fraction
    buffer_bytes: Fraction


@dataclass(frozen=True, slots=True)
class Headroom:
    """Headroom of one priority of a port, and the thresholds that follow from it; sizes in bytes.

    Attributes:
        speed_bps: the port's line rate.
        cable_m: length of the cable.
        mtu: IP bytes of the largest packet.
        cell: bytes of a cell of the switch's memory.
        worst_frames: share of the arriving data that may be in the frames that fill cells worst.
        interface_s: delay of MAC and PHY of the receiving end, both directions together.
        reaction_s: reaction time of the sender.
        ports: ports of the switch with such a cable.
        priorities: lossless priorities of a port.
        oversubscription: headroom of all ports over that of the pool which they share.
    """

    speed_bps: int
    cable_m: float
    mtu: int = 9100
    cell: int = 256
    worst_frames: float = 1.0
    interface_s: float = 500e-9
    reaction_s: float | None = None
    ports: int = 1
    priorities: int = 1
    oversubscription: float = 1.0

    @property
    def reaction(self) -> Fraction:
        """Reaction time of the sender in seconds, by default that of 802.3."""
        if self.reaction_s is not None:
            return _picoseconds(self.reaction_s)
        return Fraction(PAUSE_QUANTA[self.speed_bps] * QUANTUM_BYTES * 8, self.speed_bps)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts in the order in which they pass."""
        return tuple(self._parts(Fraction(self.worst_frames).limit_denominator(10**6)))

    @property
    def xoff(self) -> int:
        """The headroom: bytes that may arrive after the PAUSE was decided, in whole cells."""
        return self._cells(sum(part.buffer_bytes for part in self.parts))

    @property
    def full_frames(self) -> int:
        """The headroom if all arriving frames are the largest ones."""
        return self._cells(sum(part.buffer_bytes for part in self._parts(Fraction(0))))

    @property
    def line_bytes(self) -> int:
        """The headroom as bytes on the line: what any memory needs at least."""
        return ceil(sum(part.line_bytes for part in self.parts))

    @property
    def cable_bytes(self) -> int:
        """Bytes on the cable both ways, the least headroom of any switch."""
        return ceil(2 * self._on_line(self._cable()))

    @property
    def xon(self) -> int:
        """Bytes that keep the port's egress busy until data arrive again after a resume."""
        largest = self.mtu + ETHERNET_BYTES + GAP_BYTES
        return self._cells(sum(part.line_bytes for part in self.parts) - largest)

    @property
    def size(self) -> int:
        """Memory that a priority has for itself: SONiC counts a shared headroom to its pool."""
        return self.xon if self.oversubscription > 1 else self.xon + self.xoff

    @property
    def dedicated(self) -> int:
        """Headroom of all priorities of all ports, if none is shared."""
        return self.xoff * self.ports * self.priorities

    @property
    def shared(self) -> int:
        """Size of a pool that all priorities of all ports share; at least one headroom."""
        return max(self._cells(self.dedicated / Fraction(self.oversubscription)), self.xoff)

    @property
    def worst_frame(self) -> int:
        """Bytes of the frame that fills its cells worst: the smallest, or one byte over a cell."""
        largest = self.mtu + ETHERNET_BYTES
        over = range(self.cell + 1, largest + 1, self.cell)
        sizes = {SMALLEST_BYTES, largest, *(size for size in over if size >= SMALLEST_BYTES)}
        return max(sizes, key=lambda size: (self._expansion(size), -size))

    def _expansion(self, frame: int) -> Fraction:
        """Returns bytes of memory for a byte on the line, in frames of this size."""
        return Fraction(self._cells(frame), frame + GAP_BYTES)

    def _parts(self, worst: Fraction) -> Iterator[Part]:
        frame = self.mtu + ETHERNET_BYTES
        times = (1 - worst) * self._expansion(frame) + worst * self._expansion(self.worst_frame)

        def part(name: str, seconds: Fraction) -> Part:
            line = self._on_line(seconds)
            return Part(name, float(seconds), line, line * times)

        yield part("a frame that the PAUSE waits behind", self._time(frame))
        yield part("the PAUSE frame", self._time(SMALLEST_BYTES))
        yield part("MAC and PHY of the receiver, out and in", _picoseconds(self.interface_s))
        yield part("cable, the PAUSE's way", self._cable())
        yield part("reaction of the sender", self.reaction)
        begun = self._time(frame)
        name = "a frame that the sender has begun"
        yield Part(name, float(begun), self._on_line(begun), Fraction(self._cells(frame)))
        yield part("cable, the data's way", self._cable())

    def _cable(self) -> Fraction:
        return Fraction(self.cable_m).limit_denominator(1000) * PER_METRE_S

    def _time(self, frame: int) -> Fraction:
        return Fraction((frame + GAP_BYTES) * 8, self.speed_bps)

    def _on_line(self, seconds: Fraction) -> Fraction:
        return seconds * self.speed_bps / 8

    def _cells(self, size: int | Fraction) -> int:
        return ceil(size / Fraction(self.cell)) * self.cell

    def sonic(self) -> tuple[str, ...]:
        """Returns the lines for SONiC: a row of `pg_profile_lookup.ini`, and a profile."""
        speed, cable = f"{self.speed_bps // 10**6}", f"{self.cable_m:g}m"
        lines = [
            "# pg_profile_lookup.ini: speed cable size xon xoff threshold",
            f"{speed} {cable} {self.size} {self.xon} {self.xoff} 0",
            "# config_db.json, in BUFFER_PROFILE",
            (
                f'"pg_lossless_{speed}_{cable}_profile": {{"pool": "ingress_lossless_pool", '
                f'"size": "{self.size}", "xon": "{self.xon}", "xoff": "{self.xoff}", '
                '"dynamic_th": "0"}'
            ),
        ]
        if self.oversubscription > 1:
            lines += [
                "# config_db.json, in BUFFER_POOL, entry ingress_lossless_pool",
                f'"xoff": "{self.shared}"',
            ]
        return tuple(lines)

    def as_dict(self) -> dict[str, Any]:
        """Returns values for JSON."""
        return {
            "schema_version": 1,
            "speed_bps": self.speed_bps,
            "cable_m": self.cable_m,
            "mtu_bytes": self.mtu,
            "cell_bytes": self.cell,
            "worst_frames": self.worst_frames,
            "worst_frame_bytes": self.worst_frame,
            "headroom_bytes": self.xoff,
            "full_frames_bytes": self.full_frames,
            "line_bytes": self.line_bytes,
            "cable_bytes": self.cable_bytes,
            "xoff_bytes": self.xoff,
            "xon_bytes": self.xon,
            "size_bytes": self.size,
            "parts": [
                {
                    "part": one.name,
                    "seconds": one.seconds,
                    "line_bytes": float(one.line_bytes),
                    "buffer_bytes": float(one.buffer_bytes),
                }
                for one in self.parts
            ],
            "shared": {
                "ports": self.ports,
                "priorities": self.priorities,
                "oversubscription": self.oversubscription,
                "dedicated_bytes": self.dedicated,
                "pool_bytes": self.shared,
            },
            "sonic": list(self.sonic()),
        }


@as_arguments()
def headroom(  # noqa: PLR0913 - one for each option of the command
    speed: str,
    cable: str,
    *,
    mtu: str | int = 9100,
    cell: str | int = 256,
    worst_frames: str | float = 1.0,
    interface_delay: str = "500ns",
    reaction: str | None = None,
    ports: int = 1,
    priorities: int = 1,
    oversubscription: float = 1.0,
) -> Headroom:
    """Returns the PFC headroom of one priority of a port.

    Args:
        speed: line rate of the port, as in 100Gbps.
        cable: length of the cable, as in 300m or 2km.
        mtu: largest IP packet, as in 9100B.
        cell: cell of the switch's memory, as in 256B.
        worst_frames: share of the arriving data that may be in the frames that fill cells worst,
            as in 50%.
        interface_delay: delay of MAC and PHY of the receiving end, both directions together.
        reaction: reaction time of the sender; by default that of IEEE 802.3 at this speed.
        ports: ports of the switch with such a cable.
        priorities: lossless priorities of each port.
        oversubscription: headroom of all ports over that of the pool which they share.

    Raises:
        ScenarioError: with the argument, and what to write instead.
        RequestError: if a value is out of range, or the reaction time of the speed is not known.

    Examples:
        >>> import goodqueue
        >>> goodqueue.headroom("100Gbps", "300m").as_dict()["headroom_bytes"]
        247552
    """
    rate = _core.parse_rate("--speed", speed)
    if reaction is None and rate not in PAUSE_QUANTA:
        known = ", ".join(f"{bps // 10**6}Mbps" for bps in PAUSE_QUANTA)
        raise RequestError(
            f"--speed {speed}: IEEE 802.3 gives a reaction time for {known}; write one of these, "
            "or --reaction"
        )
    share = worst_frames if isinstance(worst_frames, str) else f"{worst_frames:g}"
    return Headroom(
        rate,
        metres(cable),
        _between("--mtu", mtu, 46, 65_535),
        _between("--cell", cell, 1, 65_536),
        _core.parse_fraction("--worst-frames", share),
        _core.parse_span("--interface-delay", interface_delay),
        None if reaction is None else _core.parse_span("--reaction", reaction),
        _count("--ports", ports, 100_000),
        _count("--priorities", priorities, 8),
        _ratio(oversubscription),
    )


def metres(text: str) -> float:
    """Returns the length of a cable in metres.

    Raises:
        RequestError: if the text is no length, or a cable longer than 1,000 km.
    """
    found = METRES.fullmatch(text.strip())
    if found is None:
        raise RequestError(f"--cable {text}: write a length such as 300m or 2km")
    length = float(found[1]) * (1000 if found[2] == "km" else 1)
    if length > LONGEST_CABLE_M:
        raise RequestError(f"--cable {text}: write at most 1000km")
    return length


def _picoseconds(seconds: float) -> Fraction:
    return Fraction(round(seconds * 10**12), 10**12)


def _between(what: str, size: str | int, low: int, high: int) -> int:
    text = str(size)  # tools of switches write an MTU without its unit
    found = int(text) if text.isdecimal() else _core.parse_size(what, text)
    if not low <= found <= high:
        raise RequestError(f"{what} {size}: write a size from {low}B to {high}B")
    return found


def _count(what: str, count: int, high: int) -> int:
    if not 1 <= count <= high:
        raise RequestError(f"{what} {count}: write a number from 1 to {high}")
    return count


def _ratio(ratio: float) -> float:
    if not 1 <= ratio <= 1000:
        raise RequestError(f"--oversubscription {ratio:g}: write a number from 1 to 1000")
    return ratio
