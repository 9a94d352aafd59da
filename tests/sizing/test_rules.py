"""Sizing rules: numbers computed by hand, and the assumptions that links break."""

from __future__ import annotations

import csv
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import ROOT
from evidence.validation.linux import deep as linux_deep
from evidence.validation.linux import recording as linux_recording
from goodqueue._core import bscl, loss_rate
from goodqueue.errors import RequestError
from goodqueue.sizing.link import Link, rtt_range
from goodqueue.sizing.rules import RULES, Advice, rule_named
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
    assert rule_named("bdp").advise(link()).whole_packets == 666
    assert link().seconds(666.67) == pytest.approx(0.080, abs=1e-5)


@pytest.mark.parametrize(
    ("buffer", "utilization"),
    [(0, 0.75), (0.1, 0.8176), (0.25, 0.8929), (0.5, 0.9643), (0.75, 0.9932), (1, 1)],
)
def test_the_utilisation_of_one_saw_tooth_agrees_with_the_formula(
    buffer: float, utilization: float
) -> None:
    assert sawtooth(buffer) == pytest.approx(utilization, abs=6e-5)


def test_the_stanford_column_of_table_1_follows_from_its_delay_column() -> None:
    with TABLE_1.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 19
    for row in rows:
        flows, ct = int(row["locally_bottlenecked_flows"]), int(row["ct_avg_packets"])
        its_link = Link(50e6, (ct * 12_000 / 50e6,), flows)
        assert rule_named("sqrt_n").advise(its_link).whole_packets == int(row["stanford_packets"])


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


@pytest.mark.parametrize(
    ("flows", "packets"), [(5, 63.4), (20, 47.3), (30, 39.5), (50, 210), (100, 645)]
)
def test_bscl_gives_the_buffers_of_the_worked_example(flows: int, packets: float) -> None:
    assert bscl(congested(flows)).packets == pytest.approx(packets, abs=0.06)


def test_the_effective_round_trip_is_the_harmonic_mean() -> None:
    # T/N .. T in N steps: about T/(ln N + 1); with 1000 flows T/7.9.
    steps = tuple((index + 1) / 1000 for index in range(1000))
    assert 1 / link(rtts_s=steps).harmonic_rtt_s == pytest.approx(7.9, rel=0.06)
    assert link(rtts_s=(0.02, 0.06)).harmonic_rtt_s == pytest.approx(0.03)


def test_each_control_needs_the_buffer_of_its_window_decrease() -> None:
    rule = rule_named("window_decrease")
    for control, packets in [("reno", 666.7), ("cubic", 285.7), ("abe", 666.7), ("bbr", 166.7)]:
        advice = rule.advise(link(congestion_control=control))
        assert advice.packets == pytest.approx(packets, abs=0.06)


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


@given(ratio=st.floats(1.01, 49.9))
def test_sentences_have_numbers_as_python_writes_them(ratio: float) -> None:
    its_link = link(rate_bps=1e9, access_rate_bps=1e9 / ratio, min_utilization=ratio / 50)
    broken = rule_named("core_to_access").advise(its_link).broken
    its_ratio = its_link.rate_bps / (its_link.access_rate_bps or 1)
    assert f"only {its_ratio:.3g} times" in broken[0]
    notes = rule_named("mm1k").advise(replace(its_link, max_loss_rate=0.01)).notes
    assert notes == (f"offered load {its_link.min_utilization:.0%}",)
    parts = rule_named("bscl").advise(its_link).notes[1]
    assert parts.startswith(f"B_rho = {bscl(its_link).for_utilization:.4g} packets")


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


def test_bscl_says_what_decides_and_both_of_its_buffers() -> None:
    # 50 Mb/s, 60 ms: C_e T_e is 225 packets. (22): 8.7 x 50 - 225 = 210 packets.
    loss, parts, most = rule_named("bscl").advise(congested(50)).notes
    assert loss == "loss decides"
    assert "B_p = 210 packets for loss (22)" in parts
    assert "for utilisation (16)" in parts
    # (18): 210 packets keep 1 % with (225 + 210) / 8.7 = 50 flows.
    assert most == "210 packets keep the loss with up to 50 flows (18)"
    few = rule_named("bscl").advise(congested(4, max_loss_rate=None)).notes
    assert few[1] == "B_rho = 225 packets for utilisation (11)"
    # The delay allows 105 packets: (225 + 105) / 8.7 = 37.9.
    short = rule_named("bscl").advise(congested(50, max_delay_s=0.0252)).notes
    assert "105 packets, which the delay allows, keep the loss with up to 37 flows (18)" in short
    assert any(note.startswith("not feasible (25)") for note in short)
