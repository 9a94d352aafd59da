"""A scenario as a Python script for Mininet or NeST, which use network namespaces of Linux."""

from __future__ import annotations

import pprint
from typing import TYPE_CHECKING

from goodqueue.exchange.dumbbell import HEADER_BYTES, kind_of
from goodqueue.exchange.script import Script, head, number, template
from goodqueue.exchange.tcp import notes
from goodqueue.sizing.export import ETHERNET_HEADER_BYTES, SHAPER_BURST_FRAMES

if TYPE_CHECKING:
    from goodqueue.exchange.dumbbell import Dumbbell, Group, Table

COMMANDS = ("sudo python3 FILE.py", "sudo python3 FILE.py 7    # seed 7")
CONTROLS = {
    "reno", "cubic", "scalable", "westwood", "dctcp", "vegas", "illinois", "bbr",
}  # fmt: skip
"""Congestion controls that are modules of Linux."""

WRITTEN = {"mss", "timestamps", "ecn", "recovery"}
"""Switches that the script sets."""


def mininet(link: Dumbbell) -> Script:
    """Returns a dumbbell as a script for Mininet.

    Raises:
        ScenarioError: for the first key that Linux cannot express.
    """
    return _script(link, "mininet.py")


def nest(link: Dumbbell) -> Script:
    """Returns a dumbbell as a script for NeST.

    Raises:
        ScenarioError: for the first key that Linux cannot express.
    """
    return _script(link, "nest.py")


def _script(link: Dumbbell, tool: str) -> Script:
    """Returns a script whose nodes and links are those of a tool, and whose rest is shared."""
    said = [
        *link.omitted(),
        "the backlog is read twenty times a second, and packets in netem's queues are not counted",
        "propagation delays are those of netem in the hosts, half of the base round-trip time each",
    ]
    if not link.groups:
        link.refuse("flow", "needs a TCP flow", 'add a flow with workload = { kind = "bulk" }')
    if link.qdisc is None:
        kind = kind_of(link.queue)
        lack = f"has no queue like this {kind!r}"
        link.refuse("topology.bottleneck.queue", lack, "see `goodqueue qdisc print` for the reason")
    for group in link.groups:
        _check(link, group)
        theirs = {"profile": "linux", "congestion_control": group.tcp["congestion_control"]}
        said += notes(link, group, theirs, WRITTEN)
    if link.framing_bytes != ETHERNET_HEADER_BYTES:
        said.append(
            f"Linux counts {ETHERNET_HEADER_BYTES} B of framing and the scenario has "
            f"{link.framing_bytes} B: rates are changed so that a full packet takes the same time"
        )
    first = link.groups[0]
    rate, reverse = (
        link.scaled(bps, ETHERNET_HEADER_BYTES) for bps in (link.rate_bps, link.reverse_bps)
    )
    packets = 1_000_000 if link.reverse_packets is None else link.reverse_packets
    values: Table = {
        "SEED": link.seed,
        "DURATION_S": link.duration_s,
        "WARMUP_S": link.warmup_s,
        "RATE_BPS": rate,
        "SYSCTLS": _sysctls(link),
        "BOTTLENECK": [*_shaper(rate, first.mss), *map(_below, link.qdisc)],
        "REVERSE": [
            *_shaper(reverse, first.mss),
            f"tc qdisc replace dev DEV parent 1:1 handle 10: pfifo limit {packets}",
        ],
        "GROUPS": [_row(link, group) for group in link.groups],
    }
    lines = [
        f"{name} = {pprint.pformat(value, width=94, sort_dicts=False)}"
        for name, value in values.items()
    ]
    body = template(tool).replace("@SCENARIO@", "\n".join(lines) + "\n")
    body += template("linux.py")
    return Script(head(link, "#", said, COMMANDS) + body, tuple(said), COMMANDS)


def _check(link: Dumbbell, group: Group) -> None:
    key = f"flow.{group.name}.tcp"
    if group.control not in CONTROLS:
        link.refuse(
            f"{key}.congestion_control",
            f"runs Linux, which has no congestion control {group.control!r}",
            f"choose from {', '.join(sorted(CONTROLS))}",
        )
    first = link.groups[0]
    for name in ("timestamps", "ecn", "recovery"):
        if group.tcp[name] != first.tcp[name]:
            lack = f"has one value of {name} for all flows, and flow {first.name!r} has another"
            link.refuse(f"{key}.{name}", lack, f"give both flows the same {name}")


def _sysctls(link: Dumbbell) -> list[str]:
    tcp = link.groups[0].tcp
    values = {
        "tcp_ecn": int(tcp["ecn"] != "off"),
        "tcp_timestamps": int(tcp["timestamps"] != "none"),
        "tcp_sack": int(tcp["recovery"] == "sack"),
        "tcp_no_metrics_save": 1,
    }
    return [f"net.ipv4.{name}={value}" for name, value in values.items()]


def _shaper(rate_bps: int, mss: int) -> list[str]:
    burst = SHAPER_BURST_FRAMES * (mss + HEADER_BYTES + ETHERNET_HEADER_BYTES)
    rates = f"rate {rate_bps}bit burst {burst} cburst {burst}"
    return [
        "tc qdisc replace dev DEV root handle 1: htb default 1",
        f"tc class replace dev DEV parent 1: classid 1:1 htb {rates}",
    ]


def _below(command: str) -> str:
    """Returns the command that gives a class of the shaper a queue."""
    return command.replace("root", "parent 1:1 handle 10:", 1)


def _row(link: Dumbbell, group: Group) -> Table:
    pairs = zip(group.near_s, group.far_s, strict=True)
    return {
        "name": group.name,
        "count": group.count,
        "start": group.start_s,
        "interval": group.interval_s,
        "jitter": group.jitter_s,
        "rtts": [float(number(2 * (near + link.delay_s + far))) for near, far in pairs],
        "bytes": group.bytes or 0,
        "mss": group.mss,
        "control": group.control,
    }
