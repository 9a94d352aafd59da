"""A delay line for a network namespace, for kernels without netem.

Opens a TUN device and holds each IPv4 packet for the delay of its destination before it gives it
back to the kernel, which routes it on. The program runs at real-time priority. A packet waits
longer than the requested delay by the time to wake up, tens of microseconds.

    delay.py DEVICE ADDRESS=MILLISECONDS ...
"""

import contextlib
import fcntl
import heapq
import ipaddress
import os
import select
import struct
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000


def open_tun(device: str) -> int:
    """Returns the descriptor of a new TUN device for IP packets without a link-layer header."""
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH14x", device.encode(), IFF_TUN | IFF_NO_PI))
    return tun


def forward(tun: int, delays: dict[bytes, float]) -> None:
    """Returns every packet to the kernel after the delay (s) of its destination; others at once."""
    held: list[tuple[float, int, bytes]] = []
    count = 0
    while True:
        wait = max(held[0][0] - time.monotonic(), 0.0) if held else None
        select.select([tun], [], [], wait)
        with contextlib.suppress(BlockingIOError):
            while True:
                packet = os.read(tun, 65536)
                count += 1  # packets with the same time leave in the order of their arrival
                due = time.monotonic() + delays.get(packet[16:20], 0.0)
                heapq.heappush(held, (due, count, packet))
        while held and held[0][0] <= time.monotonic():
            os.write(tun, heapq.heappop(held)[2])


def main() -> None:
    """Parses the arguments and forwards until killed."""
    device, *pairs = sys.argv[1:]
    delays = {}
    for pair in pairs:
        address, milliseconds = pair.split("=")
        delays[ipaddress.IPv4Address(address).packed] = float(milliseconds) / 1e3
    tun = open_tun(device)
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    print("ready", flush=True)
    forward(tun, delays)


if __name__ == "__main__":
    main()
