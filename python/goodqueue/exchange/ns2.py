"""A scenario as an OTcl script for ns-2."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.exchange.dumbbell import kind_of
from goodqueue.exchange.script import Script, head, number, template
from goodqueue.exchange.tcp import notes

if TYPE_CHECKING:
    from goodqueue.exchange.dumbbell import Dumbbell, Group, Table

COMMANDS = ("ns FILE.tcl", "ns FILE.tcl 7    # seed 7")
UNLIMITED = 1_000_000
"""Room of a queue that never overflows, in packets."""

AGENTS = {"sack": "Sack1", "newreno": "Newreno", "reno": "Reno", "tahoe": ""}
"""One-way agents of ns-2, by our loss recovery."""

OF_LINUX = ("cubic", "scalable", "westwood", "vegas", "illinois")
"""Controls that ns-2 has as modules of Linux 2.6."""

WRITTEN = {
    "mss", "initial_window", "receive_window", "limited_transmit", "ack_every", "ack_rule",
    "delayed_ack_timeout", "ecn", "rto.minimum", "rto.maximum", "rto.initial", "rto.granularity",
    "initial_ssthresh", "recovery",
}  # fmt: skip
"""Switches that the script sets."""


def script(link: Dumbbell) -> Script:
    """Returns a dumbbell as a script for ns-2.

    Raises:
        ScenarioError: for the first key that ns-2 cannot express.
    """
    said = link.omitted()
    queue, class_settings, settings, limit = _queue(link)
    groups = [_group(link, group, said) for group in link.groups]
    reverse = UNLIMITED if link.reverse_packets is None else link.reverse_packets + 1
    parameters = {
        "seed": link.seed,
        "duration_s": number(link.duration_s),
        "warmup_s": number(link.warmup_s),
        "rate_bps": link.rate_bps,
        "reverse_bps": link.reverse_bps,
        "delay_s": number(link.delay_s),
        "near_bps": link.access_bps[0],
        "far_bps": link.access_bps[1],
        "queue": queue,
        "limit": limit,
        "queue_settings": _pairs(settings),
        "reverse_limit": reverse,
        # A quarter of the 32 bits of a counter.
        "poll_s": number(min(1.0, 2**30 * 8 / link.rate_bps)),
    }
    body = [f"set {name} {value}" for name, value in parameters.items()]
    body += [f"Queue/{queue} set {key} {value}" for key, value in class_settings.items()]
    body += [
        "",
        "# Name, flows, first start, interval, jitter, delays of the near and far access links,",
        "# segments (0: without end), agent, sink, module of Linux, their settings, payload.",
        "set groups {",
        *groups,
        "}",
    ]
    text = head(link, "#", said, COMMANDS) + "\n" + "\n".join(body) + "\n"
    return Script(text + template("dumbbell.tcl"), tuple(said), COMMANDS)


def _group(link: Dumbbell, group: Group, said: list[str]) -> str:
    agent, control, theirs = _agent(link, group)
    said += notes(link, group, theirs, WRITTEN)
    tcp = group.tcp
    if group.segments_or_none("initial_ssthresh") not in {None, group.segments("receive_window")}:
        said.append(
            f"flow {group.name!r} begins with ssthresh = {tcp['initial_ssthresh']}; in ns-2 "
            "ssthresh begins at the receive window"
        )
    ecn = tcp["ecn"] != "off"
    rto = tcp["rto"]
    spans = {"minrto_": "minimum", "maxrto_": "maximum", "rtxcur_init_": "initial"}
    settings: Table = {
        "window_": group.segments("receive_window"),
        "windowInit_": group.segments("initial_window"),
        # ns-2 adds 40 bytes of headers to the payload, and has no framing of its own.
        "packetSize_": group.mss + link.framing_bytes,
        "singledup_": int(tcp["limited_transmit"]),
        "ecn_": int(ecn),
        **{key: number(_core.parse_span(key, rto[name])) for key, name in spans.items()},
    }
    granularity = _core.parse_span("granularity", rto["granularity"])
    if granularity > 0:
        settings["tcpTick_"] = number(granularity)
    sack = "/Sack1" if tcp["recovery"] == "sack" or control else ""
    sinks: Table = {"packetSize_": 40 + link.framing_bytes}
    sink = f"Agent/TCPSink{sack}"
    if tcp["ack_every"] > 1:
        sink += "/DelAck"
        sinks["interval_"] = number(_core.parse_span("timeout", tcp["delayed_ack_timeout"]))
    segments = 0 if group.bytes is None else math.ceil(group.bytes / group.mss)
    words = (
        f"{{{group.name}}}",
        group.count,
        number(group.start_s),
        number(group.interval_s),
        number(group.jitter_s),
        _list(group.near_s),
        _list(group.far_s),
        segments,
        agent,
        sink,
        f"{{{control}}}",
        _pairs(settings),
        _pairs(sinks),
        group.mss,
    )
    return "    {" + " ".join(map(str, words)) + "}"


def _agent(link: Dumbbell, group: Group) -> tuple[str, str, Table]:
    """Returns ns-2's agent, the module of Linux in it if any, and its switches."""
    recovery = group.tcp["recovery"]
    key = f"flow.{group.name}.tcp"
    if recovery not in AGENTS:
        link.refuse(f"{key}.recovery", f"has no recovery {recovery!r}", 'write "sack"')
    if group.tcp["ecn"] not in {"off", "rfc3168"}:
        link.refuse(f"{key}.ecn", f"has no {group.tcp['ecn']!r}", 'write "rfc3168" or "off"')
    if group.tcp["pacing"]:
        link.refuse(f"{key}.pacing", "has senders without pacing", "write pacing = false")
    twin: Table = {"profile": "ns2", "mss": group.tcp["mss"], "recovery": recovery}
    if group.control == "reno":
        name = AGENTS[recovery]
        return (f"Agent/TCP/{name}" if name else "Agent/TCP"), "", twin
    if group.control not in OF_LINUX:
        known = ", ".join(["reno", *OF_LINUX])
        link.refuse(
            f"{key}.congestion_control",
            f"has no congestion control {group.control!r}",
            f"choose from {known}",
        )
    return "Agent/TCP/Linux", group.control, {**twin, "congestion_control": group.control}


def _queue(link: Dumbbell) -> tuple[str, Table, Table, int]:
    """Returns the queue's class, settings of the class and of the queue, and its limit."""
    kind = kind_of(link.queue)
    if kind == "drop_tail":
        if link.limit_bytes is not None:
            # ns-2 refuses a packet if the queue would reach its limit.
            in_bytes = {"queue_in_bytes_": "true", "mean_pktsize_": 1}
            return "DropTail", {}, in_bytes, link.limit_bytes + 1
        # ns-2's limit N leaves N - 1 packets waiting.
        packets = UNLIMITED if link.limit_packets is None else link.limit_packets + 1
        return "DropTail", {}, {}, packets
    if kind != "ns2_red":
        choice = 'choose "drop_tail" or "ns2_red"'
        link.refuse("topology.bottleneck.queue.kind", f"has no queue {kind!r}", choice)
    return _red(link)


def _red(link: Dumbbell) -> tuple[str, Table, Table, int]:
    queue, key = link.queue, "topology.bottleneck.queue"
    if queue["adaptation"] != "none":
        lack = "gets RED with a fixed max_probability"
        link.refuse(f"{key}.adaptation", lack, "leave it out")
    packet = _core.parse_size("mean_packet", queue["mean_packet"])
    in_bytes = queue["unit"] == "bytes"
    scale = packet if in_bytes else 1
    limit = link.limit_bytes if in_bytes else link.limit_packets
    if limit is None:
        link.refuse(f"{key}.limit", "has no RED without a limit", 'write limit = "100p"')
    if limit % scale:
        lack = f"counts RED's limit in packets of {packet} B"
        near = max(1, round(limit / scale))
        link.refuse(f"{key}.limit", lack, f'write limit = "{near * scale}B"')
    settings: Table = {
        "mean_pktsize_": packet,
        "thresh_": number(queue["min"] / scale),
        "maxthresh_": number(queue["max"] / scale),
        "q_weight_": number(queue["weight"]),
        "linterm_": number(1 / queue["max_probability"]),
        "bytes_": int(queue["by_size"]),
        "queue_in_bytes_": int(in_bytes),
        "gentle_": int(queue["gentle"]),
        "wait_": int(queue["wait"]),
        "setbit_": int(queue["ecn"]),
        "mark_p_": number(queue["mark_below"]),
        "adaptive_": 0,
    }
    return "RED", settings, {}, limit // scale


def _pairs(settings: Table) -> str:
    return "{" + " ".join(f"{key} {value}" for key, value in settings.items()) + "}"


def _list(values: tuple[float, ...]) -> str:
    return "{" + " ".join(map(number, values)) + "}"
