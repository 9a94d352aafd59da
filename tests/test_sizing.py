"""Sizing real simulations whose answer is known in closed form."""

from __future__ import annotations

import math
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

import goodqueue
from goodqueue.errors import RequestError
from goodqueue.sizing.requirements import Requirements
from goodqueue.sizing.study import Sizing, default_jitter_s, size
from goodqueue.study.store import Store

if TYPE_CHECKING:
    from pathlib import Path

POISSON = """\
schema_version = 1
duration = "2000s"
[topology]
shape = "dumbbell"
[topology.bottleneck]
rate = "1Mbps"
delay = "1ms"
queue = { limit = "10p" }
[topology.queue]
limit = "unlimited"
[[flow]]
name = "packets"
workload = { kind = "poisson", rate = "900kbps", packet = "1000B" }
"""

RENO = """\
schema_version = 1
duration = "1200s"
warmup = "50%"
[topology]
shape = "dumbbell"
access = { rate = "1Gbps" }
[topology.bottleneck]
rate = "12Mbps"
delay = "50ms"
queue = { limit = "1bdp" }
[topology.queue]
limit = "unlimited"
[[flow]]
name = "long"
workload = { kind = "bulk" }
[tcp]
recovery = "sack"
mss = "1460B"
ack_every = 1
receive_window = "16MB"
initial_ssthresh = "75kB"
"""


def md1k_loss(load: float, room: int) -> float:
    """Loss of M/D/1 with so much room in the system, from the chain embedded at departures."""
    arrivals = [math.exp(-load)]
    for k in range(1, room + 1):
        arrivals.append(arrivals[-1] * load / k)
    # Unnormalised probabilities that a departure leaves so many behind.
    left = [1.0]
    for k in range(room - 1):
        inflow = left[0] * arrivals[k] + sum(left[i] * arrivals[k - i + 1] for i in range(1, k + 1))
        left.append((left[k] - inflow) / arrivals[0])
    empty = left[0] / sum(left)
    return 1 - 1 / (empty + load)


def test_the_closed_form_is_the_published_one() -> None:
    assert md1k_loss(0.9, 10) == pytest.approx(0.01663, rel=1e-3)
    assert md1k_loss(0.9, 20) == pytest.approx(0.001853, rel=1e-3)


def test_poisson_arrivals_need_the_room_that_md1k_says() -> None:
    scenario = goodqueue.load(POISSON)
    wanted = next(room for room in range(1, 100) if md1k_loss(0.9, room) <= 0.01)
    sizing = size(scenario, "bottleneck", Requirements(0.5, max_loss_rate=0.01), replicates=8)
    assert sizing.answer is not None
    assert sizing.answer.recommended is not None
    assert sizing.answer.binding == ("loss",)
    # A queue of so many waiting, and one in service beside them; the interval may ask for one more.
    assert sizing.answer.recommended.limit_packets - (wanted - 1) in {0, 1}
    by_limit = {point.limit_packets: point for point in sizing.points}
    for limit in (1, 2, 3, 4, 6, 9):
        measured = by_limit[limit].loss_rate
        exact = md1k_loss(0.9, limit + 1)
        standard_error = measured.half_width / 2.365  # t(0.975) with 7 degrees of freedom
        assert abs(measured.mean - exact) < 4 * standard_error


def test_a_long_reno_flow_needs_what_the_saw_tooth_says() -> None:
    # Half a BDP gives 27/28 = 0.9643 of the link (BDP 100 packets of 1500 B).
    scenario = goodqueue.load(RENO)
    sizing = size(scenario, "bottleneck", Requirements(0.9643), replicates=2, jitter_s=0.1)
    assert sizing.answer is not None
    assert sizing.answer.recommended is not None
    buffer = sizing.buffer(sizing.answer.recommended)
    assert buffer["limit_bdp"] == pytest.approx(0.5, abs=0.05)
    assert sizing.answer.binding == ("utilization",)


def test_a_limit_in_bytes_is_searched_in_bytes() -> None:
    scenario = goodqueue.load(POISSON, set={"topology.bottleneck.queue.limit": "10kB"})
    buffer = scenario.buffer("bottleneck", 7)
    assert buffer["counted_in_bytes"]
    assert (buffer["limit_bytes"], buffer["limit_packets"]) == (7000, 7)
    assert not goodqueue.load(POISSON).buffer("bottleneck", 7)["counted_in_bytes"]


def test_replicates_that_cannot_differ_are_said_to_be_equal() -> None:
    scenario = goodqueue.load(RENO, set={"duration": "60s", "warmup": "20s"})
    sizing = size(scenario, "bottleneck", Requirements(0.8), replicates=2, jitter_s=0)
    assert sizing.all_replicates_equal
    jittered = size(goodqueue.load(POISSON, set={"duration": "50s"}), "bottleneck",
                    Requirements(0.5), replicates=2)  # fmt: skip
    assert not jittered.all_replicates_equal


def test_starts_are_jittered_by_a_round_trip_unless_the_scenario_says_otherwise() -> None:
    scenario = goodqueue.load(RENO)
    assert default_jitter_s(scenario, "bottleneck") == pytest.approx(0.1)
    assert 'start_jitter = "100ms"' in scenario.with_default_jitter(0.1).resolved_toml()
    own = goodqueue.load(RENO, set={"flow.long.start_jitter": "3s"}).with_default_jitter(0.1)
    assert 'start_jitter = "3s"' in own.resolved_toml()


def test_an_interval_needs_two_replicates() -> None:
    with pytest.raises(RequestError):
        size(goodqueue.load(POISSON), "bottleneck", Requirements(), replicates=1)


def test_runs_that_are_kept_are_not_run_again(tmp_path: Path) -> None:
    scenario = goodqueue.load(POISSON, set={"duration": "50s"})

    def search() -> tuple[Sizing, int]:
        ran: list[int] = []
        with closing(Store.open(tmp_path / "runs")) as store:
            found = size(
                scenario, "bottleneck", Requirements(0.8), replicates=2, store=store,
                on_run=ran.append,
            )  # fmt: skip
        return found, len(ran)

    first, ran = search()
    again, ran_again = search()
    assert ran == 2 * len(first.points)
    assert ran_again == 0
    assert again.points == first.points
    results = goodqueue.Results(tmp_path / "runs")
    assert results.axes == ["bottleneck.limit_packets"]
    assert len(results) == ran
