"""The bottleneck of a file is where packets wait: its shaper, once the long flows have begun."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import ROOT
from goodqueue.errors import RequestError
from goodqueue.runs.api import load
from goodqueue.sizing import Asked, Effort, size_scenario
from goodqueue.sizing.trials.file import FileTrial, link_name
from goodqueue.sizing.trials.shaped import shaped_rate_bps

pytestmark = pytest.mark.usefixtures("own_cache")

HOME = """
schema_version = 1
title = "An upload behind a shaper"
duration = "30s"
warmup = "5s"

[topology]
shape = "dumbbell"
access = { rate = "10Gbps" }

[topology.bottleneck]
rate = "1Gbps"
delay = "5ms"
queue = { limit = "100p" }

[[flow]]
name = "upload"
rtt = "40ms"
workload = { kind = "bulk" }
"""

ONLY = Effort(16, queues=(), changes=False, rules=False)
BOTTLENECK = "topology.bottleneck.queue"


def trial(**changes: Any) -> FileTrial:  # noqa: ANN401 - values of a scenario
    given = {name.replace("__", "."): value for name, value in changes.items()}
    return FileTrial(load(HOME, set=given), "bottleneck", Asked())


SHAPERS = [
    {"kind": "tbf", "rate": "5Mbps", "burst": "3kB", "limit": "100p"},
    {"kind": "tbf", "rate": "5Mbps", "burst": "3kB", "queue": {"kind": "pie", "limit": "100p"}},
    {"kind": "cake", "bandwidth": "5Mbps", "limit": "100p"},
]


@pytest.mark.parametrize("queue", SHAPERS, ids=lambda queue: f"{queue['kind']}-{len(queue)}")
def test_the_rate_of_a_shaper_is_that_of_the_bottleneck(queue: dict[str, Any]) -> None:
    shaped = trial(topology__bottleneck__queue=queue)
    assert shaped.link.rate_bps == 5e6
    assert shaped.link.bdp_packets == pytest.approx(5e6 * 0.04 / 8 / 1500)
    assert any("shapes to 5 Mb/s" in note for note in shaped.notes)
    # 40 ms are 16.7 packets. A CUBIC flow fills the shaped rate with less, never a gigabit.
    answer = size_scenario(HOME, Asked(0.7), ONLY, set={BOTTLENECK: queue})
    assert answer.buffer is not None
    assert 1 < answer.buffer < 40
    assert answer.interval(answer.buffer, "utilization").mean >= 0.7


def test_a_shaper_above_its_link_shapes_nothing() -> None:
    fast = {"kind": "tbf", "rate": "2Gbps", "burst": "3kB", "limit": "100p"}
    assert trial(topology__bottleneck__queue=fast).link.rate_bps == 1e9
    assert trial(topology__bottleneck__queue={"kind": "cake"}).link.rate_bps == 1e9
    assert trial().link.rate_bps == 1e9


def test_a_varying_rate_counts_with_its_mean() -> None:
    scenario = load(str(ROOT / "scenarios" / "cellular.toml"))
    own = FileTrial(scenario, "bottleneck", Asked())
    assert own.link.rate_bps == (0 + 2e6 + 8e6 + 20e6) / 4


def test_the_measurement_begins_when_the_long_flows_have_begun() -> None:
    late = trial(topology__bottleneck__rate="5Mbps", flow__upload__start="20s")
    scenario = late.scenario(late.link, 10)
    assert (scenario.warmup_s, scenario.duration_s) == (25, 50)
    assert any("starts after 20 s" in note for note in late.notes)
    early = trial(topology__bottleneck__rate="5Mbps", flow__upload__start="4s")
    assert early.scenario(early.link, 10).warmup_s == 5


def test_every_ready_scenario_is_sized_by_the_rate_at_which_packets_leave() -> None:
    shaped = 0
    for path in sorted((ROOT / "scenarios").glob("*.toml")):
        scenario = load(str(path))
        try:
            name = link_name(scenario, None)
        except RequestError:  # It has several links.
            continue
        own = FileTrial(scenario, name, Asked())
        rate_bps = shaped_rate_bps(scenario, name)
        shaped += rate_bps is not None
        assert own.link.rate_bps == (rate_bps or scenario.buffer(name, 1)["rate_bps"]), path
        assert own.meter(own.link).whole <= 1
    assert shaped >= 1
