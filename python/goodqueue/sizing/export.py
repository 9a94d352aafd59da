"""A buffer as the lines to paste into a device, with the arithmetic from packets to its unit.

Every vendor counts something else: bytes with an Ethernet header, packets, microseconds of the
shaped rate, bytes of a shared memory. The warning that belongs to each stands beside it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

ETHERNET_HEADER_BYTES = 14
"""What Linux counts of the link layer: its qdiscs see the Ethernet header, but neither the frame
check sequence nor preamble and gap."""

ETHERNET_CHECK_BYTES = 4
"""The frame check sequence, which switch memories hold and Linux does not count."""

SHAPER_BURST_FRAMES = 2
"""What a token bucket must hold at least: a full frame, and one that began just before."""


@dataclass(frozen=True, slots=True)
class Export:
    """One device's form of the buffer.

    Attributes:
        device: what it is for.
        lines: what to paste; DEV and BUFFER stand for names of the reader's.
        arithmetic: how packets became that unit.
        warning: what else must hold for the device to have the buffer that was computed.
    """

    device: str
    lines: tuple[str, ...]
    arithmetic: str
    warning: str


def exports(packets: int, packet_bytes: int, rate_bps: float) -> tuple[Export, ...]:
    """The buffer for every device known, Linux first.

    Args:
        packets: packets that may wait.
        packet_bytes: IP bytes of a full packet.
        rate_bps: the link's rate in bits per second.
    """
    return (
        linux(packets, packet_bytes),
        linux_shaped(packets, packet_bytes, rate_bps),
        cisco(packets, rate_bps),
        junos(packets, packet_bytes, rate_bps),
        switch_memory(packets, packet_bytes),
    )


def linux(packets: int, packet_bytes: int) -> Export:
    """A FIFO in front of a device whose line is the bottleneck."""
    frame = packet_bytes + ETHERNET_HEADER_BYTES
    return Export(
        "Linux, the device is the bottleneck",
        (f"tc qdisc replace dev DEV root bfifo limit {packets * frame}",),
        _frames(packets, packet_bytes, ETHERNET_HEADER_BYTES, packets * frame),
        "The driver's ring and BQL hold frames of their own below this queue (ethtool -g DEV, "
        "/sys/class/net/DEV/queues/tx-0/byte_queue_limits); and an aggregate that segmentation "
        "offload made (up to 64 KiB) enters or is dropped whole: ethtool -K DEV gso off tso off "
        "gro off, or count on a buffer coarser by that.",
    )


def linux_queue(commands: Sequence[str]) -> Export:
    """A queue that is no FIFO, as its own commands of `tc`."""
    return Export(
        "Linux",
        tuple(commands),
        "sizes as tc counts them, the Ethernet header included, so that as many of the largest "
        "packets fit",
        "What was sized is the limit of this queue, which also drops before it is full; on a "
        "device that is not shaped to the link's rate the driver's ring holds frames below it.",
    )


def linux_shaped(packets: int, packet_bytes: int, rate_bps: float) -> Export:
    """A FIFO behind a shaper, where the bottleneck is further on."""
    frame = packet_bytes + ETHERNET_HEADER_BYTES
    limit, burst = packets * frame, SHAPER_BURST_FRAMES * frame
    rate = f"{math.floor(rate_bps)}bit"
    return Export(
        "Linux, shaped to the link",
        (
            (
                f"tc qdisc replace dev DEV root handle 1: htb default 1 && "
                f"tc class replace dev DEV parent 1: classid 1:1 htb rate {rate} burst {burst} "
                f"cburst {burst} && "
                f"tc qdisc replace dev DEV parent 1:1 handle 10: bfifo limit {limit}"
            ),
            f"tc qdisc replace dev DEV root tbf rate {rate} burst {burst} limit {limit}",
        ),
        f"{_frames(packets, packet_bytes, ETHERNET_HEADER_BYTES, limit)}; the second line is the "
        "same with tbf, whose limit is that of its own FIFO",
        "Shape a little below the true rate (2 % to 5 %), or the queue forms in the next device; "
        "a tbf drops aggregates larger than its burst when offload is on.",
    )


def cisco(packets: int, rate_bps: float) -> Export:
    """IOS, modular QoS: the limit counts packets of whatever size."""
    return Export(
        "Cisco IOS",
        (
            "policy-map BUFFER",
            " class class-default",
            f"  shape average {math.floor(rate_bps)}",
            f"  queue-limit {packets} packets",
        ),
        f"{packets} packets, whatever their size",
        "queue-limit belongs to a class with a queue of its own; the interface's transmit ring "
        "(tx-ring-limit) comes after it, and small packets count as much as large ones.",
    )


def junos(packets: int, packet_bytes: int, rate_bps: float) -> Export:
    """Junos: microseconds of the scheduler's rate."""
    frame = packet_bytes + ETHERNET_HEADER_BYTES + ETHERNET_CHECK_BYTES
    micros = math.ceil(packets * frame * 8e6 / rate_bps)
    return Export(
        "Junos",
        (
            f"set class-of-service schedulers BUFFER transmit-rate {math.floor(rate_bps)}",
            f"set class-of-service schedulers BUFFER buffer-size temporal {micros}",
        ),
        f"{packets} x {frame} B x 8 / {rate_bps:.0f} b/s = {micros} us",
        "Temporal buffers are cut to what the queue's memory allows, and rounded to its "
        "granularity (show class-of-service interface detail); on a chassis with virtual output "
        "queues each ingress has a buffer of its own: divide by the ingresses that are busy.",
    )


def switch_memory(packets: int, packet_bytes: int) -> Export:
    """Bytes of a switch's shared packet memory."""
    frame = packet_bytes + ETHERNET_HEADER_BYTES + ETHERNET_CHECK_BYTES
    return Export(
        "switch with shared memory",
        (f"{packets * frame} B for the port's queue",),
        _frames(
            packets, packet_bytes, ETHERNET_HEADER_BYTES + ETHERNET_CHECK_BYTES, packets * frame
        ),
        "Memory is given out in cells (often 80 B to 256 B: round up per frame), and with dynamic "
        "thresholds a queue gets alpha times what is free, not a fixed share.",
    )


def checks(rate_bps: float, base_rtt_s: float, delay_s: float | None) -> tuple[str, ...]:
    """How to check tomorrow that the buffer does what was computed.

    Args:
        rate_bps: the link's rate in bits per second.
        base_rtt_s: mean base round-trip time in seconds.
        delay_s: the 99th percentile of the queueing delay expected, if known.
    """
    expected = "" if delay_s is None else f", p99 about {1e3 * (base_rtt_s + delay_s):.3g} ms"
    linux_counters = (
        "Linux: tc -s qdisc show dev DEV, twice, a minute apart: dropped / sent packets is the "
        "loss, backlog the queue; bytes x 8 / seconds over the rate of "
        f"{rate_bps / 1e6:g} Mb/s the utilisation."
    )
    router_counters = (
        "Cisco: show policy-map interface (total drops, queue depth). Junos: show interfaces "
        "queue (tail-dropped packets, queue depth)."
    )
    latency = (
        "Latency under load: ping the far end every 100 ms while iperf3 -P 8 -t 60 runs through "
        f"the link (or flent rrul): idle about {1e3 * base_rtt_s:.3g} ms{expected}."
    )
    return linux_counters, router_counters, latency


def _frames(packets: int, packet_bytes: int, header: int, limit: int) -> str:
    return f"{packets} x ({packet_bytes} B IP + {header} B Ethernet) = {limit} B"
