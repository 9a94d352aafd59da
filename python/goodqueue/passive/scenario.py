"""Scenarios of a capture's model: of the capture itself, and of its link in steady state."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING

from goodqueue.core.text import printable
from goodqueue.passive.model import LINUX_QUICK_ACKS, Choices, Model, Sender, Short, model_of
from goodqueue.runs.settings import readable_toml

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.passive.analysis import Analysis
    from goodqueue.runs.settings import Settings

ACCESS_FACTOR = 10
"""Ratio of the rate of hosts' own links, at least 1 Gb/s, to the link's. A capture does not show
it."""

LINK = "bottleneck"

PIECE_S = 0.1
"""Interval in seconds between the writes of an application that limits itself."""

RTT_ERROR = 0.02
"""Relative error of base round-trip times; replicates draw them from this range."""

EARLIER_RTTS = 100
"""Round trips before the capture from which flows present at its beginning are simulated."""

MIN_EARLIER_S = 5.0

LEAD_RTTS = 30
"""Base round trips before the capture from which a flow is simulated that is present at its
beginning and ends in it."""

OTHER_PACKET = 500
"""Bytes of a packet that is not TCP, because the analysis gives no mean."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Length of a simulation of the link in steady state.

    Attributes:
        start_up_s: seconds before measurements begin.
        measured_s: seconds of measurements.
    """

    start_up_s: float
    measured_s: float


def scenario_toml(analysis: Analysis, title: str) -> str:
    """Returns the link, its buffer and its flows as estimated, as text of a scenario.

    Flows that the link limits have unlimited data. A flow that its receiver's window or another
    link limits has a window as large as its captured flight. A flow that its application limits
    writes ten times a second. Short flows are transfers of their mean size at their mean rate.

    Raises:
        RequestError: if the capture does not show the link's rate, or has no flow over it.
    """
    model = model_of(analysis)
    settings = today(model, title)
    about = [f"{sender.name}, {sender.kind}" for sender in model.senders]
    if model.short is not None:
        about.append(f"short flows: {model.short.flows}")
    comments = {
        "": f"What `goodqueue analyze` made of a capture: {title}",
        "topology": "Rate and buffer count the framing, as captured.",
        f"topology.{LINK}": _why(model),
        **{f"flow.{place}": text for place, text in enumerate([*about, "not TCP"])},
    }
    return readable_toml(settings, comments)


def today(model: Model, title: str = "The link of a capture", draw: int = 0) -> Settings:
    """Returns the scenario of the capture itself: the same buffer, flows, start times and length.

    Args:
        model: the link and its traffic.
        title: title of the scenario.
        draw: number of the replicate, which draws base round-trip times within the error of their
            estimates; 0 uses the estimates themselves.
    """
    earlier_s = earlier(model)
    random = Random(draw)  # noqa: S311 - a stream of a replicate
    senders = [
        sender if draw == 0 else _drawn(sender, random.uniform(-RTT_ERROR, RTT_ERROR))
        for sender in model.senders
    ]
    reach = Reach(earlier_s, model.window_s)
    own = [_as_it_was(sender, earlier_s) for sender in senders]
    return _settings(model, title, reach, _limit(model), _flows(model, senders, own))


def steady(model: Model, reach: Reach, queue: Settings) -> Settings:
    """Returns the scenario of the link in steady state, with the traffic of the capture.

    Flows that lasted are always present. Flows that began and ended in the capture repeat with its
    length as the period.

    Args:
        model: the link and its traffic.
        reach: duration of the start-up and of the measurements.
        queue: settings of the queue before the link.
    """
    own = [_again(sender, model, reach) for sender in model.senders]
    title = "A link to be sized, from its capture"
    return _settings(model, title, reach, queue, _flows(model, model.senders, own))


def earlier(model: Model) -> float:
    """Returns the seconds of simulation before the capture: 0 if no flow was present before it."""
    if not any(sender.present for sender in model.senders):
        return 0.0
    longest_s = max(sender.rtt_s for sender in model.senders)
    waiting_s = model.limit_high_s or longest_s
    return max(EARLIER_RTTS * (longest_s + waiting_s), MIN_EARLIER_S)


def _drawn(sender: Sender, error: float) -> Sender:
    return replace(sender, rtt_s=sender.rtt_s * (1 + error))


def limit_table(model: Model, packets: int) -> Settings:
    """Returns the settings of a FIFO that holds this number of full frames."""
    return {"limit": f"{packets * model.frame_bytes}B"}


def _limit(model: Model) -> Settings:
    if model.aqm:
        return {"kind": "codel"}
    if model.limit_packets is None:
        return {"limit": "1bdp"}
    return limit_table(model, model.limit_packets)


def _why(model: Model) -> str:
    if model.aqm:
        return "The queue drops before it is full; CoDel represents its AQM."
    if model.limit_low_s is None or model.limit_high_s is None:
        return "The capture does not show the buffer; one BDP is assumed."
    low, high = 1e3 * model.limit_low_s, 1e3 * model.limit_high_s
    return f"The buffer is estimated from drops at waits of {low:.4g} ms to {high:.4g} ms."


def _settings(
    model: Model, title: str, reach: Reach, queue: Settings, flows: list[Settings]
) -> Settings:
    rtts = [sender.rtt_s for sender in model.senders]
    rtts += [] if model.short is None else [model.short.rtt_s]
    rate = round(model.rate_bps)
    return {
        "schema_version": 1,
        "title": printable(title),
        "duration": _time(reach.start_up_s + reach.measured_s),
        "warmup": _time(reach.start_up_s),
        "seed": 1,
        "topology": {
            "shape": "dumbbell",
            "framing": f"{model.framing_bytes}B",
            "access": {"rate": f"{max(ACCESS_FACTOR * rate, 10**9)}bps"},
            LINK: {
                "rate": f"{rate}bps",
                "delay": _time((1 - 2 * RTT_ERROR) * min(rtts, default=0.02) / 4),
                "queue": queue,
            },
        },
        "tcp": {"profile": model.choices.profile}
        | ({} if model.choices.byte_counting else {"byte_counting": False}),
        "flow": flows,
    }


def _flows(model: Model, senders: Sequence[Sender], own: Sequence[Settings]) -> list[Settings]:
    """Returns all flows; `own` has the start and the data of each sender."""
    flows = [
        {
            "name": f"tcp{number}",
            "rtt": _time(sender.rtt_s),
            **of_sender,
            "tcp": _tcp(sender, model.choices),
        }
        for number, (sender, of_sender) in enumerate(zip(senders, own, strict=True))
    ]
    if model.short is not None:
        flows.append(_short(model.short, model.span_s))
    if model.other_bps:
        rate = f"{round(model.other_bps)}bps"
        workload = {"kind": "poisson", "rate": rate, "packet": f"{OTHER_PACKET}B"}
        flows.append({"name": "other", "workload": workload})
    return flows


def _as_it_was(sender: Sender, earlier_s: float) -> Settings:
    """Returns the start and the data of a sender, as in the capture."""
    if sender.present and sender.lasts and earlier_s:
        workload = _workload(sender, most=False)
        return {"start_jitter": _time(earlier_s / 2), "workload": workload}
    # A flow that was present before and ends within the capture has left slow start by then.
    lead_s = min(LEAD_RTTS * sender.rtt_s, earlier_s) if sender.present else 0.0
    more = round(sender.payload_bps * lead_s / 8)
    sends = replace(sender, payload_bytes=sender.payload_bytes + more)
    return {
        "start": _time(max(earlier_s - lead_s + sender.start_s - sender.rtt_s, 0.0)),
        "start_jitter": _time(sender.rtt_s),
        "workload": _workload(sends, most=not sender.lasts),
    }


def _again(sender: Sender, model: Model, reach: Reach) -> Settings:
    """Returns the start and the data of a sender in steady state."""
    if sender.lasts or sender.kind == "application":
        workload = _workload(sender, most=False)
        return {"start_jitter": _time(reach.start_up_s / 2), "workload": workload}
    return {
        "start": _time(min(sender.start_s, model.span_s)),
        "start_jitter": _time(sender.rtt_s),
        "workload": {
            "kind": "transfers",
            "size": f"{max(sender.payload_bytes, 1)}B",
            "interval": _time(model.span_s),
            "intervals": "fixed",
        },
    }


def _workload(sender: Sender, *, most: bool) -> Settings:
    if sender.kind != "application":
        size = {"size": f"{sender.payload_bytes}B"} if most else {}
        return {"kind": "bulk", **size}
    piece = max(round(sender.payload_bps * PIECE_S / 8), 1)
    count = {"most": max(round(sender.payload_bytes / piece), 1)} if most else {}
    return {
        "kind": "exchanges",
        "request": f"{piece}B",
        "reply": "1B",
        "pause": _time(PIECE_S),
        "periodic": True,
        **count,
    }


def _tcp(sender: Sender, choices: Choices) -> Settings:
    control = sender.control or choices.unknown
    tcp: Settings = {"congestion_control": control, "mss": f"{sender.mss}B"}
    linux = choices.profile == "linux"
    if linux and not sender.timestamps:
        tcp["timestamps"] = "none"
    if sender.window_bytes is not None:
        tcp["receive_window"] = f"{sender.window_bytes}B"
    if sender.ack_every == 1:
        tcp |= {"ack_rule": "every_nth", "ack_every": 1}
    elif linux and sender.opening_acks > LINUX_QUICK_ACKS:
        # A window that opens for so long belongs to a large receive buffer of fixed size.
        tcp |= {"opening_acks": sender.opening_acks, "receive_window_moderation": "off"}
    if choices.starts == "seen" and sender.local and not sender.present and control != "bbr":
        packets = sender.slow_start_packets
        if packets is not None:
            tcp |= {"slow_start": "classic", "initial_ssthresh": f"{packets}p"}
        elif sender.lost:
            tcp["slow_start"] = "classic"
    return tcp


def _short(short: Short, span_s: float) -> Settings:
    mean, load = short.payload_bytes // short.flows, round(8 * short.payload_bytes / span_s)
    workload = {"kind": "transfers", "size": f"{max(mean, 1)}B", "load": f"{max(load, 1)}bps"}
    return {"name": "short", "rtt": _time(short.rtt_s), "workload": workload}


def _time(seconds: float) -> str:
    """Returns a duration in whole microseconds."""
    return f"{max(round(seconds * 1e6), 1)}us"
