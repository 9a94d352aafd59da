"""The guidelines' data: every section is a valid scenario for every queue and every control."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np
import pytest

from goodqueue.characterization.ellipse import most_likely
from goodqueue.characterization.figures import figure_of
from goodqueue.characterization.guide import Guide, flows_of, guide, packets_held
from goodqueue.characterization.subject import Subject, control_of, keys_of, queue_of
from goodqueue.errors import RequestError
from goodqueue.runs.results.result import Result

if TYPE_CHECKING:
    from goodqueue.runs.settings import Settings

QUEUES = guide("rfc7928")
CONTROLS = guide("rfc9743")

EVERY_QUEUE = (
    *("codel", "pie", "dualpi2", "fq_codel", "fq_pie", "cake", "sfq", "bfifo limit 125000"),
    '{ kind = "drop_head", limit = "1bdp" }',
    '{ kind = "red", limit = "400kB" }',
    '{ kind = "ns2_red", limit = "400kB" }',
    '{ kind = "choke", limit = "1000p" }',
    '{ kind = "blue", limit = "200p" }',
    '{ kind = "fpq", limit = "1000p" }',
    '{ kind = "pi2", limit = "1000p" }',
    '{ kind = "step", limit = "1bdp", threshold = "20p" }',
    '{ kind = "drr", limit = "1bdp" }',
    '{ kind = "tbf", rate = "9Mbps", burst = "3028B", queue = { kind = "fq_codel" } }',
    '{ kind = "prio", bands = [{ limit = "1bdp" }, { limit = "1bdp" }, { limit = "1bdp" }] }',
)

EVERY_CONTROL = (
    *("reno", "cubic", "bbr", "vegas", "westwood", "dctcp", "scalable", "ledbat", "illinois"),
    *("bbr3", '{ kind = "cubic", beta = 0.8 }'),
)


def accepts_every_case(document: Guide, subject: Subject) -> None:
    for section in document.sections:
        for case in section.cases:
            subject.scenario(case, document.subject)


@pytest.mark.parametrize("text", EVERY_QUEUE)
def test_every_section_runs_with_every_queue(text: str) -> None:
    accepts_every_case(QUEUES, queue_of(text))


@pytest.mark.parametrize("text", EVERY_CONTROL)
def test_every_section_runs_with_every_control(text: str) -> None:
    accepts_every_case(CONTROLS, control_of(text))


@pytest.mark.parametrize(("document", "subject"), [(QUEUES, "codel"), (CONTROLS, "cubic")])
def test_every_figure_is_measured_in_a_case(document: Guide, subject: str) -> None:
    one = queue_of(subject) if document is QUEUES else control_of(subject)
    for section in document.sections:
        known: set[str] = set()
        for case in section.cases:
            names = one.scenario(case, document.subject).metric_names()
            assert {section.ellipse.delay, section.ellipse.goodput} <= {*names}, section.key
            known |= {*names}
        wanted = {part for measure in section.measures for part in measure.parts}
        assert wanted <= known, section.key


def test_every_ratio_has_a_label() -> None:
    for document in (QUEUES, CONTROLS):
        for section in document.sections:
            assert all(figure_of(measure).title for measure in section.measures), section.key


@pytest.mark.parametrize("document", [QUEUES, CONTROLS])
def test_sections_stand_in_the_order_of_the_document(document: Guide) -> None:
    numbers = [tuple(map(int, one.number.split("."))) for one in document.sections]
    assert numbers == sorted(numbers)


def test_the_chapters_of_rfc_7928_are_run_or_named_as_not_run() -> None:
    run = {one.number.split(".")[0] for one in QUEUES.sections}
    named = {one.number.split(".")[0] for one in QUEUES.not_run}
    assert run >= {"4", "5", "6", "7", "8", "9", "10"}
    assert named >= {"8", "11", "12"}


def test_flow_counts_follow_from_the_packets_that_the_path_holds() -> None:
    """A path of 10 Mb/s, 100 ms and a buffer of one BDP holds 2 x 125,000 / 1514 packets."""
    held = packets_held("10Mbps", "100ms", "1514B", 1.0)
    assert held == pytest.approx(250_000 / 1514)
    counts = {}
    for section in QUEUES.sections:
        for flow in section.cases[-1].settings["flow"]:
            counts[section.key, flow["name"]] = flow.get("count", 1)
    assert counts["mild", "long"] == math.ceil(0.036 * 250_000 / 1514) == 6
    assert counts["medium", "long"] == 14
    assert counts["heavy", "long"] == 19
    for key in ("rising-load", "falling-load"):
        joining = [counts[key, name] for name in ("mild", "medium", "heavy")]
        assert np.cumsum(joining).tolist() == [6, 14, 19], key


def summaries(key: str, seed: int) -> dict[str, Settings]:
    """Returns the summaries of a section's cases behind drop tail of one BDP, by their names."""
    section = next(one for one in QUEUES.sections if one.key == key)
    scenarios = {
        case.name: queue_of(QUEUES.against).scenario(case, QUEUES.subject) for case in section.cases
    }
    return {
        name: Result(scenario.with_seed(seed).run(), "").summary
        for name, scenario in scenarios.items()
    }


def goodput_bps(summary: Settings, group: str) -> float:
    """Returns the goodput of a group of flows together, in bit/s."""
    flows = summary["flows"].items()
    own: list[float] = [flow["goodput_bps"] for name, flow in flows if name.split(".")[0] == group]
    return sum(own)


def test_flows_that_stop_leave_the_link_to_the_others() -> None:
    cases = summaries("falling-load", seed=1)
    # The packets that the path holds are delivered after the stop, in a phase of 20 s.
    remainder = packets_held("10Mbps", "100ms", "1514B", 1.0) * 1514 * 8 / 20
    first, second, third = cases.values()
    assert all(goodput_bps(first, group) > 1e6 for group in ("mild", "medium", "heavy"))
    assert 0 < goodput_bps(second, "heavy") < remainder
    assert goodput_bps(second, "medium") > 1e6
    assert goodput_bps(third, "heavy") == 0
    assert 0 < goodput_bps(third, "medium") < remainder
    # 1448 bytes of each frame of 1514 bytes are data.
    use = third["links"]["bottleneck"]["utilization"]
    assert goodput_bps(third, "mild") > use * 10e6 * 1448 / 1514 - remainder


def test_loss_falls_and_rises_with_the_load() -> None:
    for key, falls in (("rising-load", False), ("falling-load", True)):
        cases = summaries(key, seed=1).values()
        losses = [summary["links"]["bottleneck"]["loss_rate"] for summary in cases]
        assert losses == sorted(losses, reverse=falls), key


def test_ledbat_with_a_gain_of_ten_does_not_yield_behind_a_short_queue() -> None:
    """The full queue of 100 ms reaches the target of 100 ms and no more, so LEDBAT grows always.

    Its window grows by up to ten segments in a round trip, and that of Reno by one. With a gain of
    1 both grow alike, and chance decides which of the few flows gets more.
    """
    ratios: dict[str, list[float]] = {}
    for seed in range(1, 7):
        for name, summary in summaries("less-than-best-effort", seed).items():
            ratio = goodput_bps(summary, "background") / goodput_bps(summary, "long")
            ratios.setdefault(name, []).append(ratio)
    assert min(ratios["gain 10"]) > 2
    assert fmean(ratios["gain 10"]) > 2 * fmean(ratios["gain 1"])


@pytest.mark.parametrize(("key", "flows", "near"), [("medium", 14, 0.25), ("heavy", 19, 0.1)])
def test_senders_of_the_formula_have_its_loss_rate(key: str, flows: int, near: float) -> None:
    """The loss rate is 0.76 / w² with a step for each delayed ACK (Morris, INFOCOM 2000).

    With fewer flows the buffer is not always full, so their windows are smaller and their loss is
    higher.
    """
    case = next(one for one in QUEUES.sections if one.key == key).cases[0]
    senders = {"tcp.profile": "rfc", "tcp.byte_counting": False}
    scenario = queue_of(QUEUES.against).scenario(replace(case, changes=senders), QUEUES.subject)
    results = [Result(scenario.with_seed(seed).run(), "").summary for seed in (1, 2, 3)]
    losses = [result["links"]["bottleneck"]["loss_rate"] for result in results]
    window = packets_held("10Mbps", "100ms", "1514B", 1.0) / flows
    assert np.mean(losses) == pytest.approx(0.76 / window**2, rel=near)


def test_levels_of_congestion_are_rounded_up() -> None:
    assert [flows_of(0, level, 100) for level in (0.036, 0.081, 0.114)] == [4, 9, 12]


def test_the_path_of_the_flow_counts_is_that_of_the_scenario() -> None:
    case = next(one for one in QUEUES.sections if one.key == "heavy").cases[0]
    scenario = queue_of(QUEUES.against).scenario(case, QUEUES.subject)
    link = scenario.buffer("bottleneck", 1)
    assert link["base_rtt_s"] is not None
    bdp = link["rate_bps"] * link["base_rtt_s"] / (8 * link["frame_bytes"])
    held = packets_held("10Mbps", "100ms", "1514B", 1.0)
    assert 2 * bdp == pytest.approx(held)


def test_ecn_is_switched_on_where_the_queue_has_the_key() -> None:
    case = next(one for one in QUEUES.sections if one.key == "ecn").cases[1]
    assert case.ecn
    for text, marks in (("codel", True), ("pie", True), ("cake", False), ("sfq", False)):
        settings = queue_of(text).settings(case, QUEUES.subject)
        queue = settings["topology"]["bottleneck"]["queue"]
        assert queue.get("ecn", False) is marks, text
    assert "ecn" in keys_of({"kind": "red", "limit": "400kB"})


def test_sections_are_chosen_by_their_number_or_chapter() -> None:
    assert {one.number for one in QUEUES.chosen(["8.2"])} == {f"8.2.{n}" for n in range(2, 7)}
    assert {one.number for one in QUEUES.chosen(["5.1.1", "10"])} == {"5.1.1", "10.2"}
    with pytest.raises(RequestError, match=r"5\.5 is unknown; did you mean"):
        QUEUES.chosen(["5.5"])
    with pytest.raises(RequestError, match=r"8\.3 is not run: it needs an analysis"):
        QUEUES.chosen(["8.3"])


def test_the_ellipse_is_that_of_the_most_likely_gaussian_distribution() -> None:
    generator = np.random.default_rng(1)
    xs, ys = generator.multivariate_normal([3.0, 8.0], [[2.0, 0.7], [0.7, 1.0]], 200).T
    ellipse = most_likely(xs.tolist(), ys.tolist())
    covariance = np.cov(xs, ys, bias=True)
    assert [[ellipse.variance_x, ellipse.covariance], [ellipse.covariance, ellipse.variance_y]] == (
        pytest.approx(covariance)
    )
    contour = np.array(ellipse.contour()) - [[ellipse.x], [ellipse.y]]
    distance = np.einsum("ip,ij,jp->p", contour, np.linalg.inv(covariance), contour)
    assert distance == pytest.approx(np.ones_like(distance))


@pytest.mark.parametrize("axis", [0, 1])
def test_the_ellipse_of_points_on_a_line_is_a_line(axis: int) -> None:
    points = [[1.0, 2.0, 3.0], [5.0, 5.0, 5.0]]
    contour = most_likely(*(points[::-1] if axis else points)).contour()
    assert set(contour[1 - axis]) == {5.0}
    assert max(contour[axis]) == pytest.approx(2 + math.sqrt(2 / 3))
