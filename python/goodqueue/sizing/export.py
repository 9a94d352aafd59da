"""Device configurations for a buffer, with the arithmetic from packets to each device's unit.

Every vendor counts a different quantity: bytes with an Ethernet header, packets, microseconds of
the shaped rate, bytes of a shared memory. Each configuration comes with its warning.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    """

    device: str
    lines: tuple[str, ...]
    arithmetic: str
    warning: str


def exports(packets: int, packet_bytes: int, rate_bps: float) -> tuple[Export, ...]:
    """Returns the buffer for every supported device, Linux first.

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
        openwrt(packets, rate_bps),
        mikrotik(packets, rate_bps),
    )


def linux(packets: int, packet_bytes: int) -> Export:
    """Returns a FIFO for a Linux device whose own line is the bottleneck."""
    frame = packet_bytes + ETHERNET_HEADER_BYTES
    return Export(
        "Linux, the device is the bottleneck",
        (f"tc qdisc replace dev DEV root bfifo limit {packets * frame}",),
        _frames(packets, packet_bytes, ETHERNET_HEADER_BYTES, packets * frame),
        (
            "The driver's ring and BQL hold further frames below this queue (ethtool -g DEV, "
            "/sys/class/net/DEV/queues/tx-0/byte_queue_limits). An aggregate of segmentation "
            "offload (up to 64 KiB) is accepted or dropped whole: use ethtool -K DEV gso off "
            "tso off gro off, or expect a buffer that is coarser by that size."
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


def linux_shaped(packets: int, packet_bytes: int, rate_bps: float) -> Export:
    """Returns a FIFO behind a shaper, for a bottleneck farther down the path."""
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
        (
            "Shape 2 % to 5 % below the true rate, or the queue forms in the next device. "
            "With offload, a tbf drops aggregates larger than its burst."
        ),
    )


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
        f"{packets} packets, whatever their size",
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
