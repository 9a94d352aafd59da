"""The queue that a device has today, from `tc -s qdisc show` or SONiC's `config_db.json`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.core.files.reading import read_text

if TYPE_CHECKING:
    from goodqueue.sizing.link import Link

CONFIGURED = "the row `configured` of the rules"


@dataclass(frozen=True, slots=True)
class Device:
    """The queue of a device.

    Attributes:
        name: name of the device, or of the switch's queue; empty if the file has none.
        kind: kind of the queue, such as `fq_codel`, or the profile of a switch's queue.
        limit_packets: its limit in packets, if it counts packets.
        limit_bytes: its limit in bytes, if it counts bytes.
        is_fifo: True if it drops only at its limit, as the buffers that are sized here.
        counters: packets sent, dropped and marked since the queue was attached, if known.
        unknown: the reason why the limit is unknown; None if it is known.
        remarks: sentences about the choice of the queue, and about figures that cannot hold.
    """

    name: str
    kind: str
    limit_packets: int | None
    limit_bytes: int | None
    is_fifo: bool
    counters: tuple[int, int, int] | None
    unknown: str | None
    remarks: list[str]

    def packets_on(self, link: Link) -> int | None:
        """Returns the number of full packets of a link that fit; None if the limit is unknown."""
        if self.limit_bytes is not None:
            return self.limit_bytes // link.frame_bytes
        return self.limit_packets

    def on(self, link: Link) -> Link:
        """Returns the link with this queue as the buffer that it has today, if it is a FIFO."""
        packets = self.packets_on(link) if self.is_fifo else None
        return link if not packets else replace(link, configured_packets=packets)

    def notes(self, link: Link) -> tuple[str, ...]:
        """Returns sentences about the queue: its limit or what it lacks, and its counters."""
        named = f"the queue of {self.name}" if self.name else "the device's queue"
        notes = [*self.remarks]
        packets = self.packets_on(link)
        if self.unknown is not None:
            notes.append(f"{named} is {self.kind}: {self.unknown}")
        elif packets is not None and self.is_fifo:
            time_ms = link.seconds(packets) * 1e3
            notes.append(f"{named} holds {packets:,} packets = {time_ms:.4g} ms ({CONFIGURED})")
        elif packets is not None:
            notes.append(
                f"{named} is {self.kind}, which keeps its queue below its limit of {packets:,} "
                "packets; compare it by --aqm"
            )
        if self.counters is not None:
            sent, dropped, marked = self.counters
            arrived = sent + dropped
            share = f" ({dropped / arrived:.3%} of those that arrived)" if arrived else ""
            notes.append(
                f"{named} ({self.kind}) sent {sent:,} packets, dropped {dropped:,}{share} and "
                f"marked {marked:,} since it was attached"
            )
        return tuple(notes)


def read_device(text: str) -> Device:
    """Returns the queue of a device.

    Args:
        text: `FILE`, or `FILE:NAME` with the name of the device, of its class (`eth0/1:10`), or of
            the switch's queue.

    Raises:
        RequestError: if the file cannot be read.
        ScenarioError: if it is neither output of `tc` nor a configuration of SONiC.
    """
    file, _, name = text.partition(":")
    content = read_text(file, name=f"--device {file}")
    return Device(**_core.read_device(f"--device {file}", content, name or None))
