"""The guidelines' data: every section is a valid scenario for every queue and every control."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from goodqueue.characterization.ellipse import most_likely
from goodqueue.characterization.figures import better_of, figure_of, is_loss
from goodqueue.characterization.guide import Guide, Measure, flows_of, guide, packets_held
from goodqueue.characterization.subject import (
    Subject,
    control_of,
    queue_of,
    resolved,
    with_set_point,
)
from goodqueue.errors import RequestError, ScenarioError
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


def test_lost_over_sent_packets_are_a_loss_rate() -> None:
    """Section 6.3 asks for the drop rate of each category, which is better if it is lower."""
    section = next(one for one in QUEUES.sections if one.key == "rtt-fairness")
    losses = [measure for measure in section.measures if is_loss(measure)]
    assert [better_of(measure) for measure in losses] == ["lower", "lower"]
    assert better_of(Measure("a.goodput_bps / b.goodput_bps", "share")) == "neither"


@pytest.mark.parametrize("document", [QUEUES, CONTROLS])
def test_sections_stand_in_the_order_of_the_document(document: Guide) -> None:
    numbers = [tuple(map(int, one.number.split("."))) for one in document.sections]
    assert numbers == sorted(numbers)


def test_the_chapters_of_rfc_7928_are_run_or_named_as_not_run() -> None:
    run = {one.number.split(".")[0] for one in QUEUES.sections}
    named = {one.number.split(".")[0] for one in QUEUES.not_run}
    assert run == {"4", "5", "6", "7", "8", "9", "10", "12"}
    assert named == {"11"}
    stability = [one.key for one in QUEUES.sections if one.number == "8.3"]
    assert stability == ["stability", "set-point"]


def test_the_chapters_of_rfc_9743_are_run_or_named_as_not_run() -> None:
    """Sections 5.1.1 to 5.3, 6.1 to 6.4 and 7.1 to 7.9; 6.1 (tail drop) is the queue of most."""
    run = {one.number for one in CONTROLS.sections}
    named = run | {one.number for one in CONTROLS.not_run}
    behaviour = {f"5.{part}.{n}" for part, last in ((1, 5), (2, 3)) for n in range(1, last + 1)}
    assert named >= behaviour | {"5.3", "6.2", "6.3", "6.4"} | {f"7.{n}" for n in range(1, 10)}


def test_flow_counts_follow_from_the_packets_that_the_path_holds() -> None:
    """A path of 10 Mb/s, 100 ms and a buffer of one BDP holds 2 x 125,000 / 1514 packets."""
    held = packets_held("10Mbps", "100ms", "1514B", 1.0)
    assert held == pytest.approx(250_000 / 1514)
    counts = {}
    for section in QUEUES.sections:
        for flow in section.cases[-1].settings["flow"]:
            counts[section.key, flow["name"]] = flow.get("count", 1)
    assert counts["mild", "long"] == round(0.036 * 250_000 / 1514) == 6
    assert counts["medium", "long"] == round(0.081 * 250_000 / 1514) == 13
    assert counts["heavy", "long"] == round(0.114 * 250_000 / 1514) == 19
    joining = [counts["varying-load", name] for name in ("mild", "medium", "heavy")]
    assert np.cumsum(joining).tolist() == [6, 13, 19]
    for key, halves in (("packet-sizes", ("small", "large")), ("two-queues", ("a", "b"))):
        assert [counts[key, name] for name in halves] == [3, 3], "half of mild congestion each"


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
    cases = summaries("varying-load", seed=1)
    # The packets that the path holds are delivered after the stop, in a phase of 20 s.
    remainder = packets_held("10Mbps", "100ms", "1514B", 1.0) * 1514 * 8 / 20
    heavy, mild = cases["medium to heavy"], cases["heavy to mild"]
    assert all(goodput_bps(heavy, group) > 1e6 for group in ("mild", "medium", "heavy"))
    left = sum(goodput_bps(mild, group) for group in ("medium", "heavy"))
    assert 0 < left < remainder
    # 1448 bytes of each frame of 1514 bytes are data.
    use = mild["links"]["bottleneck"]["utilization"]
    assert goodput_bps(mild, "mild") > use * 10e6 * 1448 / 1514 - remainder


def test_loss_rises_and_falls_with_the_load() -> None:
    cases = summaries("varying-load", seed=1).values()
    losses = [summary["links"]["bottleneck"]["loss_rate"] for summary in cases]
    assert losses[:3] == sorted(losses[:3])
    assert losses[3] < losses[2]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_ledbat_yields_to_reno_behind_tail_drop_with_the_target_of_the_rfc(seed: int) -> None:
    """Reno keeps the queue of 100 ms above the target of 5 ms most of the time."""
    summary = summaries("less-than-best-effort", seed)["target 5 ms, gain 10"]
    assert goodput_bps(summary, "background") < 0.2 * goodput_bps(summary, "long")


@pytest.mark.parametrize(("key", "flows", "near"), [("medium", 13, 0.35), ("heavy", 19, 0.1)])
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


@pytest.mark.parametrize("control", ["reno", "cubic", "bbr", "bbr3", "dctcp", "vegas"])
def test_controls_back_off_fully_when_nothing_is_delivered(control: str) -> None:
    """A timeout of at least 0.2 s doubles with each retransmission (RFC 6298 section 5.5).

    From 20 to 80 s, which are 10 to 70 s after the last delivery, the time doubles 2.8 times.
    """
    case = next(one for one in CONTROLS.sections if one.key == "collapse").cases[0]
    scenario = control_of(control).scenario(case, CONTROLS.subject)
    flows = Result(scenario.with_seed(1).run(), "").summary["flows"]
    sent = [flow["packets_sent"] for flow in flows.values()]
    assert len(sent) == 2
    assert all(2 <= packets <= 4 for packets in sent), sent


def test_levels_of_congestion_are_rounded_to_the_nearest() -> None:
    assert [flows_of(0, level, 100) for level in (0.036, 0.081, 0.114)] == [4, 8, 11]
    assert flows_of(0.036, 0.081, 100) == 8 - 4


def test_the_path_of_the_flow_counts_is_that_of_the_scenario() -> None:
    case = next(one for one in QUEUES.sections if one.key == "heavy").cases[0]
    scenario = queue_of(QUEUES.against).scenario(case, QUEUES.subject)
    link = scenario.buffer("bottleneck", 1)
    assert link["base_rtt_s"] is not None
    bdp = link["rate_bps"] * link["base_rtt_s"] / (8 * link["frame_bytes"])
    held = packets_held("10Mbps", "100ms", "1514B", 1.0)
    assert 2 * bdp == pytest.approx(held)


def test_ecn_is_switched_on_where_the_queue_has_the_key() -> None:
    case = next(one for one in QUEUES.sections if one.key == "ecn").cases[3]
    assert case.ecn
    for text, marks in (("codel", True), ("pie", True), ("cake", False), ("sfq", False)):
        settings = queue_of(text).settings(case, QUEUES.subject)
        queue = settings["topology"]["bottleneck"]["queue"]
        assert queue.get("ecn", False) is marks, text
    assert "ecn" in resolved({"kind": "red", "limit": "400kB"})


@pytest.mark.parametrize(
    ("queue", "doubled"),
    [
        ({"kind": "codel"}, {"target": "10ms"}),
        ({"kind": "codel", "target": "1ms"}, {"target": "2ms"}),
        ({"kind": "dualpi2"}, {"target": "30ms", "step_thresh": "2ms"}),
        ({"kind": "cake"}, {"rtt": "200ms"}),
        ({"kind": "red", "limit": "400kB"}, {"min": "66666B", "max": "200kB"}),
        ({"kind": "drop_tail", "limit": "1bdp"}, {"limit": "250kB"}),
        ({"kind": "fpq", "limit": "1000p"}, {"packets_per_flow": 12}),
    ],
)
def test_a_set_point_is_doubled_and_the_rest_of_the_queue_stays(
    queue: Settings, doubled: Settings
) -> None:
    """The defaults are those of Linux: 5 ms for CoDel, 15 ms and 1 ms for DualPI2."""
    assert with_set_point(queue, 2.0) == {**queue, **doubled}


def test_the_set_point_of_a_shaped_queue_is_that_of_the_queue_within() -> None:
    shaper = {"kind": "tbf", "rate": "9Mbps", "burst": "3028B", "queue": {"kind": "codel"}}
    assert with_set_point(shaper, 0.5)["queue"] == {"kind": "codel", "target": "2.5ms"}


def test_a_queue_in_python_has_no_set_point() -> None:
    section = next(one for one in QUEUES.sections if one.key == "set-point")
    subject = Subject("own", {"kind": "python", "class": "queues:Own"}, allow_python=True)
    factors = [case.set_point for case in section.cases]
    assert factors == [0.5, 1.0, 2.0]
    subject.settings(section.cases[1], QUEUES.subject)
    with pytest.raises(ScenarioError, match="set point of a queue in Python"):
        subject.settings(section.cases[2], QUEUES.subject)


def test_sections_are_chosen_by_their_number_or_chapter() -> None:
    assert {one.number for one in QUEUES.chosen(["8.2"])} == {f"8.2.{n}" for n in range(2, 7)}
    assert {one.number for one in QUEUES.chosen(["5.1.1", "10"])} == {"5.1.1", "10.2"}
    with pytest.raises(RequestError, match=r"5\.5 is unknown; did you mean"):
        QUEUES.chosen(["5.5"])
    with pytest.raises(RequestError, match=r"11 is not run: it asks for pseudocode"):
        QUEUES.chosen(["11"])


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
