"""A scenario as a C++ program for ns-3."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.exchange.dumbbell import kind_of, parameters_of, seconds
from goodqueue.exchange.script import Script, head, number, template
from goodqueue.exchange.tcp import notes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodqueue.exchange.dumbbell import Dumbbell, Group, Table

MODULES = ("core", "network", "internet", "point-to-point", "traffic-control", "applications")
COMMANDS = (
    "g++ -O2 -std=c++17 -o FILE FILE.cc " + " ".join(f"-lns3-{name}" for name in MODULES),
    "./FILE",
    "./FILE --seed=7",
)
PPP_BYTES = 2
"""Framing of ns-3's point-to-point links, in bytes."""

CONTROLS = {
    "reno": "TcpLinuxReno",
    "cubic": "TcpCubic",
    "scalable": "TcpScalable",
    "westwood": "TcpWestwood",
    "dctcp": "TcpDctcp",
    "vegas": "TcpVegas",
    "ledbat": "TcpLedbat",
    "illinois": "TcpIllinois",
    "bbr": "TcpBbr",
}
LATEST_RTT = {"vegas", "bbr"}
"""Controls that need the latest RTT, in place of which ns-3 passes the smoothed one."""

DISCS = {
    "codel": "CoDelQueueDisc",
    "fq_codel": "FqCoDelQueueDisc",
    "pie": "PieQueueDisc",
    "ns2_red": "RedQueueDisc",
}
WRITTEN = {
    "mss", "initial_window", "initial_ssthresh", "receive_window", "ack_every", "ack_rule",
    "delayed_ack_timeout", "timestamps", "recovery", "recovery_window", "ecn", "rto.minimum",
    "rto.initial", "limited_transmit", "slow_start", "nagle",
}  # fmt: skip
"""Switches that the program sets."""

COMMON = ("mss", "initial_window", "initial_ssthresh", "receive_window", "ack_every", "rto")
"""Switches that all flows of an ns-3 program share."""


def script(link: Dumbbell) -> Script:
    """Returns a dumbbell as a program for ns-3.

    Raises:
        ScenarioError: for the first key that ns-3 cannot express.
    """
    said = link.omitted()
    if not link.groups:
        link.refuse("flow", "needs a TCP flow", 'add a flow with workload = { kind = "bulk" }')
    first = link.groups[0]
    for group in link.groups:
        _check(link, first, group)
        said += notes(link, group, _twin(group), WRITTEN)
    rate, reverse = (link.scaled(bps, PPP_BYTES) for bps in (link.rate_bps, link.reverse_bps))
    if link.framing_bytes != PPP_BYTES:
        said.append(
            f"frames have {PPP_BYTES} B of PPP in ns-3 and {link.framing_bytes} B in the scenario: "
            "rates are changed so that a full packet takes the same time"
        )
    disc, attributes = _disc(link)
    if disc:
        said.append("one packet more waits in ns-3's device, below its queue disc")
    lines = [
        f"const uint64_t SEED = {link.seed}, RATE_BPS = {rate}, REVERSE_BPS = {reverse};",
        f"const uint64_t NEAR_BPS = {link.scaled(link.access_bps[0], PPP_BYTES)};",
        f"const uint64_t FAR_BPS = {link.scaled(link.access_bps[1], PPP_BYTES)};",
        f"const uint32_t MSS = {first.mss};",
        f"const double DURATION_S = {number(link.duration_s)}, WARMUP_S = {number(link.warmup_s)};",
        f"const double DELAY_S = {number(link.delay_s)};",
        f'const std::string QUEUE = "{disc}", DEVICE_LIMIT = "{_device_limit(link, disc)}";',
        f'const std::string REVERSE_LIMIT = "{_packets(link.reverse_packets)}";',
        "const std::vector<Group> GROUPS = {",
        *map(_row, link.groups),
        "};",
        "",
        "void SetDefaults()",
        "{",
        *(f"    Config::SetDefault({name}, {value});" for name, value in _tcp(link).items()),
        *(f'    Config::SetDefault("{disc}::{name}", {v});' for name, v in attributes.items()),
        "}",
    ]
    includes = "".join(f'#include "ns3/{name}-module.h"\n' for name in MODULES)
    beginning = f"\n{includes}\n#include <cstdio>\n#include <string>\n#include <vector>\n"
    body = template("dumbbell.cc").replace("@SCENARIO@", "\n".join(lines))
    comment = head(link, "//", said, COMMANDS)
    text = f"{comment}{beginning}\nusing namespace ns3;\n{body}"
    return Script(text, tuple(said), COMMANDS)


def _check(link: Dumbbell, first: Group, group: Group) -> None:
    """Refuses TCP that ns-3 does not have, or cannot give to these flows alone."""
    key = f"flow.{group.name}.tcp"
    if group.control not in CONTROLS:
        link.refuse(
            f"{key}.congestion_control",
            f"has no congestion control {group.control!r}",
            f"choose from {', '.join(CONTROLS)}",
        )
    for name in COMMON:
        if group.tcp[name] != first.tcp[name]:
            lack = f"has one value of {name} for all flows, and flow {first.name!r} has another"
            link.refuse(f"{key}.{name}", lack, f"give both flows the same {name}")
    if group.tcp["pacing"] is True and group.control != "bbr":
        link.refuse(f"{key}.pacing", "gets senders without pacing", "write pacing = false")
    if group.tcp["slow_start"] == "hystart_paced":
        advice = 'write slow_start = "hystart"'
        link.refuse(f"{key}.slow_start", "gets senders without pacing", advice)


def _twin(group: Group) -> Table:
    """Returns the switches of ns-3's TCP, as far as a scenario has them."""
    return {
        "profile": "rfc",
        "congestion_control": group.tcp["congestion_control"],
        "mss": group.tcp["mss"],
        "details": {
            "cubic_variant": "linux",
            "decrease_basis": "flight_size" if group.control == "reno" else "congestion_window",
            "recovery_exit": "ssthresh_and_growth",
        },
    }


def _tcp(link: Dumbbell) -> Table:
    """Returns defaults of ns-3's TCP, as C++."""
    first = link.groups[0]
    tcp, mss = first.tcp, first.mss
    window = _core.parse_size("receive_window", tcp["receive_window"])
    ssthresh = first.segments_or_none("initial_ssthresh")
    recovery = "Prr" if tcp["recovery_window"] == "prr" else "Classic"
    values: Table = {
        "TcpSocket::SegmentSize": _whole(mss),
        "TcpSocket::InitialCwnd": _whole(first.segments("initial_window")),
        "TcpSocket::SndBufSize": _whole(window),
        "TcpSocket::RcvBufSize": _whole(window),
        "TcpSocket::DelAckCount": _whole(tcp["ack_every"]),
        "TcpSocket::DelAckTimeout": _time(tcp["delayed_ack_timeout"]),
        "TcpSocket::ConnTimeout": _time(tcp["rto"]["initial"]),
        "TcpSocketBase::MinRto": _time(tcp["rto"]["minimum"]),
        "TcpSocketBase::Timestamp": _boolean(tcp["timestamps"] != "none"),
        "TcpSocketBase::Sack": _boolean(tcp["recovery"] == "sack"),
        "TcpSocketBase::LimitedTransmit": _boolean(tcp["limited_transmit"]),
        "TcpSocketBase::UseEcn": f'StringValue("{"Off" if tcp["ecn"] == "off" else "On"}")',
        "TcpL4Protocol::RecoveryType": f"TypeIdValue(Tcp{recovery}Recovery::GetTypeId())",
    }
    if ssthresh is not None:
        values["TcpSocket::InitialSlowStartThreshold"] = _whole(ssthresh * mss)
    controls = {group.control for group in link.groups}
    if "cubic" in controls:
        hystart = any(group.tcp["slow_start"] in {"auto", "hystart"} for group in link.groups)
        values["TcpCubic::HyStart"] = _boolean(hystart)
    if controls & LATEST_RTT:
        values["RttMeanDeviation::Alpha"] = "DoubleValue(1)"
    return {f'"ns3::{name}"': value for name, value in values.items()}


def _disc(link: Dumbbell) -> tuple[str, Table]:
    """Returns the name of ns-3's queue disc and its attributes, or nothing for a FIFO."""
    kind = kind_of(link.queue)
    if kind == "drop_tail":
        return "", {}
    if kind not in DISCS:
        choice = f"choose from drop_tail, {', '.join(DISCS)}"
        link.refuse("topology.bottleneck.queue.kind", f"has no queue {kind!r}", choice)
    queue = parameters_of(link.queue)
    if kind == "ns2_red":
        return f"ns3::{DISCS[kind]}", _red(link, queue)
    if link.limit_packets is None:
        lack = f"has a limit in packets for {kind}"
        link.refuse("topology.bottleneck.queue.limit", lack, 'write limit = "1000p"')
    values: Table = {"MaxSize": _size(f"{link.limit_packets}p"), "UseEcn": _boolean(queue["ecn"])}
    if kind == "pie":
        values |= {
            "QueueDelayReference": _time(queue["target"]),
            "Tupdate": _time(queue["tupdate"]),
            "MaxBurstAllowance": _time(queue["max_burst"]),
            "A": f"DoubleValue({queue['alpha']})",
            "B": f"DoubleValue({queue['beta']})",
        }
        return f"ns3::{DISCS[kind]}", values
    as_text = kind == "fq_codel"  # FqCoDel hands its strings on to its CoDel queues
    for name, key in {"Target": "target", "Interval": "interval"}.items():
        text = f"{number(1e3 * seconds(queue[key]))}ms"
        values[name] = f'StringValue("{text}")' if as_text else _time(queue[key])
    if kind == "fq_codel":
        values["Flows"] = _whole(queue["flows"])
        values["DropBatchSize"] = _whole(queue["drop_batch"])
    return f"ns3::{DISCS[kind]}", values


def _red(link: Dumbbell, queue: Mapping[str, object]) -> Table:
    if queue["adaptation"] != "none":
        lack = "gets RED with a fixed max_probability"
        link.refuse("topology.bottleneck.queue.adaptation", lack, "leave it out")
    in_bytes = queue["unit"] == "bytes"
    unit, limit = ("B", link.limit_bytes) if in_bytes else ("p", link.limit_packets)
    packet = _core.parse_size("mean_packet", str(queue["mean_packet"]))
    return {
        "MaxSize": _size(f"{limit}{unit}"),
        "MeanPktSize": _whole(packet),
        "MinTh": f"DoubleValue({queue['min']})",
        "MaxTh": f"DoubleValue({queue['max']})",
        "QW": f"DoubleValue({queue['weight']})",
        "LInterm": f"DoubleValue({1 / float(str(queue['max_probability']))})",
        "Gentle": _boolean(queue["gentle"]),
        "Wait": _boolean(queue["wait"]),
        "UseEcn": _boolean(queue["ecn"]),
        "LinkBandwidth": f'StringValue("{link.rate_bps}bps")',
    }


def _device_limit(link: Dumbbell, disc: str) -> str:
    if disc:
        return "1p"
    if link.limit_bytes is not None:
        return f"{link.limit_bytes}B"
    return _packets(link.limit_packets)


def _packets(limit: int | None) -> str:
    return "1000000p" if limit is None else f"{limit}p"


def _row(group: Group) -> str:
    words = (
        json.dumps(group.name),
        f'"{CONTROLS[group.control]}"',
        str(group.count),
        *(number(one) for one in (group.start_s, group.interval_s, group.jitter_s)),
        "{" + ", ".join(map(number, group.near_s)) + "}",
        "{" + ", ".join(map(number, group.far_s)) + "}",
        str(group.bytes or 0),
    )
    return "    {" + ", ".join(words) + "},"


def _whole(value: int) -> str:
    return f"UintegerValue({value})"


def _boolean(value: object) -> str:
    return f"BooleanValue({str(bool(value)).lower()})"


def _size(text: str) -> str:
    return f'QueueSizeValue(QueueSize("{text}"))'


def _time(text: str) -> str:
    return f"TimeValue(Seconds({number(seconds(text))}))"
