"""Runs Linux TCP through a drop-tail bottleneck in this process, for rows of docs/validation.md.

    python tools/captures/tail_drop.py CONTROL FLOWS LIMIT [--rate 10] [--rtt 40] [--seconds 58] ...

Two network namespaces are joined by two TUN devices that this process reads and writes. The forward
direction is a link of `--rate` Mb/s, counted in IP bytes, with LIMIT waiting packets and one in
service. The delay of each direction is half of `--rtt`, in ms. TUN devices without offload carry no
packet above their MTU of 1500 bytes. A ping of 84 bytes every 0.1 s shares the queue. Needs root,
`ip` and `iperf3`. Prints one line of JSON: figures of `--seconds` after `--warmup`, and quantiles
of how late packets were delivered over the whole run, in microseconds.
"""

import argparse
import contextlib
import gc
import heapq
import json
import os
import select
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from delay import open_tun
from network import background, run

NEAR, FAR = "gq-tail-near", "gq-tail-far"
NEAR_ADDRESS, FAR_ADDRESS = "10.9.8.1", "10.9.8.2"
ICMP, FULL_BYTES = 1, 1400
PING_INTERVAL_S = 0.1
QUANTILES = (0.5, 0.9, 0.99, 0.999)


@dataclass
class Queue:
    """A drop-tail link of virtual time: it takes arrivals and returns the ends of transmissions.

    Attributes:
        rate_bps: IP bits per second.
        limit: packets that may wait beside the one in service.
        window: begin and end of the counting, in seconds of the monotonic clock.
    """

    rate_bps: float
    limit: int
    window: tuple[float, float] = (float("inf"), float("inf"))
    starts: deque[float] = field(default_factory=deque)
    free_at: float = 0.0
    arrivals: int = 0
    drops: int = 0
    ping_drops: int = 0
    waited_s: float = 0.0
    busy_s: float = 0.0

    def arrive(self, now: float, packet: bytes) -> float | None:
        """Returns the end of this packet's transmission; None if it is dropped."""
        counts = self.window[0] <= now <= self.window[1]
        self.arrivals += counts
        while self.starts and self.starts[0] <= now:
            self.starts.popleft()
        if len(self.starts) >= self.limit:
            self.drops += counts
            self.ping_drops += counts and packet[9] == ICMP
            return None
        start = max(now, self.free_at)
        seconds = 8 * len(packet) / self.rate_bps
        self.free_at = start + seconds
        if start > now:
            self.starts.append(start)
        if counts:
            self.waited_s += start - now
            self.busy_s += seconds
        return self.free_at


class Forwarder:
    """Carries packets between the two devices until it is stopped."""

    def __init__(self, near: int, far: int, queue: Queue, delay_s: float) -> None:
        """Takes the descriptors `near` and `far` of the devices, and the delay of one direction."""
        self.near, self.far, self.queue, self.delay_s = near, far, queue, delay_s
        self.held: list[tuple[float, int, int, bytes]] = []
        self.count = 0
        self.began: float | None = None
        self.lateness_s: list[float] = []

    def run(self, warmup_s: float, seconds: float) -> None:
        """Forwards to the end of a window of `seconds`, `warmup_s` after the first data."""
        gives_up = time.monotonic() + warmup_s + seconds + 30
        while (now := time.monotonic()) < min(gives_up, self.queue.window[1]):
            wait = min(self.held[0][0] - now, 0.05) if self.held else 0.05
            ready, _, _ = select.select([self.near, self.far], [], [], max(wait, 0.0))
            for device in ready:
                for packet in packets(device):
                    self._take(device, packet)
            if self.began is not None and self.queue.window[0] == float("inf"):
                begins = self.began + warmup_s
                self.queue.window = (begins, begins + seconds)
            self._deliver()

    def _take(self, device: int, packet: bytes) -> None:
        now = time.monotonic()
        if device == self.far:
            self._hold(now + self.delay_s, self.near, packet)
            return
        if self.began is None and len(packet) > FULL_BYTES:
            self.began = now
        ends = self.queue.arrive(now, packet)
        if ends is not None:
            self._hold(ends + self.delay_s, self.far, packet)

    def _hold(self, due: float, device: int, packet: bytes) -> None:
        self.count += 1  # packets with the same time leave in the order of their arrival
        heapq.heappush(self.held, (due, self.count, device, packet))

    def _deliver(self) -> None:
        while self.held and self.held[0][0] <= (now := time.monotonic()):
            due, _, device, packet = heapq.heappop(self.held)
            os.write(device, packet)
            self.lateness_s.append(now - due)


def packets(device: int) -> Iterator[bytes]:
    """Yields all packets that wait to be read."""
    with contextlib.suppress(BlockingIOError):
        while True:
            yield os.read(device, 65536)


@contextmanager
def namespaces() -> Iterator[tuple[int, int]]:
    """Creates both namespaces, each with a device; yields the devices' descriptors."""
    with ExitStack() as stack:
        descriptors = []
        for name, address in ((NEAR, NEAR_ADDRESS), (FAR, FAR_ADDRESS)):
            run("ip", "netns", "add", name)
            stack.callback(run, "ip", "netns", "delete", name)
            descriptors.append(open_tun(name))
            run("ip", "link", "set", name, "netns", name)
            inside = ("ip", "netns", "exec", name)
            run(*inside, "sysctl", "-qw", "net.ipv4.tcp_no_metrics_save=1")
            run(*inside, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1")
            run(*inside, "ip", "address", "add", f"{address}/24", "dev", name)
            run(*inside, "ip", "link", "set", name, "up", "txqueuelen", "1000")
        yield descriptors[0], descriptors[1]


PINGER = f"""
import socket, struct, time
ping = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
due, number = time.monotonic(), 0
while True:
    total = 0x0800 + 77 + number
    checksum = ~(total + (total >> 16)) & 0xFFFF
    ping.sendto(struct.pack("!BBHHH56x", 8, 0, checksum, 77, number), ("{FAR_ADDRESS}", 0))
    due, number = due + {PING_INTERVAL_S}, (number + 1) % 0x8000
    time.sleep(max(due - time.monotonic(), 0.0))
"""
"""Script that sends pings of 84 bytes with the IP header; not every system has a `ping`."""


def measure(options: argparse.Namespace) -> dict[str, object]:
    """Makes one run."""
    queue = Queue(options.rate * 1e6, options.limit)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with namespaces() as (near, far), ExitStack() as stack:
        inside = ("ip", "netns", "exec")
        stack.enter_context(background(*inside, FAR, "iperf3", "-s", **quiet))
        time.sleep(0.5)
        client = ("iperf3", "-c", FAR_ADDRESS, "-C", options.control, "-P", str(options.flows))
        lasts = ("-t", str(options.warmup + options.seconds + 2))
        stack.enter_context(background(*inside, NEAR, *client, *lasts, **quiet))
        stack.enter_context(background(*inside, NEAR, sys.executable, "-c", PINGER, **quiet))
        with contextlib.suppress(PermissionError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
        gc.disable()
        forwarder = Forwarder(near, far, queue, options.rtt / 2e3)
        forwarder.run(options.warmup, options.seconds)
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    late = sorted(forwarder.lateness_s)
    return {
        "cc": options.control,
        "flows": options.flows,
        "limit_packets": options.limit,
        "utilization": round(queue.busy_s / options.seconds, 5),
        "loss_rate": round(queue.drops / max(queue.arrivals, 1), 6),
        "mean_queue_packets": round(queue.waited_s / options.seconds, 3),
        "drops": queue.drops,
        "ping_drops": queue.ping_drops,
        "arrivals": queue.arrivals,
        "late_us": {share: round(1e6 * late[int(share * len(late))]) for share in QUANTILES},
    }


def main() -> None:
    """Parses the arguments, runs, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("control")
    parser.add_argument("flows", type=int)
    parser.add_argument("limit", type=int)
    parser.add_argument("--rate", type=float, default=10.0, help="Mb/s")
    parser.add_argument("--rtt", type=float, default=40.0, help="ms")
    parser.add_argument("--warmup", type=int, default=11, help="seconds after the first data")
    parser.add_argument("--seconds", type=int, default=58)
    print(json.dumps(measure(parser.parse_args())), flush=True)


if __name__ == "__main__":
    main()
