"""Packets of one TCP flow of this kernel at a bottleneck, in namespaces that need no privileges.

    sender -- router ==htb, pfifo==> receiver

    aggregates.py RATE_BPS ACK_DELAY_MS OFFLOADS PACE_BPS SECONDS

The program enters a user, mount and network namespace of its own. It prints a JSON object with the
sizes of packets at the queue, of the data that ACKs cover, and of the times that the sender takes.
Both are seen at the router's device towards the sender. ACKs are delayed there, so that a delay
line, which takes single packets, leaves the sender's super-segments whole.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

DELAY = Path(__file__).resolve().with_name("delay.py")
SENDER, RECEIVER = "10.8.1.1", "10.8.2.2"
ETHERNET, IPV4 = 14, 20
QUEUE_PACKETS = 1_000
QUIET: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
SKIPPED_S = 1.0
"""Time from the first packet that is not measured: slow start."""

MSS, HEADERS = 1_448, 52
MOST = 1_000
"""More segments than an ACK covers, unless the capture misses some."""

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.99)


class Seen(NamedTuple):
    """A packet at the router's device towards the sender.

    Attributes:
        at: time, in seconds.
        forward: True if it comes from the sender.
        number: sequence number of data, otherwise the acknowledgement number.
        payload: its payload, in bytes.
        port: port at the sender.
    """

    at: float
    forward: bool
    number: int
    payload: int
    port: int


def run(*command: str) -> None:
    """Runs a command to its end."""
    subprocess.run(command, check=True, capture_output=True)


def inside(name: str, *command: str) -> tuple[str, ...]:
    """Returns the command that runs `command` in a namespace."""
    return ("ip", "netns", "exec", name, *command)


def connect(rate_bps: int, *, offloads: bool) -> None:
    """Makes the three namespaces and the bottleneck."""
    run("mount", "-t", "tmpfs", "none", "/run")
    for name in ("sender", "router", "receiver"):
        run("ip", "netns", "add", name)
        run(*inside(name, "ip", "link", "set", "lo", "up"))
    for left, right, net in (("sender", "router", 1), ("router", "receiver", 2)):
        run(
            *("ip", "link", "add", f"to{right}", "netns", left, "type", "veth"),
            *("peer", "name", f"to{left}", "netns", right),
        )
        for name, device, host in ((left, f"to{right}", 1), (right, f"to{left}", 2)):
            run(*inside(name, "ip", "address", "add", f"10.8.{net}.{host}/24", "dev", device))
            segments = "65535" if offloads else "1"
            run(*inside(name, "ip", "link", "set", device, "up", "gso_max_segs", segments))
    run(*inside("sender", "ip", "route", "add", "default", "via", "10.8.1.2"))
    run(*inside("receiver", "ip", "route", "add", "default", "via", "10.8.2.1"))
    for key in ("ip_forward=1", "conf.all.rp_filter=0", "conf.default.rp_filter=0"):
        run(*inside("router", "sysctl", "-qw", f"net.ipv4.{key}"))
    for words in (
        "qdisc add dev toreceiver root handle 1: htb default 1",
        f"class add dev toreceiver parent 1: classid 1:1 htb rate {rate_bps}bit quantum 60000",
        f"qdisc add dev toreceiver parent 1:1 pfifo limit {QUEUE_PACKETS}",
    ):
        run(*inside("router", "tc", *words.split()))


@contextlib.contextmanager
def background(*command: str, **options: Any) -> Any:  # noqa: ANN401
    """Runs a process during the block."""
    process = subprocess.Popen(command, text=True, **options)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def delayed(milliseconds: float) -> Any:  # noqa: ANN401
    """Delays ACKs in the router during the block."""
    if not milliseconds:
        yield
        return
    line = inside("router", sys.executable, str(DELAY), "delay", f"{SENDER}={milliseconds}")
    with background(*line, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        run(*inside("router", "ip", "link", "set", "delay", "up", "txqueuelen", "10000"))
        run(*inside("router", "sysctl", "-qw", "net.ipv4.conf.delay.rp_filter=0"))
        run(*inside("router", "ip", "route", "add", "default", "dev", "delay", "table", "100"))
        run(*inside("router", "ip", "rule", "add", "iif", "toreceiver", "lookup", "100"))
        yield


def transfer(path: Path, pace_bps: int, seconds: int, delay_ms: float) -> None:
    """Sends data for some seconds, at a pace unless that is 0, and captures them."""
    tap = inside("router", "dumpcap", "-P", "-q", "-i", "tosender", "-s", "96", "-B", "64")
    with (
        delayed(delay_ms),
        background(*inside("receiver", "iperf3", "-s"), **QUIET),
        background(*tap, "-f", "tcp", "-w", str(path), **QUIET),
    ):
        time.sleep(1)
        pace = ("--fq-rate", str(pace_bps)) if pace_bps else ()
        client = ("iperf3", "-c", RECEIVER, "-t", str(seconds), "-C", "cubic", *pace)
        run(*inside("sender", *client))
        time.sleep(1)


def packets(path: Path) -> list[Seen]:
    """Returns the packets of a capture."""
    data = path.read_bytes()
    at, found = 24, []
    while at + 16 <= len(data):
        seconds, micros, held, _ = struct.unpack_from("<IIII", data, at)
        frame = at + 16
        at = frame + held
        header = frame + ETHERNET
        length = struct.unpack_from(">H", data, header + 2)[0]
        tcp = header + IPV4
        source, to, seq, ack, size = struct.unpack_from(">HHIIB", data, tcp)
        payload = length - IPV4 - 4 * (size >> 4)
        forward = data[header + 12 : header + 16] == bytes(map(int, SENDER.split(".")))
        number, port = (seq, source) if forward else (ack, to)
        found.append(Seen(seconds + micros / 1e6, forward, number, payload, port))
    return found


def quantiles(values: list[float], digits: int) -> dict[str, float]:
    """Returns count, mean and quantiles."""
    ordered = sorted(values)
    if not ordered:
        return {"count": 0}
    place = [min(int(q * len(ordered)), len(ordered) - 1) for q in QUANTILES]
    found = {f"p{round(100 * q)}": ordered[i] for q, i in zip(QUANTILES, place, strict=True)}
    mean = sum(ordered) / len(ordered)
    return {"count": len(ordered)} | {
        k: round(v, digits) for k, v in ({"mean": mean} | found).items()
    }


def measured(found: list[Seen], pace_bps: int) -> dict[str, Any]:
    """Returns the figures of the flow with the most data, after its slow start."""
    sent: dict[int, int] = {}
    for one in found:
        if one.forward:
            sent[one.port] = sent.get(one.port, 0) + one.payload
    flow = max(sent, key=lambda port: sent[port])
    begin = found[0].at + SKIPPED_S
    mine = [one for one in found if one.port == flow and one.at >= begin]
    data = [one for one in mine if one.forward and one.payload]
    acks = [one for one in mine if not one.forward]
    seconds = data[-1].at - data[0].at
    covered = [(b.number - a.number) % 2**32 / MSS for a, b in pairwise(acks)]
    figures = {
        "rate_bps": round(8 * sum(one.payload for one in data[:-1]) / seconds),
        "segments_per_packet": quantiles([one.payload / MSS for one in data], 2),
        "segments_per_ack": quantiles([one for one in covered if 0 < one < MOST], 2),
        "ack_to_data_us": quantiles(_answers(mine), 1),
    }
    if pace_bps:
        due = (8 * (one.payload + HEADERS) / pace_bps for one in data)
        late = [1e6 * (b.at - a.at - gap) for (a, b), gap in zip(pairwise(data), due, strict=False)]
        figures["late_us"] = quantiles(late, 1)
    return figures


def _answers(mine: list[Seen]) -> list[float]:
    """Returns the time from each ACK to data that leave before the next ACK, in microseconds."""
    both = pairwise(mine)
    return [1e6 * (b.at - a.at) for a, b in both if not a.forward and b.forward and b.payload]


def main() -> None:
    """Makes one measurement and prints it."""
    if os.environ.get("GQ_INSIDE") != "1":
        again = ("unshare", "-Urnm", sys.executable, *sys.argv)
        sys.exit(subprocess.run(again, check=False, env=os.environ | {"GQ_INSIDE": "1"}).returncode)
    rate, delay, offloads, pace, seconds = sys.argv[1:]
    connect(int(float(rate)), offloads=offloads == "on")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "flow.pcap"
        transfer(path, int(float(pace)), int(seconds), float(delay))
        print(json.dumps(measured(packets(path), int(float(pace)))))


if __name__ == "__main__":
    main()
