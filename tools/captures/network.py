"""The network of the captures: five namespaces in a row, a tbf bottleneck in the middle one.

    sender -- near -- router ==tbf==> far -- receiver

Data flows from left to right. Packets of the reverse direction (ACKs, echo replies) are delayed in
`far` and in `near`, by an amount for each sending address. Delay is on the returning path alone, so
that the sender's super-segments reach both taps as its kernel made them. Both taps are devices of
`router`, so they share one clock.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

CHAIN = ("sender", "near", "router", "far", "receiver")
RECEIVER_ADDRESS = "10.9.4.2"
# Each namespace has a device `left` and a device `right`, named by the direction of their
# neighbour.
BEFORE, AFTER = "left", "right"
DELAY_TABLE = "100"


def sender_address(flow: int) -> str:
    """Returns the sending address of a flow, which selects its delay."""
    return f"10.9.1.{11 + flow}"


def run(*command: str) -> str:
    """Runs a command to its end and returns its output."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def inside(namespace: str, *command: str) -> tuple[str, ...]:
    """Returns the command that runs `command` in one of our namespaces."""
    return ("ip", "netns", "exec", f"gq-{namespace}", *command)


@contextmanager
def background(*command: str, **options: Any) -> Iterator[subprocess.Popen[str]]:  # noqa: ANN401
    """Runs a process during the block."""
    process = subprocess.Popen(command, text=True, **options)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def shape(rate_bps: int, limit_bytes: int) -> None:
    """Configures the bottleneck: tbf, whose bucket holds one frame, so that it never bursts."""
    tbf = ("tbf", "rate", f"{rate_bps}bit", "burst", "1600", "limit", str(limit_bytes))
    run(*inside("router", "tc", "qdisc", "replace", "dev", AFTER, "root", *tbf))


def counters() -> dict[str, int]:
    """Returns the counters of the bottleneck; bytes include Ethernet's header of 14 B."""
    (tbf,) = json.loads(
        run(*inside("router", "tc", "-s", "-j", "qdisc", "show", "dev", AFTER, "root"))
    )
    return {name: tbf[name] for name in ("bytes", "packets", "drops", "overlimits")}


def _connect() -> None:
    for name in CHAIN:
        run("ip", "netns", "add", f"gq-{name}")
        run(*inside(name, "ip", "link", "set", "lo", "up"))
        settings = {
            "ipv4.ip_forward": 1,
            "ipv4.conf.all.rp_filter": 0,  # a delayed packet comes in through another device
            "ipv4.conf.default.rp_filter": 0,
            # No flow starts with metrics that the kernel saved from an earlier one.
            "ipv4.tcp_no_metrics_save": 1,
            "ipv6.conf.all.disable_ipv6": 1,
        }
        for key, value in settings.items():
            run(*inside(name, "sysctl", "-qw", f"net.{key}={value}"))
    for link, (left, right) in enumerate(pairwise(CHAIN), start=1):
        run(
            *("ip", "link", "add", "right", "netns", f"gq-{left}", "type", "veth"),
            *("peer", "name", "left", "netns", f"gq-{right}"),
        )
        for name, device, host in ((left, "right", 1), (right, "left", 2)):
            run(*inside(name, "ip", "address", "add", f"10.9.{link}.{host}/24", "dev", device))
            run(*inside(name, "ip", "link", "set", device, "up"))


def _route(flows: int) -> None:
    for link, name in enumerate(CHAIN[:-1], start=1):
        if name != "far":
            run(*inside(name, "ip", "route", "add", "default", "via", f"10.9.{link}.2"))
    for link, name in enumerate(CHAIN[2:-1], start=2):
        run(*inside(name, "ip", "route", "add", "10.9.1.0/24", "via", f"10.9.{link}.1"))
    run(*inside("receiver", "ip", "route", "add", "default", "via", "10.9.4.1"))
    for flow in range(flows):
        address = f"{sender_address(flow)}/24"
        run(*inside("sender", "ip", "address", "add", address, "dev", "right"))


def _set_offloads(*, on: bool) -> None:
    state = "on" if on else "off"
    for name in CHAIN:
        for device in ("left", "right"):
            if (name, device) in {(CHAIN[0], "left"), (CHAIN[-1], "right")}:
                continue
            switches = [word for what in ("tso", "gso", "gro") for word in (what, state)]
            run(*inside(name, "ethtool", "-K", device, *switches))


def offer_window(window_bytes: int) -> None:
    """Limits the window that the receiver's future sockets offer.

    The kernel includes its overhead in a receive buffer and first assumes one half.
    """
    run(*inside("receiver", "sysctl", "-qw", "net.ipv4.tcp_moderate_rcvbuf=0"))
    sizes = f"net.ipv4.tcp_rmem=4096 {2 * window_bytes} {2 * window_bytes}"
    run(*inside("receiver", "sysctl", "-qw", sizes))


@contextmanager
def _delay(name: str, delays_ms: Sequence[float]) -> Iterator[None]:
    """Delays packets that enter `name` from the right before they are routed."""
    pairs = [f"{sender_address(flow)}={delay}" for flow, delay in enumerate(delays_ms)]
    line = inside(name, sys.executable, str(Path(__file__).with_name("delay.py")), "delay", *pairs)
    with background(*line, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        run(*inside(name, "ip", "link", "set", "delay", "up", "txqueuelen", "10000"))
        run(*inside(name, "ip", "route", "add", "default", "dev", "delay", "table", DELAY_TABLE))
        run(*inside(name, "ip", "rule", "add", "iif", "right", "lookup", DELAY_TABLE))
        yield


def _remove() -> None:
    for name in CHAIN:
        subprocess.run(("ip", "netns", "delete", f"gq-{name}"), check=False, capture_output=True)


@contextmanager
def network(near_ms: Sequence[float], far_ms: Sequence[float], *, offloads: bool) -> Iterator[None]:
    """Creates the namespaces, connected and with their delays, for the block."""
    _remove()
    with ExitStack() as stack:
        stack.callback(_remove)
        _connect()
        _route(len(near_ms))
        _set_offloads(on=offloads)
        stack.enter_context(_delay("near", near_ms))
        stack.enter_context(_delay("far", far_ms))
        yield
