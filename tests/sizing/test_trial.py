"""Simulation of a link that is only described."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from statistics import fmean

import pytest

from goodqueue.runs.settings import scenario_of
from goodqueue.sizing.link import Link, as_in_theory, rtt_range
from goodqueue.sizing.trials.described import SHORT_PACKETS, LinkTrial, settings, tail_drop
from goodqueue.sizing.trials.length import Extent, epoch_s, length, peak_windows, rtts_of_flows


def link(**changes: object) -> Link:
    """Returns a link of 20 Mb/s, 20 to 100 ms, 20 flows."""
    given: dict[str, object] = {"rate_bps": 20e6, "rtts_s": rtt_range(0.02, 0.1), "flows": 20}
    return Link(**{**given, **changes})  # type: ignore[arg-type]


def summary(its_link: Link, packets: int) -> dict[str, dict[str, dict[str, float]]]:
    described = settings(its_link, packets, tail_drop(packets), length(its_link, packets))
    outcome = scenario_of(described, "the link").run(series=False, packets=False)
    return json.loads(outcome.summary_json())  # type: ignore[no-any-return]


def test_loss_epochs_have_the_length_of_the_saw_tooth() -> None:
    # One Reno flow, delayed ACKs: W/2 = 50 round trips of 2 x 100 ms, with B = 0 and W = 100.
    one = as_in_theory(Link(12e6, (0.1,), 1))
    assert epoch_s(one, 0) == pytest.approx(10.0)
    # CUBIC at W = 1000: cbrt(750) s = 9.1 s, before Reno's 100 s.
    fast = Link(120e6, (0.1,), 1)
    assert epoch_s(fast, 0) == pytest.approx(9.086, abs=1e-3)
    # ABE halves its window after a loss, as Reno does, and grows by a packet per round trip.
    # Scalable TCP takes 13.4 round trips.
    abe = Link(12e6, (0.1,), 1, congestion_control="abe")
    assert epoch_s(abe, 0) == pytest.approx(5)
    scalable = Link(120e6, (0.1,), 1, congestion_control="scalable")
    assert epoch_s(scalable, 0) == pytest.approx(1.34)


def test_the_start_up_contains_three_round_trips_and_an_epoch() -> None:
    """The start-up has three round trips and an epoch of 10 s; 20 epochs are measured."""
    one = as_in_theory(Link(12e6, (0.1,), 1))
    start_up = 3 * 0.1 + 10
    assert length(one, 0).start_up_s == pytest.approx(start_up)
    assert length(one, 0).duration_s == pytest.approx(start_up + 200)
    half = length(one, 0, Extent(share=0.5))
    assert half.start_up_s == pytest.approx(start_up)
    assert half.duration_s == pytest.approx(start_up + 100)
    # With up to four flows ten epochs are measured at least, with more five.
    assert length(one, 0, Extent(share=1e-6)).duration_s == pytest.approx(start_up + 100)
    five = length(as_in_theory(Link(60e6, (0.1,), 5)), 0, Extent(share=1e-6))
    assert five.duration_s == pytest.approx(start_up + 50)
    # If epochs are short, the start-up has 30 of the longest round trips, and the measured part at
    # least as many.
    many = Link(100e6, (0.02, 0.1), 500)
    assert length(many, 0).start_up_s == pytest.approx(3.3)
    assert length(many, 0, Extent(share=1e-6)).duration_s == pytest.approx(6.6)
    # BBR starts with a small window: five of its ten-second cycles.
    assert length(Link(12e6, (0.1,), 1, congestion_control="bbr"), 0).start_up_s == 50


def test_windows_at_the_start_share_link_and_buffer() -> None:
    """One flow fills link and buffer at its peak; many flows share both by their mean windows."""
    one = as_in_theory(Link(12e6, (0.1,), 1))
    assert peak_windows(one, 50) == pytest.approx((150,))
    many = as_in_theory(Link(120e6, (0.1,), 10_000))
    assert peak_windows(many, 500)[0] * 10_000 == pytest.approx(1500 / 0.75, rel=0.01)
    # Reno's window does not depend on its round trip, so rates are proportional to 1/RTT.
    spread = as_in_theory(link(flows=18))
    assert len(set(peak_windows(spread, 20))) == 1
    # A large CUBIC window depends on its round trip, with an exponent between those of random and
    # simultaneous losses.
    large = Link(1e9, (0.02, 0.1), 2)
    short, long = peak_windows(large, 1000)
    assert 1 < long / short < ((0.1 + 0.012) / (0.02 + 0.012)) ** 0.75
    # No window is larger than its receiver or its access link allows.
    bound = Link(12e6, (0.1,), 1, max_window_packets=20)
    assert peak_windows(bound, 50) == (20,)
    slow = Link(12e6, (0.1,), 1, access_rate_bps=1.2e6)
    assert peak_windows(slow, 0)[0] == pytest.approx(10)


def test_a_simulated_saw_tooth_takes_the_expected_time() -> None:
    one = as_in_theory(Link(12e6, (0.1,), 1))
    bottleneck = summary(one, 50)["links"]["bottleneck"]
    # Twenty epochs were required. With a single flow each burst of losses is an epoch.
    assert 14 <= bottleneck["loss_bursts"] <= 30


def test_each_kind_of_other_traffic_has_its_share() -> None:
    """The other traffic has 20 %: 8 % behind another link, 8 % by windows, 4 % short transfers."""
    mixed = link(rate_bps=50e6, local_share=0.8, flows=40)
    reach = length(mixed, 100)
    measured = reach.duration_s - reach.start_up_s
    found = summary(mixed, 100)
    shares = dict.fromkeys(("long", "remote", "window-limited", "short"), 0.0)
    for name, flow in found["flows"].items():
        shares[name.split(".")[0]] += flow["throughput_bps"] / mixed.rate_bps
    bottleneck = found["links"]["bottleneck"]
    # The shares add up to the total, except for packets on the path and in the queue at both ends
    # of the measurement.
    ends = (max(mixed.rtts_s) + mixed.seconds(100)) / measured
    assert sum(shares.values()) == pytest.approx(bottleneck["utilization"], rel=ends + 0.001)
    # A slower link and windows give upper bounds, except for these packets.
    for group in ("remote", "window-limited"):
        assert 0 < shares[group] < 0.08 * (1 + ends)
    # Transfers of exponential sizes arrive at random: k of them carry 1 +- sqrt(2 / k) of their
    # mean (k is Poisson, and the second moment of a size is twice its mean squared). All but one
    # run in 16,000 lie within 4 of these deviations. Losses are retransmitted.
    transfers = 0.04 * mixed.rate_bps * measured / (8 * SHORT_PACKETS * mixed.packet_bytes)
    spread = 4 * math.sqrt(2 / transfers)
    again = 1 / (1 - bottleneck["loss_rate"])
    assert 0.04 * (1 - spread) < shares["short"] < 0.04 * (1 + spread) * again
    # Flows that are limited elsewhere lose a little here, and leave the long flows more than 80 %.
    assert shares["long"] > bottleneck["utilization"] - 0.16 * (1 + ends) - 0.04 * (1 + spread)


@pytest.mark.parametrize("flows", [1, 2, 4, 9, 18, 20, 27, 40, 100])
def test_any_number_of_flows_has_the_requested_mean_round_trip(flows: int) -> None:
    its_link = link(rtts_s=rtt_range(0.02, 0.534), flows=flows)
    rtts = rtts_of_flows(its_link)
    taken = [rtts[flow % len(rtts)] for flow in range(flows)]
    # Parts of the list differ by one step of 18 at most, which shifts the mean by half of that.
    step = (0.534 - 0.02) / 17
    assert fmean(taken) == pytest.approx(its_link.mean_rtt_s, abs=step / 2)


def test_two_flows_of_a_range_have_the_means_of_its_halves() -> None:
    assert rtts_of_flows(link(rtts_s=(0.02, 0.04, 0.06, 0.08), flows=2)) == (0.03, 0.07)
    assert rtts_of_flows(link(rtts_s=(0.02, 0.08), flows=100)) == (0.02, 0.08)


@pytest.mark.parametrize("control", ["reno", "cubic", "abe", "scalable", "bbr"])
def test_every_control_uses_more_than_half_of_the_link(control: str) -> None:
    its_link = link(flows=4, congestion_control=control)
    bottleneck = summary(its_link, 40)["links"]["bottleneck"]
    assert 0.5 < bottleneck["utilization"] <= 1


def test_abe_differs_from_reno_only_if_packets_are_marked() -> None:
    """RFC 8511 changes the reaction to an ECN echo; a loss halves the window as before."""
    for queue, larger in [(None, 0.0), ("fq_codel", 0.03)]:
        busy = {
            control: utilization(link(flows=1, congestion_control=control), queue)
            for control in ("reno", "abe")
        }
        assert busy["abe"] - busy["reno"] >= larger
        assert larger > 0 or busy["abe"] == busy["reno"]


def utilization(its_link: Link, queue: str | None) -> float:
    outcome = LinkTrial().scenario(its_link, 10, queue).run(series=False, packets=False)
    return json.loads(outcome.summary_json())["links"]["bottleneck"]["utilization"]  # type: ignore[no-any-return]


def test_only_long_flows_are_simulated_if_all_traffic_is_local() -> None:
    described = settings(link(), 10, tail_drop(10), length(link(), 10))
    assert [flow["name"] for flow in described["flow"]] == ["long"]
    assert [one["name"] for one in described["topology"]["link"]] == ["bottleneck"]


def jitter(its_link: Link) -> object:
    described = settings(its_link, 20, tail_drop(20), length(its_link, 20))
    (flow,) = described["flow"]
    return flow.get("interface", {}).get("send_jitter")


def test_hosts_as_fast_as_the_link_have_the_jitter_of_a_kernel() -> None:
    assert jitter(link()) is None
    assert jitter(link(access_rate_bps=30e6)) is None
    assert jitter(link(access_rate_bps=20e6)) == {"law": "exponential", "mean": "15us"}
    near = Link(25e9, (50e-6,), 8, access_rate_bps=25e9)
    assert jitter(near) == {"law": "exponential", "mean": "5us"}


def test_jitter_of_equal_hosts_takes_their_packets_out_of_step() -> None:
    """Without it the loss is higher than that of hosts ten times as fast by a sixth."""
    fast = Link(1e9, rtt_range(0.01, 0.12), 300)
    equal = replace(fast, access_rate_bps=1e9)
    reference = rate_of_loss(fast)
    assert rate_of_loss(equal, jitter=False) / reference > 1.12
    assert rate_of_loss(equal) / reference == pytest.approx(1, abs=0.06)


def rate_of_loss(its_link: Link, *, jitter: bool = True) -> float:
    described = settings(its_link, 762, tail_drop(762), length(its_link, 762, Extent(share=0.1)))
    if not jitter:
        del described["flow"][0]["interface"]
    outcome = scenario_of(described, "the link").run(series=False, packets=False)
    found: float = json.loads(outcome.summary_json())["links"]["bottleneck"]["loss_rate"]
    return found
