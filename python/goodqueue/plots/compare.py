"""Pictures of scenarios side by side, over time: one line for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goodqueue.plots.over_time import picture, round_trips, throughput
from goodqueue.plots.panels import Line
from goodqueue.plots.runs import MAX_BINS, TO, rtt_flows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodqueue.plots.style import Picture
    from goodqueue.runs.results.result import Result


def pictures(results: Mapping[str, Result], links: Sequence[str]) -> list[Picture]:
    """Returns round-trip time, throughput and backlog over time, as far as the runs have them.

    Args:
        results: the run of each scenario under one seed, with its series and throughput, by its
            name.
        links: the link of each scenario whose backlog is drawn.
    """
    made = [
        _rtt(results),
        _throughput(results, "up", "throughput"),
        _throughput(results, "down", "throughput-down"),
        _backlog(results, links),
    ]
    return [picture for picture in made if picture is not None]


def _rtt(results: Mapping[str, Result]) -> Picture | None:
    flows = {name: rtt_flows(result)[0] for name, result in results.items() if rtt_flows(result)}
    if not flows:
        return None
    lines = [round_trips(results[name], flow, name) for name, flow in flows.items()]
    whose = ", ".join(dict.fromkeys(flows.values()))
    caption = f"Round-trip time of {whose} over time, {_seed(results)}."
    return picture("rtt", f"Round-trip time of {whose}", "round-trip time, ms", caption, lines)


def _throughput(results: Mapping[str, Result], way: str, name: str) -> Picture | None:
    """Returns the payload that reached the servers (`up`) or the clients (`down`) of all flows."""
    lines: list[Line] = []
    lengths, counts = set(), set()
    for side, result in results.items():
        if result.throughput is None:
            continue
        own = result.throughput.filter(pl.col("direction") == way)
        if own.is_empty():
            continue
        line, length_s = throughput(own, side, MAX_BINS)
        lines.append(line)
        lengths.add(f"{length_s:.3g} s")
        counts.add(own["flow"].n_unique())
    if not lines:
        return None
    flows = " or ".join(str(count) for count in sorted(counts))
    caption = (
        f"TCP or UDP payload that reached the {TO[way]}s, of {flows} "
        f"{'flow' if counts == {1} else 'flows together'}, as a mean over each "
        f"{' or '.join(sorted(lengths))}, {_seed(results)}."
    )
    title = f"Throughput to the {TO[way]}s"
    return picture(name, title, "payload received, Mbit/s", caption, lines)


def _backlog(results: Mapping[str, Result], links: Sequence[str]) -> Picture | None:
    held = {}
    for (name, result), link in zip(results.items(), links, strict=True):
        assert result.series is not None
        own = result.series.backlog.filter(pl.col("link") == link)
        if own.height:
            held[name] = own["time_s"].to_numpy(), own["backlog_packets"].to_numpy()
    end = max((float(times[-1]) for times, _ in held.values()), default=0.0)
    if not held:
        return None
    lines = [
        Line(name, *time_means(times, packets, end, MAX_BINS))
        for name, (times, packets) in held.items()
    ]
    where = ", ".join(dict.fromkeys(links))
    caption = (
        f"Packets waiting at {where} over time, without the one being sent, as a time-weighted "
        f"mean over each {end / MAX_BINS:.3g} s, {_seed(results)}."
    )
    return picture("backlog", f"Backlog of {where}", "packets waiting", caption, lines)


def time_means(
    times: np.ndarray, values: np.ndarray, end: float, bins: int
) -> tuple[list[float], list[float]]:
    """Returns time-weighted means in equal intervals from 0 to `end`, with the ends of these.

    Args:
        times: times of the changes; the quantity is 0 before the first change.
        values: values after the changes.
        end: end of the last interval.
        bins: the number of intervals.
    """
    changes = np.append(times, max(end, times[-1]))
    area = np.concatenate(([0.0], np.cumsum(values * np.diff(changes))))
    edges = np.linspace(0, end, bins + 1)
    means = np.diff(np.interp(edges, changes, area)) / (end / bins)
    return edges[1:].tolist(), means.tolist()


def _seed(results: Mapping[str, Result]) -> str:
    """Returns the common seed of all scenarios."""
    return f"seed {next(iter(results.values())).summary['seed']}"
