"""Device configurations for a buffer, with the arithmetic from packets to each device's unit.

Every vendor counts a different quantity: bytes with an Ethernet header, packets, microseconds of
the shaped rate, bytes of a shared memory. Each configuration comes with its warning. A limit of
packets and one of bytes agree only for full packets: behind a limit of packets an ACK takes the
place of a full one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.sizing.shared.pool import Pool

ETHERNET_HEADER_BYTES = 14
"""Bytes of the link layer that Linux counts: its qdiscs count the Ethernet header, but neither the
frame check sequence nor preamble and gap."""

ETHERNET_CHECK_BYTES = 4
"""Bytes of the frame check sequence, which switch memories store and Linux does not count."""

SHAPER_BURST_FRAMES = 2
"""Smallest number of frames in a token bucket: a full frame, and one that began just before."""


@dataclass(frozen=True, slots=True)
class Export:
    """Configuration of one device for the buffer.

    Attributes:
        device: description of the device.
        lines: lines to paste; DEV and BUFFER stand for names that the reader fills in.
        arithmetic: conversion of packets to the device's unit.
        warning: further conditions under which the device has the computed buffer.
        unlike: difference between the unit of the device and that of the answer; None if there is
            none, or if all packets are full.
    """

    device: str
    lines: tuple[str, ...]
    arithmetic: str
    warning: str
    unlike: str | None = None


Unit = Literal["full packets", "packets", "bytes"]
"""Unit of the answer's limit: packets where nothing but full ones waits, packets of any size, or
bytes."""


def exports(
    packets: int, packet_bytes: int, rate_bps: float, unit: Unit = "full packets"
) -> tuple[Export, ...]:
    """Returns the buffer for every supported device, Linux first.

    Args:
        packets: packets that may wait, or full packets whose bytes may wait.
        packet_bytes: IP bytes of a full packet.
        rate_bps: the link's rate in bits per second.
        unit: unit of the limit.
    """
    in_packets = unit == "packets"
    of_packets = COUNTS_PACKETS if unit == "bytes" else None
    of_bytes = COUNTS_BYTES if in_packets else None
    return (
        linux(packets, packet_bytes, in_packets=in_packets),
        linux_shaped(packets, packet_bytes, rate_bps, in_packets=in_packets),
        replace(cisco(packets, rate_bps), unlike=of_packets),
        replace(junos(packets, packet_bytes, rate_bps), unlike=of_bytes),
        replace(switch_memory(packets, packet_bytes), unlike=of_bytes),
        replace(openwrt(packets, rate_bps), unlike=of_packets),
        replace(mikrotik(packets, rate_bps), unlike=of_packets),
    )


COUNTS_BYTES = (
    "this device counts bytes and the queue that was sized counts packets of any size: state the "
    "limit of that queue in bytes to size it for this device"
)
COUNTS_PACKETS = (
    "this device counts packets of any size and the queue that was sized counts bytes: state the "
    "limit of that queue in packets to size it for this device"
)


def linux(packets: int, packet_bytes: int, *, in_packets: bool = False) -> Export:
    """Returns a FIFO for a Linux device whose own line is the bottleneck."""
    offload = (
        "counts as one packet, whatever its size: use ethtool -K DEV gso off tso off gro off"
        if in_packets
        else "is accepted or dropped whole: use ethtool -K DEV gso off tso off gro off, or expect "
        "a buffer that is coarser by that size"
    )
    return Export(
        "Linux, the device is the bottleneck",
        (f"tc qdisc replace dev DEV root {_fifo(packets, packet_bytes, in_packets)}",),
        _counted(packets, packet_bytes, in_packets),
        (
            "The driver's ring and BQL hold further frames below this queue (ethtool -g DEV, "
            "/sys/class/net/DEV/queues/tx-0/byte_queue_limits). An aggregate of segmentation "
            f"offload (up to 64 KiB) {offload}."
        ),
    )


def linux_queue(commands: Sequence[str]) -> Export:
    """Returns a queue other than a FIFO as its `tc` commands."""
    return Export(
        "Linux",
        tuple(commands),
        (
            "sizes include the Ethernet header, as tc counts them, so that the same number of "
            "the largest packets fits"
        ),
        (
            "The answer is the limit of this queue, which also drops before it is full. On a "
            "device that is not shaped to the link's rate, the driver's ring holds further "
            "frames below it."
        ),
    )


def linux_shaped(
    packets: int, packet_bytes: int, rate_bps: float, *, in_packets: bool = False
) -> Export:
    """Returns a FIFO behind a shaper, for a bottleneck farther down the path."""
    frame = packet_bytes + ETHERNET_HEADER_BYTES
    limit, burst = packets * frame, SHAPER_BURST_FRAMES * frame
    rate = f"{math.floor(rate_bps)}bit"
    fifo = _fifo(packets, packet_bytes, in_packets)
    tbf = f"tc qdisc replace dev DEV root handle 1: tbf rate {rate} burst {burst} limit {limit}"
    if in_packets:  # The limit of a tbf is that of its own queue of bytes, which is replaced.
        tbf += f" && tc qdisc replace dev DEV parent 1:1 handle 10: {fifo}"
    return Export(
        "Linux, shaped to the link",
        (
            (
                f"tc qdisc replace dev DEV root handle 1: htb default 1 && "
                f"tc class replace dev DEV parent 1: classid 1:1 htb rate {rate} burst {burst} "
                f"cburst {burst} && "
                f"tc qdisc replace dev DEV parent 1:1 handle 10: {fifo}"
            ),
            tbf,
        ),
        f"{_counted(packets, packet_bytes, in_packets)}; the second line is the same with tbf",
        (
            "Shape 2 % to 5 % below the true rate, or the queue forms in the next device. "
            "With offload, a tbf drops aggregates larger than its burst."
        ),
    )


def _fifo(packets: int, packet_bytes: int, in_packets: bool) -> str:
    """Returns a FIFO of Linux that counts packets, or bytes with the Ethernet header."""
    if in_packets:
        return f"pfifo limit {packets}"
    return f"bfifo limit {packets * (packet_bytes + ETHERNET_HEADER_BYTES)}"


def _counted(packets: int, packet_bytes: int, in_packets: bool) -> str:
    """Returns the arithmetic of such a FIFO."""
    if in_packets:
        return WHATEVER_SIZE.format(packets)
    limit = packets * (packet_bytes + ETHERNET_HEADER_BYTES)
    return _frames(packets, packet_bytes, ETHERNET_HEADER_BYTES, limit)


WHATEVER_SIZE = "{} packets, whatever their size"


def cisco(packets: int, rate_bps: float) -> Export:
    """Returns the queue limit of Cisco IOS (modular QoS), which counts packets of any size."""
    return Export(
        "Cisco IOS",
        (
            "policy-map BUFFER",
            " class class-default",
            f"  shape average {math.floor(rate_bps)}",
            f"  queue-limit {packets} packets",
        ),
        WHATEVER_SIZE.format(packets),
        (
            "queue-limit applies to a class with its own queue. The interface's transmit ring "
            "(tx-ring-limit) follows it. Small packets count as much as large ones."
        ),
    )


def junos(packets: int, packet_bytes: int, rate_bps: float) -> Export:
    """Returns the buffer of Junos in microseconds of the scheduler's rate."""
    frame = packet_bytes + ETHERNET_HEADER_BYTES + ETHERNET_CHECK_BYTES
    micros = math.ceil(packets * frame * 8e6 / rate_bps)
    return Export(
        "Junos",
        (
            f"set class-of-service schedulers BUFFER transmit-rate {math.floor(rate_bps)}",
            f"set class-of-service schedulers BUFFER buffer-size temporal {micros}",
        ),
        f"{packets} x {frame} B x 8 / {rate_bps:.0f} b/s = {micros} us",
        (
            "Temporal buffers are limited to the queue's memory, and rounded to its "
            "granularity (show class-of-service interface detail). On a chassis with virtual "
            "output queues each ingress has its own buffer: divide by the number of busy "
            "ingresses."
        ),
    )


def switch_memory(packets: int, packet_bytes: int) -> Export:
    """Returns the buffer as bytes of a switch's shared packet memory."""
    frame = packet_bytes + ETHERNET_HEADER_BYTES + ETHERNET_CHECK_BYTES
    return Export(
        "switch with shared memory",
        (f"{packets * frame} B for the port's queue",),
        _frames(
            packets, packet_bytes, ETHERNET_HEADER_BYTES + ETHERNET_CHECK_BYTES, packets * frame
        ),
        (
            "Memory is allocated in cells (often 80 B to 256 B: round up per frame). With "
            "dynamic thresholds a queue gets alpha times the free memory, not a fixed share."
        ),
    )


def shared_memory(packets: int, pool: Pool) -> Export:
    """Returns the shared memory of a switch that lets one busy port hold these frames."""
    needed, held = pool.capacity_for(packets), packets * pool.frame_bytes
    lines = [f"{needed} B of shared memory with {pool.thresholds}"]
    alpha = pool.alpha_for(packets)
    if alpha is not None:
        power = math.ceil(math.log2(alpha))
        lines.append(
            f"or the {pool.capacity_bytes} B of today with alpha {alpha:.3g}: dynamic_th {power} "
            f"(alpha {2.0**power:g}) in SONiC"
        )
    return Export(
        "switch with shared memory",
        tuple(lines),
        f"{packets} x {pool.frame_bytes} B = {held} B, which are {100 * pool.share:.3g} % of the "
        "shared bytes while the other ports are idle",
        (
            "Other busy ports leave less: N of them get alpha / (1 + N alpha) of the memory each. "
            "Memory is allocated in cells (often 80 B to 256 B: round up per frame)."
        ),
    )


def ecn_threshold(packets: int, mark_packets: int, packet_bytes: int) -> Export:
    """Returns a marking queue in bytes, as switches with an ECN profile count it."""
    frame = packet_bytes + ETHERNET_HEADER_BYTES + ETHERNET_CHECK_BYTES
    return Export(
        "switch with shared memory and ECN",
        (
            f"{packets * frame} B for the port's queue",
            f"{mark_packets * frame} B for both ECN thresholds (min and max), probability 100 %",
        ),
        f"{packets} and {mark_packets} x ({packet_bytes} B IP + {frame - packet_bytes} B Ethernet)",
        (
            "Memory is allocated in cells (often 80 B to 256 B: round up per frame). In SONiC the "
            "thresholds are green_min_threshold and green_max_threshold of a WRED_PROFILE with "
            "ecn_all."
        ),
    )


def openwrt(packets: int, rate_bps: float) -> Export:
    """Returns the section of OpenWrt's /etc/config/sqm with a shaped FIFO for the upload."""
    options = {
        "enabled": 1,
        "interface": "DEV",
        "upload": math.floor(rate_bps / 1000),
        "download": 0,
        "script": "simplest.qos",
        "qdisc": "pfifo",
        "qdisc_advanced": 1,
        "qdisc_really_really_advanced": 1,
        "elimit": packets,
    }
    return Export(
        "OpenWrt (sqm-scripts)",
        ("config queue", *(f"        option {name} '{value}'" for name, value in options.items())),
        f"{packets} packets, whatever their size, shaped to whole kbit/s",
        (
            "upload 0 or download 0 leaves that direction as it is. Shape 2 % to 5 % below the "
            "true rate, and add option linklayer and overhead for DSL. tc -s qdisc show dev DEV "
            "must show pfifo with this limit; qdisc cake or fq_codel needs no such limit."
        ),
    )


def mikrotik(packets: int, rate_bps: float) -> Export:
    """Returns a shaped FIFO of RouterOS, which counts packets of any size."""
    rate = math.floor(rate_bps)
    return Export(
        "MikroTik RouterOS",
        (
            f"/queue type add name=BUFFER kind=pfifo pfifo-limit={packets}",
            f"/queue simple add name=LINK target=DEV max-limit={rate}/{rate} queue=BUFFER/BUFFER",
        ),
        f"{packets} packets, whatever their size, in each direction",
        (
            "The first rate is the upload of the target, the second its download. Fasttrack "
            "bypasses simple queues: disable that rule. Without a shaper set the queue of the "
            "interface itself: /queue interface set DEV queue=BUFFER."
        ),
    )


def checks(rate_bps: float, base_rtt_s: float, delay_s: float | None) -> tuple[str, ...]:
    """Returns ways to check that the configured buffer has the computed effect.

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
