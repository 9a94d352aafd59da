"""A link that no buffer fills is sized for bursts: by drops of its full queue."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from goodqueue.output.sizing.verdict import verdict
from goodqueue.sizing import Asked, Effort, Link, size_link, size_scenario
from goodqueue.sizing.search.filled import offered_share
from goodqueue.sizing.trials.meter import OF_LINK, Meter

if TYPE_CHECKING:
    from goodqueue.runs.settings import Overrides
    from goodqueue.sizing.answer.answer import Answer

pytestmark = pytest.mark.usefixtures("own_cache")

LINK = """
schema_version = 1
title = "A link beside other limits"
duration = "20s"
warmup = "2s"

[topology]
shape = "dumbbell"
access = { rate = "100Mbps" }

[topology.bottleneck]
rate = "10Mbps"
delay = "5ms"
queue = { limit = "100p" }

[tcp]
profile = "linux"
congestion_control = "cubic"

[[flow]]
name = "upload"
count = 2
rtt = "40ms"
workload = { kind = "bulk" }
"""

ONLY = Effort(16, queues=(), changes=False, rules=False)
SMALL = {"tcp.receive_window": "15kB"}
"""Two windows of 10 packets per 40 ms are 6 Mb/s."""


def size(asked: Asked | None = None, set: Overrides = ()) -> Answer:  # noqa: A002 - as in the API
    return size_scenario(LINK, asked or Asked(), ONLY, set=set)


def test_small_windows_are_sized_for_bursts() -> None:
    answer = size(set=SMALL)
    assert answer.link.for_bursts
    assert not answer.by_rule
    assert any("no buffer fills this link" in note and "windows" in note for note in answer.notes)
    assert answer.buffer is not None
    assert 1 < answer.buffer <= 20  # Both windows at once are 20 packets.
    assert answer.interval(answer.buffer, "loss_rate").mean <= 0.001
    least = answer.link.min_utilization  # 98 % of two windows of 10 packets per round trip
    assert least == pytest.approx(0.98 * 0.58, rel=0.05)
    assert answer.interval(answer.buffer, "utilization").mean >= least


def test_random_loss_does_not_count_as_loss_of_the_queue() -> None:
    answer = size(set={"topology.bottleneck.loss": {"probability": "2%"}})
    assert answer.link.for_bursts
    assert answer.buffer is not None
    assert answer.interval(answer.buffer, "loss_rate").mean < 0.002


def test_traffic_without_long_flows_is_sized_for_bursts() -> None:
    short = {"flow.upload.workload": {"kind": "transfers", "size": "20kB", "load": "2Mbps"}}
    answer = size(set=short)
    assert answer.page is None
    assert answer.link.for_bursts


def test_a_bound_that_the_user_chose_is_kept() -> None:
    answer = size(Asked(min_utilization=0.9), SMALL)
    assert not answer.link.for_bursts
    assert answer.buffer is None
    assert answer.why_impossible is not None


def test_a_link_that_its_flows_fill_is_sized_for_them() -> None:
    answer = size()
    assert not answer.link.for_bursts
    assert answer.buffer is not None
    assert answer.interval(answer.buffer, "utilization").mean >= 0.98


def test_the_loss_of_a_full_queue_is_a_share_of_the_arrivals() -> None:
    values = dict.fromkeys(OF_LINK, 0.0) | {"drops": 2.0, "arrivals": 100.0, "loss_rate": 0.5}
    meter = Meter("bottleneck", {}, of_overflow=True)
    assert meter.figures(list(values.values()))["loss_rate"] == 0.02
    assert Meter("bottleneck", {}).figures(list(values.values()))["loss_rate"] == 0.5


@pytest.mark.parametrize(
    ("link", "why"),
    [
        (Link(10e6, (0.03,), 3, access_rate_bps=2e6), "its hosts have slower links"),
        (Link(10e6, (0.03,), 3, max_window_packets=6.0), "windows of at most 6 packets"),
    ],
)
def test_a_described_link_that_its_hosts_cannot_fill_is_sized_for_bursts(
    link: Link, why: str
) -> None:
    answer = size_link(link, ONLY)
    assert answer.link.for_bursts
    assert any(why in note for note in answer.notes)
    assert answer.buffer is not None
    assert 1 <= answer.buffer <= 20
    assert answer.world is not None
    assert answer.world.high is not None, "other hosts need not keep the same utilisation"
    assert not any("loss epochs per flow instead" in line for line in verdict(answer))


def test_hosts_that_fill_a_described_link_are_sized_as_before() -> None:
    assert offered_share(Link(10e6, (0.03,), 3)) == math.inf
    assert offered_share(Link(10e6, (0.03,), 3, access_rate_bps=5e6)) == 1.5
    assert offered_share(Link(12e6, (0.1,), 4, max_window_packets=10.0)) == pytest.approx(0.4)
    answer = size_link(Link(10e6, (0.03,), 3, access_rate_bps=5e6), ONLY)
    assert not answer.link.for_bursts
