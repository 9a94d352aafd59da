"""The comparison of queue disciplines with ns-3, tested without ns-3."""

import json

import pytest

from conftest import ROOT
from evidence.validation.ns3 import controls, queues
from evidence.validation.ns3.queues import CASES, Case, Comparison
from helpers.ns3 import same_link


def figures(**changed: float) -> dict[str, float]:
    usual = {"utilization": 0.99, "signal_rate": 0.01, "mean_backlog_packets": 100.0}
    return usual | changed


@pytest.fixture(autouse=True)
def _in_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_both_simulators_have_the_same_link_and_load(case: Case) -> None:
    given, flow, link = same_link(case)
    assert link["queue"]["ecn"] is (given[f"ns3::{case.disc}::UseEcn"] == "true") is case.ecn
    if case.ecn:
        assert flow["tcp"]["ecn"] == "rfc3168"
        assert given["ecn"] == "true"
    else:
        # A packet has 1500 bytes, and a flow has a tenth of the rate.
        milliseconds = 10 * 1500 * 8 / (int(given["datagrams"]) * 1000)
        assert flow["workload"]["interval"] == f"{milliseconds:.0f}ms"


@pytest.mark.parametrize(
    ("ours", "agrees"),
    [
        (figures(), True),
        (figures(utilization=0.9949), True),
        (figures(utilization=0.9849), False),
        (figures(signal_rate=0.01099), True),
        (figures(signal_rate=0.01101), False),
        (figures(mean_backlog_packets=90.1), True),
        (figures(mean_backlog_packets=89.9), False),
    ],
)
def test_without_spread_each_figure_is_judged_by_its_tolerance(
    ours: dict[str, float], agrees: bool
) -> None:
    comparison = Comparison(CASES[0], [figures()] * 3, [ours] * 3)
    assert (not queues.verdict([comparison])) is agrees
    assert ("**no**" in queues.section([comparison], range(1, 4))) is not agrees


def test_three_standard_errors_widen_all_but_the_utilisation() -> None:
    spread = [figures(mean_backlog_packets=100 + at) for at in (-3.0, 0.0, 3.0)]
    comparison = Comparison(CASES[0], spread, spread)
    assert comparison.allowed("mean_backlog_packets") == pytest.approx(10 + 3 * 6**0.5)
    assert comparison.allowed("utilization") == pytest.approx(0.005)


def test_a_known_miss_is_no_failure() -> None:
    known = Comparison(CASES[-1], [figures()], [figures(mean_backlog_packets=50.0)])
    assert not queues.verdict([known])
    (miss,) = queues.verdict([known], known=True)
    assert "FQ-CoDel, TCP: mean backlog, packets 50.00" in miss
    other = Comparison(CASES[-1], [figures()], [figures(signal_rate=0.5)])
    assert len(queues.verdict([other])) == 1


def test_drops_and_marks_are_one_figure() -> None:
    said = {
        "utilization": 0.5,
        "arrivals": 200,
        "drops": 3,
        "marks": 1,
        "mean_backlog_packets": 7.0,
    }
    assert queues.figures(json.dumps(said))["signal_rate"] == pytest.approx(0.02)
    with pytest.raises(controls.Ns3Error, match="printed no figures"):
        queues.figures("{}")
