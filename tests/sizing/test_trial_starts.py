"""Flows that start near their stationary windows: measured figures equal those of long runs."""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from statistics import fmean, variance
from typing import TYPE_CHECKING

import pytest
from scipy import stats

from goodqueue._core import grid
from goodqueue.runs.settings import scenario_of
from goodqueue.sizing.link import Link, as_in_theory, rtt_range
from goodqueue.sizing.search.bounds import targets
from goodqueue.sizing.search.reach import first_reach
from goodqueue.sizing.trials.described import settings, tail_drop
from goodqueue.sizing.trials.length import Extent, Length, length

if TYPE_CHECKING:
    from collections.abc import Sequence

LINKS = {
    "few flows": Link(20e6, (0.04,), 4),
    "many flows": Link(100e6, rtt_range(0.01, 0.12), 60),
    "large windows": Link(80e6, rtt_range(0.05, 0.15), 5),
    "Reno": as_in_theory(Link(20e6, (0.04,), 10)),
    "many of Reno": as_in_theory(Link(50e6, rtt_range(0.02, 0.1), 40)),
    "three quarters local": Link(50e6, rtt_range(0.02, 0.1), 20, local_share=0.75),
    "ABE": Link(30e6, rtt_range(0.02, 0.1), 12, congestion_control="abe"),
    "Scalable TCP": Link(40e6, (0.08,), 4, congestion_control="scalable"),
}
"""Links whose figures are compared at three tenths of a bandwidth-delay product."""

FIGURES = ("utilization", "loss_rate", "p99_delay_s")

SLACK = {"utilization": 0.002, "loss_rate": 0.03, "p99_delay_s": 0.01}
"""Allowed differences of expectations: points of utilisation, and shares of loss and delay."""

CHANCE = 1e-3
"""Probability of a false alarm in each comparison."""


def figures(link: Link, packets: int, reach: Length, seeds: range) -> dict[str, list[float]]:
    """Returns the figures of replicates of this length."""
    described = scenario_of(settings(link, packets, tail_drop(packets), reach), "the link")

    def run(seed: int) -> dict[str, float]:
        outcome = described.with_seed(seed).run(series=False, packets=False)
        summary = json.loads(outcome.summary_json())["links"]["bottleneck"]
        return {
            "utilization": summary["utilization"],
            "loss_rate": summary["loss_rate"],
            "p99_delay_s": summary["p99_queueing_delay_s"],
        }

    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(run, seeds))
    return {name: [one[name] for one in found] for name in FIGURES}


def apart(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, float]:
    """Returns the difference of means, and its half width by Welch's test."""
    squares = [variance(one) / len(one) for one in (ours, theirs)]
    freedom = min(len(ours), len(theirs)) - 1
    half = stats.t.isf(CHANCE / 2, freedom) * math.sqrt(sum(squares))
    return fmean(ours) - fmean(theirs), half


@pytest.mark.parametrize("name", LINKS)
def test_short_starts_leave_no_bias(name: str) -> None:
    """Replicates of ten loss epochs, shortened for a small budget, agree with cold runs."""
    link = LINKS[name]
    packets = max(round(0.3 * link.bdp_packets), 6)
    short = length(link, packets, Extent(share=0.5))
    assert short.warm
    cold = length(link, packets, cold=True)
    epoch = (cold.duration_s - cold.start_up_s) / 20
    start_up = max(25 * epoch, 40 * max(link.rtts_s))
    long = replace(cold, start_up_s=start_up, duration_s=start_up + 40 * epoch)
    assert short.start_up_s < start_up / 2
    ours = figures(link, packets, short, range(1, 25))
    theirs = figures(link, packets, long, range(101, 113))
    for figure in FIGURES:
        scale = 1.0 if figure == "utilization" else fmean(theirs[figure])
        difference, half = apart(ours[figure], theirs[figure])
        assert abs(difference) <= half + SLACK[figure] * scale, (figure, difference, half)


def test_a_measured_cold_start_changes_the_loss() -> None:
    """Without a start-up the losses of slow start count, so the comparison above can fail."""
    link = LINKS["many flows"]
    packets = round(0.3 * link.bdp_packets)
    warm = length(link, packets, Extent(share=0.5))
    long = replace(warm, start_up_s=20.0, duration_s=40.0)
    at_once = replace(warm, start_up_s=1e-6, duration_s=3.0, warm=False)
    ours = figures(link, packets, at_once, range(1, 17))
    theirs = figures(link, packets, long, range(101, 109))
    difference, half = apart(ours["loss_rate"], theirs["loss_rate"])
    assert difference > half + SLACK["loss_rate"] * fmean(theirs["loss_rate"])


@pytest.mark.parametrize(
    "link",
    [
        Link(20e6, (0.04,), 4),
        as_in_theory(Link(20e6, (0.04,), 10)),
        Link(20e6, rtt_range(0.02, 0.1), 20, max_loss_rate=0.03),
    ],
    ids=["few flows", "Reno", "many flows"],
)
def test_the_smallest_buffer_is_the_same(link: Link) -> None:
    """The means of 64 short and of 32 long cold replicates agree within a step of the grid."""
    helped, _ = targets(link)
    points = grid(2 * first_reach(link))

    def keeps(packets: int, *, cold: bool) -> bool:
        reach = length(link, packets, Extent(share=0.5), cold=cold)
        if cold:
            more = 4 * reach.start_up_s
            reach = replace(reach, start_up_s=more, duration_s=3 * more)
        found = figures(link, packets, reach, range(1, 33 if cold else 65))
        return all(target.met_by(fmean(found[target.figure])) for target in helped)

    def smallest(*, cold: bool) -> int:
        return bisect_left(points, True, key=lambda packets: keeps(packets, cold=cold))

    warm, cold = smallest(cold=False), smallest(cold=True)
    assert points[0] < points[cold] < points[-1]
    assert abs(warm - cold) <= 1, (points[warm], points[cold])
