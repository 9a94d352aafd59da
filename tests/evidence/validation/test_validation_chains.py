"""The comparison of parking lots and slow reverse links with ns-2, tested without ns-2."""

from __future__ import annotations

import re
import tomllib
from statistics import fmean

import pytest

from conftest import ROOT
from evidence.validation.ns2.chains import (
    CASES,
    Case,
    Comparison,
    run_goodqueue,
    section,
    verdict,
)
from goodqueue.runs.api import load

NS2 = {
    "Parking lot: 20 waiting": {
        "long.goodput_bps": (209.75e3, 9.05e3),
        "cross1.goodput_bps": (707.83e3, 9.83e3),
        "cross3.goodput_bps": (751.03e3, 11.73e3),
        "link1.utilization": (0.95684, 0.00335),
        "link1.loss_rate": (0.039536, 0.001064),
        "link3.mean_backlog_packets": (9.382, 0.359),
    },
    "Asymmetric: 10 Mb/s, 1 Mb/s back, 99 ACKs waiting": {
        "link1.loss_rate": (0.002498, 0.000326),
        "link1.mean_backlog_packets": (58.330, 1.607),
        "link1.reverse.utilization": (0.27031, 0.00024),
        "link1.reverse.loss_rate": (0.0, 0.0),
    },
    "Asymmetric: 10 Mb/s, 200 kb/s back, 99 ACKs waiting": {
        "long.goodput_bps": (2352.16e3, 53.11e3),
        "link1.mean_backlog_packets": (35.207, 6.558),
        "link1.reverse.loss_rate": (0.228578, 0.016677),
        "link1.reverse.mean_backlog_packets": (96.431, 1.225),
    },
}
"""Mean of ns-2.35's seeds 1 to 10, and the difference that the criterion allows."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_our_figures_agree_with_recorded_figures_of_ns_2(case: Case) -> None:
    runs = [run_goodqueue(case, seed) for seed in range(1, 5)]
    for figure, (mean, allowed) in NS2.get(case.name, {}).items():
        assert fmean(run[figure] for run in runs) == pytest.approx(mean, abs=allowed), figure


def default(key: str) -> str:
    """Returns the default of tools/ns2/chain.tcl for a key."""
    script = (ROOT / "tools/ns2/chain.tcl").read_text(encoding="utf-8")
    found = re.search(rf"\b{key} (\S+)", script[script.index("array set opt") :])
    assert found is not None
    return found[1]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_both_simulators_have_the_same_links(case: Case) -> None:
    resolved = tomllib.loads(load(case.scenario, set=dict(case.changes), seed=1).resolved_toml())
    topology, flows = resolved["topology"], resolved["flow"]
    links = topology["link"] if topology["shape"] == "chain" else [topology["bottleneck"]]

    def given(key: str) -> str:
        return case.ns2.get(key) or default(key)

    mbps = [f"{float(rate) * 1000:g}kbps" for rate in given("rates").split(",")]
    assert [kbps(link["rate"]) for link in links] == mbps
    for link in links:
        # The limit in ns-2 includes the packet in transmission.
        assert link["queue"]["limit"] == f"{int(given('buffer')) - 1}p"
        assert link["delay"] == given("delay") + "ms"
    if case.backward:
        back = links[0]["reverse"]
        assert kbps(back["rate"]) == f"{float(given('reverse_rate')) * 1000:g}kbps"
        assert back["queue"]["limit"] == f"{int(given('reverse_buffer')) - 1}p"
    for flow in flows:
        kind = flow["name"].rstrip("123")
        assert str(flow["count"]) == given(kind)
        assert flow["rtt"]["from"] == given(f"{kind}_min") + "ms"
        assert flow["rtt"]["to"] == given(f"{kind}_max") + "ms"
        assert str(flow["rtt"]["classes"]) == given("classes")


def kbps(rate: str) -> str:
    """Formats a rate in kb/s."""
    number, unit = re.fullmatch(r"([\d.]+)(\w+)", rate).groups()  # type: ignore[union-attr]
    return f"{float(number) * {'kbps': 1, 'Mbps': 1000}[unit]:g}kbps"


def comparison(ours: float) -> Comparison:
    """Returns a comparison of two seeds of ns-2 that differ by 2, and one seed of ours."""
    case = CASES[3]
    theirs = [dict.fromkeys(case.figures, value) for value in (9.0, 11.0)]
    return Comparison(case, theirs, [dict.fromkeys(case.figures, ours)])


def test_our_mean_must_lie_in_the_range_of_ns_2s_runs() -> None:
    # Two values 2 apart have a standard deviation of 1.414; Student's quantile is 12.706.
    allowed = 1.1 * 12.706 * 2**0.5
    assert verdict([comparison(10.0 + 0.999 * allowed)]) == []
    misses = verdict([comparison(10.0 - 1.001 * allowed)])
    assert len(misses) == len(CASES[3].figures)
    assert "link1.reverse: loss, %" in "; ".join(misses)


def test_the_section_marks_figures_that_disagree() -> None:
    text = section([comparison(10.0), comparison(31.0)], range(1, 3))
    assert "**1 of 2 agree.**" in text
    assert text.count("**no**") == len(CASES[3].figures)
