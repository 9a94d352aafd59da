"""The line to paste into Linux, in tc's own units."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.errors import ScenarioError

if TYPE_CHECKING:
    from goodqueue._core import Scenario

ETHERNET_HEADER_BYTES = 14
"""What the kernel counts of the link layer: its qdiscs see the Ethernet header, but neither the
frame check sequence nor preamble and gap."""


def bfifo_limit_bytes(packets: int, ip_packet_bytes: int) -> int:
    """The limit of Linux's bfifo that holds so many packets of this size."""
    return packets * (ip_packet_bytes + ETHERNET_HEADER_BYTES)


def command(scenario: Scenario, link: str, packets: int) -> str | None:
    """The command that gives a Linux device the link's queue with this buffer, if it can.

    A FIFO is stated in bytes: Linux counts aggregates in packet limits.
    """
    try:
        lines = scenario.with_limit(link, packets).qdisc(link, fifo_in_bytes=True)
    except ScenarioError:
        return None
    return "\n".join(lines)


def cautions(packets: int, ip_packet_bytes: int) -> str:
    """What else must be so for that line to give the buffer that was simulated."""
    return (
        f"A frame counts {ip_packet_bytes + ETHERNET_HEADER_BYTES} B there "
        f"({ip_packet_bytes} B IP + {ETHERNET_HEADER_BYTES} B Ethernet), limit {packets} of them; "
        "switch off segmentation offload (ethtool -K DEV gso off gro off tso off), since an "
        "aggregate of up to 64 KiB larger than the limit is dropped whole; and on a device that "
        "is not shaped to the link's rate (htb or tbf, with this bfifo as the leaf) the driver's "
        "ring adds its own frames in front of this queue."
    )
