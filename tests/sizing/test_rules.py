"""Sizing rules: numbers computed by hand, and the assumptions that links break."""

from __future__ import annotations

import csv
import itertools
import math
from dataclasses import replace
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from conftest import ROOT
from evidence.validation.linux import deep as linux_deep
from evidence.validation.linux import recording as linux_recording
from goodqueue.errors import RequestError
from goodqueue.sizing.link import Link, rtt_range
from goodqueue.sizing.rules import RULES
from goodqueue.sizing.rules.loss import bscl, capacity_ratio
from goodqueue.sizing.rules.rule import Advice, loss_rate
from goodqueue.sizing.rules.smooth import core_to_access, small_queue, tiny
from goodqueue.sizing.rules.window import bdp, fluid, sqrt_n, window_decrease
from goodqueue.sizing.smoothing.formula import smoothing_packets
from helpers.closed_forms import sawtooth

TABLE_1 = ROOT / "python" / "goodqueue" / "papers" / "dhamdhere2005" / "table1.csv"


THEORY = {"congestion_control": "reno", "profile": "rfc", "byte_counting": False}
"""Settings of the TCP that the rules assume."""


def link(**changes: object) -> Link:
    """Returns the common example: 100 Mb/s, 80 ms, 1500 B: 666.7 packets; Reno by default."""
    return Link(**{"rate_bps": 100e6, "rtts_s": (0.08,), "flows": 1, **THEORY, **changes})  # type: ignore[arg-type]


def congested(flows: int, **changes: object) -> Link:
    """Returns a link of 50 Mb/s of which 90 % are local, T_e = 60 ms: C_e T_e = 225 packets."""
    given: dict[str, object] = {
        "rate_bps": 50e6,
        "rtts_s": (0.06,),
        "local_share": 0.9,
        "max_loss_rate": 0.01,
        "flows": flows,
        **THEORY,
    }
    return Link(**{**given, **changes})  # type: ignore[arg-type]


def test_the_common_example_has_the_printed_bandwidth_delay_product() -> None:
    assert link().bdp_packets == pytest.approx(666.7, abs=0.05)
    assert bdp.advise(link()).whole_packets == 666
    assert link().seconds(666.67) == pytest.approx(0.080, abs=1e-5)


@pytest.mark.parametrize(
    ("buffer", "utilization"),
    [(0, 0.75), (0.1, 0.8176), (0.25, 0.8929), (0.5, 0.9643), (0.75, 0.9932), (1, 1)],
)
def test_the_utilisation_of_one_saw_tooth_agrees_with_the_formula(
    buffer: float, utilization: float
) -> None:
    assert sawtooth(buffer) == pytest.approx(utilization, abs=6e-5)


def test_the_square_root_rule_and_its_bound_on_utilisation_have_the_printed_values() -> None:
    hundred, more = link(flows=100), link(flows=400)
    assert sqrt_n.advise(hundred).packets == pytest.approx(66.7, abs=0.05)
    assert sqrt_n.advise(more).packets == pytest.approx(33.3, abs=0.05)
    base = 2000 / 30
    for factor, expected in [(1, 0.9818), (2, 0.99998), (0.5, 0.784)]:
        assert sqrt_n.utilization_bound(hundred, factor * base) == pytest.approx(
            expected, abs=5.1e-4 if factor == 0.5 else 6e-5
        )
    assert sqrt_n.utilization_bound(more, base / 2) == pytest.approx(0.9867, abs=6e-5)


def test_the_stanford_column_of_table_1_follows_from_its_delay_column() -> None:
    with TABLE_1.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 19
    for row in rows:
        flows, ct = int(row["locally_bottlenecked_flows"]), int(row["ct_avg_packets"])
        its_link = Link(50e6, (ct * 12_000 / 50e6,), flows)
        assert sqrt_n.advise(its_link).whole_packets == int(row["stanford_packets"])


def test_table_1_has_the_shape_of_bscl_and_not_its_numbers() -> None:
    with TABLE_1.open(encoding="utf-8") as file:
        rows = [
            (int(row["locally_bottlenecked_flows"]), int(row["bscl_packets"]))
            for row in csv.DictReader(file)
        ]
    assert min(rows, key=lambda row: row[1])[0] == 17
    many = [row for row in rows if row[0] >= 40]
    mean_n = sum(n for n, _ in many) / len(many)
    mean_b = sum(b for _, b in many) / len(many)
    slope = sum((n - mean_n) * (b - mean_b) for n, b in many) / sum(
        (n - mean_n) ** 2 for n, _ in many
    )
    assert slope == pytest.approx(8.41, abs=0.02)
    # For each row the printed formula implies round-trip times that the topology does not have. By
    # B_p = K_p N - C_e T_e row 20 needs 15.7 ms, but the shortest round trip is 20 ms.
    needed = (bscl.packets_per_flow(0.01) * 20 - 115) * 12_000 / 45e6
    assert needed == pytest.approx(0.0157, abs=2e-4)


@pytest.mark.parametrize(
    ("flows", "packets"), [(5, 63.4), (20, 47.3), (30, 39.5), (50, 210), (100, 645)]
)
def test_bscl_gives_the_buffers_of_the_worked_example(flows: int, packets: float) -> None:
    assert bscl.bscl(congested(flows)).packets == pytest.approx(packets, abs=0.06)


def test_each_equation_of_bscl_has_the_value_computed_by_hand() -> None:
    assert bscl.packets_per_flow(0.01) == pytest.approx(8.7)
    assert bscl.packets_per_flow(0.02) == pytest.approx(6.15, abs=0.005)
    assert bscl.share_hit(5, 2.75) == pytest.approx(0.459, abs=6e-4)
    assert bscl.share_hit(30, 16.5) == pytest.approx(0.428, abs=6e-4)
    assert bscl.for_loss(congested(5), 0.01) == pytest.approx(-181.5, abs=0.01)
    assert bscl.for_loss(congested(30), 0.01) == pytest.approx(36.0, abs=0.01)
    assert bscl.partially_synchronized(congested(100), 55) == pytest.approx(-12, abs=0.5)
    # q tends to 1 - exp(-alpha), and B_rho + 2N(1-q)/(2-q) to a share of C_e T_e.
    for alpha, share in [(0.55, 0.268), (0.4, 0.197), (0.6, 0.291), (0.7, 0.336), (1, 0.462)]:
        q = bscl.share_hit(10**7, alpha * 10**7)
        assert q / (2 - q) == pytest.approx(share, abs=6e-4)


def test_bscl_falls_to_where_loss_takes_over_and_rises_from_there() -> None:
    for effective_rtt, fewest in [(0.034, 17), (0.060, 30)]:
        sizes = {
            flows: bscl.bscl(congested(flows, rtts_s=(effective_rtt,))).packets
            for flows in range(5, 401)
        }
        assert min(sizes, key=lambda flows: sizes[flows]) == fewest
        assert sizes[400] - sizes[399] == pytest.approx(8.7)


def test_bscl_takes_the_full_product_below_five_flows_and_at_least_one_packet() -> None:
    assert bscl.bscl(congested(4)).packets == pytest.approx(225)
    needs_none = congested(100, max_loss_rate=None)
    assert bscl.bscl(needs_none).for_utilization < 0
    assert bscl.bscl(needs_none).packets == 1


def test_bscl_states_if_the_bound_on_delay_allows_its_buffer() -> None:
    answer = bscl.bscl(congested(50, max_delay_s=0.0504))
    assert answer.most_for_delay == pytest.approx(210)
    assert answer.feasible
    refused = congested(50, max_delay_s=0.050)
    assert not bscl.bscl(refused).feasible
    assert any("50.4" in note for note in bscl.advise(refused).notes)
    # The inverse of (18): 25.9 flows keep 1 % without a buffer, 50 with 210 packets.
    assert bscl.most_flows(congested(1), 0.01) == pytest.approx(25.86, abs=0.01)
    assert bscl.most_flows(congested(1), 0.01, 210) == pytest.approx(50.0, abs=0.01)


def test_the_effective_round_trip_is_the_harmonic_mean() -> None:
    # T/N .. T in N steps: about T/(ln N + 1); with 1000 flows T/7.9.
    steps = tuple((index + 1) / 1000 for index in range(1000))
    assert 1 / link(rtts_s=steps).harmonic_rtt_s == pytest.approx(7.9, rel=0.06)
    assert link(rtts_s=(0.02, 0.06)).harmonic_rtt_s == pytest.approx(0.03)


def test_tiny_buffers_have_the_values_computed_by_hand() -> None:
    assert tiny.buffer_packets(0.75, 64, 0.75) == pytest.approx(31.3, abs=0.05)
    assert tiny.buffer_packets(0.9, 64, 0.9) == pytest.approx(94.2, abs=0.1)


def test_each_control_needs_the_buffer_of_its_window_decrease() -> None:
    for control, packets in [("reno", 666.7), ("cubic", 285.7), ("abe", 666.7), ("bbr", 166.7)]:
        advice = window_decrease.advise(link(congestion_control=control))
        assert advice.packets == pytest.approx(packets, abs=0.06)
    assert window_decrease.bdps(0.875) == pytest.approx(0.1429, abs=5e-5)


def test_small_queues_lose_what_kleinrocks_formulas_give() -> None:
    for places, loss in [(10, 0.0508), (20, 0.01365), (50, 5.18e-4)]:
        assert small_queue.mm1k_loss(0.9, places) == pytest.approx(loss, rel=1e-3)
    assert small_queue.mm1k_loss(1, 20) == pytest.approx(0.0476, abs=5e-5)
    losses = list(islice(small_queue.md1k_losses(0.9), 50))
    for places, loss in [(10, 0.01663), (20, 0.001853), (50, 3.65e-6)]:
        assert losses[places - 1] == pytest.approx(loss, rel=2e-3)


def test_a_queue_of_packets_of_one_size_is_exact_however_rare_its_losses() -> None:
    """The loss of a long queue falls by e^-s per place, where s > 0 solves r (e^s - 1) = s."""
    load = 0.98
    rate = brentq(lambda s: load * math.expm1(s) - s, 0.01, 1)
    losses = list(islice(small_queue.md1k_losses(load), 2000))
    assert losses[-1] < 1e-30
    for first, second in itertools.pairwise(losses[400:]):
        assert math.log(first / second) == pytest.approx(rate, rel=1e-4)
    wanted = small_queue.least_places(small_queue.md1k_losses(load), 1e-6)
    assert wanted is not None
    assert losses[wanted - 1] <= 1e-6 < losses[wanted - 2]
    assert wanted > 200


def test_a_saturated_queue_loses_one_packet_in_twice_its_places() -> None:
    """A long M/D/1/K at a load of 1 loses 1/(2K): a Brownian motion between two barriers.

    None of 10,000 places loses as little as one in a million.
    """
    wanted = small_queue.least_places(small_queue.md1k_losses(1.0), 1e-3)
    assert wanted == pytest.approx(500, abs=2)
    assert small_queue.least_places(small_queue.md1k_losses(1.0), 1e-6) is None


def test_ratios_of_capacity_give_the_published_buffers_and_probabilities() -> None:
    for exponent, share in [(0.3, 0.18), (0.5, 0.33), (1.0, 1.0)]:
        assert capacity_ratio.best_bdps(exponent) == pytest.approx(share, abs=0.005)
    for ratio, probability in [(2, 0.217), (5, 0.215), (10, 0.184), (50, 0.053)]:
        assert core_to_access.overload_probability(ratio, 0.8) == pytest.approx(
            probability, abs=6e-4
        )
    # Chernoff: P(N >= x) <= e^(x - m) (m/x)^x, and the first term beyond is a lower bound.
    mean, most = 800.0, 1001
    lower = math.exp(most * math.log(mean) - mean - math.lgamma(most + 1))
    overload = core_to_access.overload_probability(1000, 0.8)
    assert lower <= overload <= math.exp(most - mean + most * math.log(mean / most))


def test_the_fluid_model_has_its_equilibrium_and_its_stability_bound() -> None:
    at = fluid.equilibrium(20, 20)
    assert at.load == pytest.approx(0.786, abs=5e-4)
    assert at.loss_rate == pytest.approx(0.0080, abs=1e-4)
    assert at.window == pytest.approx(15.7, abs=0.05)
    for window, packets, stable in [
        (20, 20, True),
        (20, 30, False),
        (10, 10, True),
        (10, 20, False),
        (50, 50, True),
        (50, 100, False),
    ]:
        assert fluid.is_stable(window, packets) is stable


def test_smoothing_buffers_agree_with_the_formula() -> None:
    assert smoothing_packets(50, 0.2, 1 / 8) == pytest.approx(27.8, abs=0.05)
    # With the friendly increase 3b/(2 - b), which is 1 for a half, it is a (R T)^2 / 18.
    assert smoothing_packets(50, 1, 0.5) == pytest.approx(2500 / 18)


def recorded_behind_deep_buffers() -> list[linux_recording.Recording]:
    return [one for one in linux_deep.recordings() if one.control == "cubic"]


def recorded_link(recording: linux_recording.Recording) -> Link:
    path = (recording.rate_bps, (recording.rtt_ms / 1e3,), recording.flows)
    return Link(*path, congestion_control="cubic", max_loss_rate=0.01)


@pytest.mark.parametrize("recording", recorded_behind_deep_buffers(), ids=lambda one: one.name)
def test_loss_of_cubic_is_that_of_linux(recording: linux_recording.Recording) -> None:
    estimate = loss_rate(recorded_link(recording), recording.limit)
    assert recording.figures["loss"] / 1.6 < estimate < 1.6 * recording.figures["loss"]


def test_more_buffer_does_not_promise_less_loss_to_cubic_where_linux_has_none() -> None:
    """Linux 6.18 lost 2.19, 2.07 and 2.90 % behind 291, 800 and 1745 packets."""
    first, second, deepest = recorded_behind_deep_buffers()
    its_link = recorded_link(first)
    estimates = [loss_rate(its_link, one.limit) for one in (first, second, deepest)]
    assert estimates[0] < estimates[1] < estimates[2]
    assert min(loss_rate(its_link, limit) for limit in range(300, 20_000, 100)) > 0.01
    reno = replace(its_link, congestion_control="reno")
    assert loss_rate(reno, deepest.limit) == pytest.approx((0.87 * 40 / (1745 + 425 / 3)) ** 2)


def test_loss_of_cubic_with_short_round_trips_is_that_of_the_reno_friendly_region() -> None:
    """RFC 9438, Table 2, round trips of 10 ms: windows of 12, 38 and 120 at 10^-2, 10^-3, 10^-4."""
    for window, loss in [(12, 1e-2), (38, 1e-3), (120, 1e-4)]:
        packets_per_s = 100 * window / 0.01
        its_link = Link(12_000 * packets_per_s, (0.001,), 100, congestion_control="cubic")
        assert loss_rate(its_link, 0.009 * packets_per_s) == pytest.approx(loss, rel=0.1)


@pytest.mark.parametrize(
    ("rule", "its_link", "words"),
    [
        ("bdp", link(flows=100, rtts_s=(0.02, 0.1)), "do not halve at once"),
        ("bdp", link(congestion_control="cubic"), "a smaller buffer suffices"),
        ("bdp", link(flows=400), "timeouts"),
        ("sqrt_n", link(flows=4, rtts_s=(0.05, 0.1)), "number of flows (4) is too small"),
        ("sqrt_n", link(flows=64), "in step"),
        ("sqrt_n", link(flows=64, rtts_s=(0.05, 0.1)), "do not pace"),
        ("sqrt_n", link(flows=100, rtts_s=(0.02, 0.1), max_loss_rate=0.001), "bound loss"),
        ("bscl", congested(40, local_share=0.5), "80 %"),
        ("bscl", congested(40, max_loss_rate=0.1), "timeouts dominate"),
        ("bscl", congested(40, byte_counting=True), "twice"),
        ("sqrt_n", link(flows=400, congestion_control="cubic"), "derived for Reno"),
        # (16) gives 11.6 packets there, and pairs at random leave a link idle for 2/23 of the time.
        ("bscl", link(flows=10, rate_bps=20e6, rtts_s=(0.04,)), "idle for 8.6%"),
        ("bscl", link(flows=40, rate_bps=1e9, min_utilization=1.0), "claimed for 98 %"),
        ("bdp", link(flows=200, max_loss_rate=0.01), "bound loss; with 200 flows about 1.70%"),
        ("window_decrease", link(flows=400), "timeouts"),
        ("window_decrease", link(congestion_control="bbr", max_loss_rate=0.01), "the loss of BBR"),
        ("tiny", link(flows=100), "burst"),
        ("capacity_ratio", link(flows=10), "inputs"),
        ("core_to_access", link(flows=10), "access"),
        ("core_to_access", link(flows=10, access_rate_bps=50e6), "only 2 times"),
        ("mm1k", link(flows=10, max_loss_rate=0.01), "Poisson"),
        ("fluid_stability", link(flows=10), "too small for a fluid model"),
        ("vendor_500ms", link(max_delay_s=0.1), "above the bound"),
        ("claim_3_6_packets", link(), "uplink of 1 Mb/s"),
        ("claim_5_10_kB", link(), "0.05 to 0.5"),
        ("claim_5_10_packets", link(), "0.05 to 0.5"),
        ("flow_proportional", link(flows=2), "idle"),
        ("window_decrease", link(flows=50, rtts_s=(0.02, 0.1)), "out of step"),
    ],
)
def test_broken_assumptions_are_named(rule: str, its_link: Link, words: str) -> None:
    found = next(one for one in RULES if one.name == rule)
    assert any(words in sentence for sentence in found.advise(its_link).broken)


@pytest.mark.parametrize(
    ("rule", "its_link"),
    [
        ("bdp", link()),
        ("sqrt_n", link(flows=64, rtts_s=(0.05, 0.1), paced=True)),
        ("sqrt_n", link(flows=64, rtts_s=(0.05, 0.1), rate_bps=1e9)),
        ("window_decrease", link(congestion_control="cubic")),
        ("bscl", congested(40)),
        ("bscl", link(flows=300, rate_bps=50e6, rtts_s=(0.05,), max_loss_rate=0.01)),
        ("tiny", link(flows=100, paced=True, min_utilization=0.8)),
        ("capacity_ratio", link(flows=10, input_rate_bps=1e9)),
        ("core_to_access", link(flows=10, access_rate_bps=1e6, min_utilization=0.8)),
        ("claim_3_6_packets", Link(1e6, (0.02,), 1)),
        ("claim_5_10_kB", Link(0.5e6, (0.1,), 3, packet_bytes=592)),
        ("claim_5_10_packets", Link(0.5e6, (0.1,), 3, packet_bytes=592)),
    ],
)
def test_no_assumption_is_named_if_all_hold(rule: str, its_link: Link) -> None:
    found = next(one for one in RULES if one.name == rule)
    assert found.advise(its_link).broken == ()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rtts_s": (-0.1,)}, "round-trip time"),
        ({"rtts_s": ()}, "round-trip time"),
        ({"rate_bps": 0}, "1bps"),
        ({"flows": -1}, "negative"),
        ({"max_loss_rate": 0.0}, "loss of 0%"),
        ({"max_delay_s": 1e-4}, "no packet to wait"),
        ({"rate_bps": 10e3, "flows": 10**6}, "timeouts"),
        ({"min_utilization": 1.1}, "at most 100%"),
        ({"congestion_control": "cubik"}, "they know reno, cubic"),
        ({"packet_bytes": 10}, "40B"),
        ({"local_share": 0}, "above 0%"),
    ],
)
def test_impossible_values_are_refused(changes: dict[str, object], words: str) -> None:
    with pytest.raises(RequestError, match=words):
        link(**changes)


def test_a_range_of_round_trips_has_eighteen_even_steps() -> None:
    steps = rtt_range(0.020, 0.534)
    assert len(steps) == 18
    assert (steps[0], steps[-1]) == (0.020, 0.534)
    assert rtt_range(0.02, 0.02) == (0.02,)
    with pytest.raises(RequestError):
        rtt_range(0.5, 0.02)


@given(
    path=st.tuples(st.floats(1e5, 1e11), st.floats(0.001, 0.6), st.integers(1, 2000)),
    loss=st.none() | st.floats(1e-4, 0.2),
    utilization=st.floats(0.5, 1.0),
    control=st.sampled_from(["reno", "cubic", "abe", "scalable", "bbr"]),
)
def test_every_rule_answers_every_link(
    path: tuple[float, float, int], loss: float | None, utilization: float, control: str
) -> None:
    rate, rtt, flows = path
    try:
        its_link = Link(
            rate,
            (rtt, 2 * rtt),
            flows,
            min_utilization=utilization,
            max_loss_rate=loss,
            congestion_control=control,
        )
    except RequestError:
        return
    for rule in RULES:
        packets = rule.advise(its_link).packets
        assert packets is None or (math.isfinite(packets) and packets >= 0), rule.name


def test_every_rule_is_documented() -> None:
    page = (ROOT / "docs" / "sizing.md").read_text(encoding="utf-8")
    for rule in RULES:
        row = f"| `{rule.name}` | {rule.title} | {rule.equation} | {'; '.join(rule.assumptions)} |"
        assert f"{row} {rule.source} |" in page


@pytest.mark.parametrize(
    ("packets", "whole"),
    [(249.99999999999997, 250), (644.9999999999998, 645), (249.9999, 249), (0.2, 1), (None, None)],
)
def test_rounding_errors_cost_no_packet(packets: float | None, whole: int | None) -> None:
    assert Advice(packets).whole_packets == whole


def test_a_bandwidth_delay_product_of_250_packets_is_250_packets() -> None:
    bdp = next(rule for rule in RULES if rule.name == "bdp")
    for rate_bps, rtt_s in ((30e6, 0.1), (50e6, 0.06), (10e6, 0.3), (300e6, 0.01)):
        assert bdp.advise(Link(rate_bps, (rtt_s,), 1)).whole_packets == 250


def test_bscl_says_what_decides_and_both_of_its_buffers() -> None:
    # 50 Mb/s, 60 ms: C_e T_e is 225 packets. (22): 8.7 x 50 - 225 = 210 packets.
    loss, parts, most = bscl.advise(congested(50)).notes
    assert loss == "loss decides"
    assert "B_p = 210 packets for loss (22)" in parts
    assert "for utilisation (16)" in parts
    # (18): 210 packets keep 1 % with (225 + 210) / 8.7 = 50 flows.
    assert most == "210 packets keep the loss with up to 50 flows (18)"
    few = bscl.advise(congested(4, max_loss_rate=None)).notes
    assert few[1] == "B_rho = 225 packets for utilisation (11)"
    # The delay allows 105 packets: (225 + 105) / 8.7 = 37.9.
    short = bscl.advise(congested(50, max_delay_s=0.0252)).notes
    assert "105 packets, which the delay allows, keep the loss with up to 37 flows (18)" in short
    assert any(note.startswith("not feasible (25)") for note in short)
