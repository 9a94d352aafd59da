"""A simulation of the link of a capture, as a scenario file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl

from goodqueue.errors import RequestError
from goodqueue.passive.link import CONTROLS
from goodqueue.passive.traffic import LOCAL, MSS, SHORT, forward

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from goodqueue.passive.analysis import Analysis

MOST_FLOWS = 1000
"""Flows with an entry of their own, the largest; the rest become short transfers."""

ACCESS_FACTOR = 10
"""Hosts' own links are so much faster than the link, and at least 1 Gb/s: captures show none."""

ENDS_EARLY = 0.9
"""A flow whose data end before this share of the capture was over; one that lasts is unlimited."""


def scenario_toml(analysis: Analysis, title: str) -> str:
    """The link, its buffer and its flows as estimated, as text that `goodqueue run` accepts.

    Flows that the link holds back send what they can. A flow that something else holds back, its
    receiver's window, its application or another link, has a window as large as what it had in
    flight. Short flows come as transfers of their mean size at their mean rate.

    Raises:
        RequestError: where the capture does not tell the link's rate, or has no flow over it.
    """
    flows = forward(analysis)
    if flows.is_empty():
        raise RequestError("the capture shows no TCP data over the link, so there is no scenario")
    rate = analysis.summary["link"]["rate_bps"]
    if rate is None:
        raise RequestError("the capture does not tell the link's rate; say it with --link")
    if not analysis.summary["duration_s"]:
        raise RequestError("the capture holds one moment, which is too little for a scenario")
    long = flows.filter(~SHORT)
    entries = list(_long(long.head(MOST_FLOWS), analysis.summary["duration_s"]))
    rest = pl.concat([flows.filter(SHORT), long[MOST_FLOWS:]])
    if not rest.is_empty():
        entries.append(_short(rest, analysis.summary["duration_s"]))
    return "\n".join([_head(analysis, title, rate, _least_rtt(flows)), *entries])


def _head(analysis: Analysis, title: str, rate: float, least_rtt_s: float) -> str:
    summary = analysis.summary
    limit, why = _queue(summary["link"])
    return f"""# What `goodqueue analyze` made of a capture: {_comment(title)}
schema_version = 1
title = {json.dumps(_comment(title), ensure_ascii=False)}
duration = "{_time(summary["duration_s"])}"
warmup = "10%"
seed = 1

[topology]
shape = "dumbbell"
framing = "{round(summary["link"]["framing_bytes"] or 0)}B" # rate and buffer count it, as captured
access = {{ rate = "{max(ACCESS_FACTOR * round(rate), 10**9)}bps" }}

# {why}
[topology.bottleneck]
rate = "{round(rate)}bps"
delay = "{_time(least_rtt_s / 4)}"
queue = {limit}

[tcp]
profile = "linux"
"""


def _queue(link: dict[str, Any]) -> tuple[str, str]:
    buffer = link["buffer"]
    if link["queue_kind"] == "aqm":
        return '{ kind = "codel" }', "The queue drops before it is full: CoDel stands for its AQM."
    if buffer is None:
        return '{ limit = "1bdp" }', "The capture does not show the buffer: one BDP stands for it."
    low, high = (1e3 * bound for bound in buffer["interval_s"])
    return (
        f'{{ limit = "{round(buffer["bytes"])}B" }}',
        f"The buffer is estimated: {low:.4g} ms to {high:.4g} ms.",
    )


def _long(flows: pl.DataFrame, duration_s: float) -> Iterator[str]:
    local = flows.select(LOCAL.alias("local"))["local"].to_list()
    for number, (flow, is_local) in enumerate(zip(flows.iter_rows(named=True), local, strict=True)):
        lasts = flow["start_s"] + flow["duration_s"] > ENDS_EARLY * duration_s
        size = "" if lasts else f', size = "{flow["bytes"]}B"'
        mss = flow["mss_bytes"] or MSS
        tcp = [f'mss = "{mss}B"']
        if flow["congestion_control"] in CONTROLS:
            tcp.insert(0, f'congestion_control = "{flow["congestion_control"]}"')
        if not is_local and (window := _window(flow)):
            tcp.append(f'receive_window = "{max(round(window), mss)}B"')
        yield f"""[[flow]] # {_comment(flow["name"])}, {flow["class"]}
name = "tcp{number}"
start = "{_time(flow["start_s"])}"
rtt = "{_time(flow["rtt_s"] or flow["rtt_min_s"] or 0.05)}"
workload = {{ kind = "bulk"{size} }}
tcp = {{ {", ".join(tcp)} }}
"""


def _window(flow: dict[str, Any]) -> float | None:
    """The window that lets a flow have what it had, in bytes; None if it is not known."""
    if flow["class"] == "receiver_window" and flow["max_window_bytes"]:
        return float(flow["max_window_bytes"])
    flight = flow["mean_flight_bytes"]
    return None if flight is None else float(flight)


def _short(flows: pl.DataFrame, duration_s: float) -> str:
    total = sum(flows["bytes"].to_list())
    mean, load = total // flows.height, round(8 * total / duration_s)
    rtts = flows["rtt_s"].drop_nulls().sort().to_list() or [0.05]
    return f"""[[flow]] # {flows.height} short flows
name = "short"
rtt = "{_time(rtts[len(rtts) // 2])}"
workload = {{ kind = "transfers", size = "{max(mean, 1)}B", load = "{max(load, 1)}bps" }}
"""


def _least_rtt(flows: pl.DataFrame) -> float:
    known = flows["rtt_s"].drop_nulls().to_list()
    return min(known, default=0.02)


def _comment(text: str) -> str:
    """A text that stays within its comment."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _time(seconds: float) -> str:
    """Whole microseconds."""
    return f"{max(round(seconds * 1e6), 1)}us"
