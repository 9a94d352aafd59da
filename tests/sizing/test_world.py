"""The answer over hosts that were not described."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from goodqueue.cli import run_command
from goodqueue.output.sizing.screen import over_hosts
from goodqueue.sizing import Effort, Link, rtt_range, size_link
from goodqueue.sizing.answer.parts import Change
from goodqueue.sizing.answer.world import World, by_theory, paired
from goodqueue.sizing.trials.hosts import hosts

pytestmark = pytest.mark.usefixtures("own_cache")

LINK = Link(50e6, rtt_range(0.02, 0.06), 20)


def test_each_host_differs_in_one_property_that_was_not_described() -> None:
    found = hosts(LINK)
    assert len(found) == 10
    for other in found.values():
        names = [name for name in Link.__slots__ if getattr(other, name) != getattr(LINK, name)]
        assert len(names) == 1, names
    described = replace(LINK, access_rate_bps=1e9, paced=True, ack_every=1, local_share=0.9)
    assert set(hosts(described)) == {
        "a fifth fewer flows",
        "a fifth more flows",
        "round trips a fifth shorter",
        "round trips a fifth longer",
        "30 % of the flows have BBR",
    }
    assert not any("0.3 times" in what for what in hosts(replace(LINK, flows=5)))


@pytest.mark.parametrize(
    ("rate_bps", "merged"), [(5e6, None), (8e6, None), (12e6, 4), (20e6, 6), (24e6, 8), (1e9, 8)]
)
def test_receivers_merge_what_arrives_within_an_aggregate(
    rate_bps: float, merged: int | None
) -> None:
    """A packet of 1500 bytes takes 2.4 ms at 5 Mb/s, and a Wi-Fi aggregate lasts 4 ms."""
    other = hosts(replace(LINK, rate_bps=rate_bps)).get("receivers merge ACKs")
    assert (None if other is None else other.ack_every) == merged


def test_flows_of_one_round_trip_are_tried_out_of_phase() -> None:
    """Their round trips differ by less than a packet takes, and keep their mean."""
    link = Link(37.15e6, (0.0276,), 23)
    (other,) = (one for what, one in hosts(link).items() if "differ by a packet" in what)
    assert other.mean_rtt_s == pytest.approx(link.mean_rtt_s)
    assert max(other.rtts_s) - min(other.rtts_s) == pytest.approx(link.packet_time_s)
    assert len(set(other.rtts_s)) == 16
    assert not any("differ by a packet" in what for what in hosts(LINK))
    assert not any("differ by a packet" in what for what in hosts(replace(link, flows=1)))


def test_an_answer_that_depends_on_the_phase_says_so() -> None:
    what = "round trips that differ by a packet's time"
    lines = over_hosts(World(38, {"senders pace": 40, what: 20}, "simulation"))
    assert any("equal round trips" in line and "20 packets" in line for line in lines)
    lines = over_hosts(World(38, {"senders pace": 40, what: 36}, "simulation"))
    assert not any("equal round trips" in line for line in lines)


def test_the_ratio_of_short_runs_multiplies_the_answer() -> None:
    changes = [Change("more", 30, None), Change("fewer", 15, None), Change("none", None, None)]
    found = paired(100, 20, changes, 3)
    assert found.buffers == {"more": 150, "fewer": 75, "none": None}
    assert (found.low, found.high, found.complete) == (75, None, True)
    assert not paired(100, 20, changes[:2], 3).complete


def test_a_device_gets_the_buffer_for_nine_tenths_of_the_hosts() -> None:
    buffers: dict[str, int | None] = {str(size): size for size in range(110, 200, 10)}
    assert World(100, buffers, "simulation").nine_tenths == 180
    assert World(100, {}, "theory").nine_tenths == 100


def test_theory_knows_that_fewer_flows_need_more_buffer() -> None:
    found = by_theory(LINK, 60)
    assert found is not None
    few, many = found.buffers["a fifth fewer flows"], found.buffers["a fifth more flows"]
    assert few is not None
    assert many is not None
    assert many < 60 < few


def test_an_answer_has_the_range_of_the_hosts_and_a_scenario_none() -> None:
    effort = Effort(queues=(), changes=False, rules=False)
    small = Link(5e6, (0.04,), 2)
    answer = size_link(small, effort)
    assert answer.buffer is not None
    assert answer.world is not None
    assert answer.world.low <= answer.buffer
    assert answer.device_packets is not None
    assert answer.device_packets >= answer.buffer
    exact = size_link(small, replace(effort, hosts=False))
    assert exact.world is None
    assert exact.buffer == answer.buffer == exact.device_packets


def test_hosts_exact_omits_the_range(capsys: pytest.CaptureFixture[str]) -> None:
    question = ["size", "--rate", "5Mbps", "--rtt", "40ms", "--flows", "2", "--only", "answer"]
    assert run_command([*question, "--json"]) == 0
    decision = json.loads(capsys.readouterr().out)["decision"]
    low, high = decision["world"]
    assert low <= decision["packets"]
    assert high is None or high >= decision["packets"]
    assert run_command([*question, "--hosts", "exact", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["decision"]["world"] == [None, None]
