"""The comparison with ns-2, tested without ns-2."""

import os
import subprocess
import sys
import tomllib

import pytest

from conftest import ROOT
from evidence.validation.compare import Comparison
from evidence.validation.linux import deep as linux_deep
from evidence.validation.linux import recording as linux_recording
from evidence.validation.linux import report as linux
from evidence.validation.make import OF_NS2, missing
from evidence.validation.ns2.cases import CASES, Case
from evidence.validation.ns2.report import verdict
from evidence.validation.parts import PARTS


def figures(**changed: float) -> dict[str, float]:
    usual = {
        "utilization": 0.99,
        "loss_rate": 0.01,
        "mean_backlog_packets": 100.0,
        "goodput_bps": 1e6,
        "duplicate_share": 0.0,
    }
    return usual | changed


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_both_simulators_have_the_same_link(case: Case) -> None:
    scenario = tomllib.loads((ROOT / case.scenario).read_text(encoding="utf-8"))
    link, flow = scenario["topology"]["bottleneck"], scenario["flow"][0]
    rtt = flow["rtt"] if isinstance(flow["rtt"], dict) else {"from": flow["rtt"], "classes": 1}
    unit = {"Mbps": "", "Gbps": "000"}[link["rate"][-4:]]
    # The limit in ns-2 includes the packet in transmission.
    assert link["queue"]["limit"] == f"{int(case.ns2['buffer']) - 1}p"
    assert link["rate"][:-4] + unit == case.ns2["rate"]
    assert str(flow["count"]) == case.ns2["flows"]
    assert scenario["duration"] == case.ns2["duration"] + "s"
    assert str(rtt["classes"]) == case.ns2.get("classes", "18")
    assert rtt["from"] == case.ns2.get("rtt_min", "20") + "ms"


@pytest.mark.parametrize(
    ("ours", "agrees"),
    [
        (figures(), True),
        (figures(utilization=0.9851), True),
        (figures(utilization=0.9849), False),
        (figures(mean_backlog_packets=104.9), True),
        (figures(mean_backlog_packets=94.9), False),
        (figures(loss_rate=0.0109), True),
        (figures(loss_rate=0.0111), False),
    ],
)
def test_without_spread_each_figure_is_judged_by_its_tolerance(
    ours: dict[str, float], agrees: bool
) -> None:
    comparison = Comparison(CASES[0], "Sack1", [figures()] * 3, [ours] * 3)
    assert (not verdict([comparison])) is agrees


def test_the_tolerance_includes_three_standard_errors() -> None:
    theirs = [figures(mean_backlog_packets=backlog) for backlog in (97.0, 100.0, 103.0)]
    ours = [figures(mean_backlog_packets=backlog) for backlog in (97.0, 100.0, 103.0)]
    check = Comparison(CASES[0], "Sack1", theirs, ours).check("mean_backlog_packets")
    # The standard deviation is 3 over 3 seeds on both sides: 5 + 3 · sqrt(3 + 3).
    assert check.allowed == pytest.approx(5 + 3 * 6**0.5)


def test_few_losses_are_not_judged() -> None:
    comparison = Comparison(CASES[3], "Sack1", [figures()], [figures(loss_rate=0.5)])
    assert not verdict([comparison])


def test_linux_was_recorded_fifteen_times() -> None:
    recordings = {recording.name: recording for recording in linux.recordings()}
    assert len(recordings) == 15
    cubic = recordings["cubic, 1 x 133"]
    assert [repeat["drops"] for repeat in cubic.repeats] == [38, 39, 40]
    # The tolerance is a quarter of 39, and two standard deviations of 1.
    assert linux_recording.Comparison(cubic, [], linux.CRITERIA).allowed("drops") == pytest.approx(
        9.75 + 2
    )
    # The tolerance of BBR is twice that of the others: four points of utilisation behind short
    # buffers.
    bbr = linux_recording.Comparison(recordings["bbr, 1 x 8"], [], linux.CRITERIA)
    assert bbr.allowed("utilization") == pytest.approx(0.04)


@pytest.mark.parametrize(("drops", "agrees"), [(50.7, True), (50.8, False), (27.2, False)])
def test_a_recording_of_linux_is_judged_by_its_tolerance(drops: float, agrees: bool) -> None:
    cubic = next(row for row in linux.recordings() if row.name == "cubic, 1 x 133")
    ours = {"utilization": 1.0, "mean_queue_packets": 109.4, "drops": drops}
    comparison = linux_recording.Comparison(cubic, [ours], linux.CRITERIA)
    assert (not linux_recording.verdict([comparison])) is agrees


def deep(**changes: float) -> list[dict[str, float]]:
    """Returns two runs of ours beside 40 flows and 1745 packets; their losses differ by 0.002."""
    kept = {"utilization": 1.0, "loss": 0.028973, "mean_queue_packets": 1579.24} | changes
    return [kept | {"loss": kept["loss"] + sign * 0.001} for sign in (-1, 1)]


def test_linux_was_recorded_behind_deep_buffers() -> None:
    recordings = {recording.name: recording for recording in linux_deep.recordings()}
    assert list(recordings) == [
        "cubic, 40 x 291",
        "cubic, 40 x 800",
        "cubic, 40 x 1745",
        "bbr, 8 x 67",
    ]
    cubic = recordings["cubic, 40 x 1745"]
    # 4171 of 143964 arrivals were dropped in 98 s after 60 s, at 17 Mb/s and 100 ms.
    assert cubic.figures["loss"] == pytest.approx(4171 / 143964, abs=1e-6)
    assert cubic.overrides["duration"] == "158s"
    assert cubic.overrides["topology.bottleneck.delay"] == "50000us"


@pytest.mark.parametrize(
    ("ours", "agrees"),
    [
        (deep(), True),
        # The tolerance is a tenth of the loss and two standard deviations of 0.001 sqrt(2).
        (deep(loss=0.028973 * 1.1 + 0.0028), True),
        (deep(loss=0.028973 * 1.1 + 0.0029), False),
        (deep(loss=0.0100), False),
        (deep(utilization=0.979), False),
        (deep(mean_queue_packets=1.051 * 1579.24), False),
    ],
)
def test_a_recording_behind_deep_buffers_is_judged_by_its_tolerance(
    ours: list[dict[str, float]], agrees: bool
) -> None:
    cubic = next(row for row in linux_deep.recordings() if row.limit == 1745)
    comparison = linux_recording.Comparison(cubic, ours, linux_deep.CRITERIA)
    assert (not linux_recording.verdict([comparison])) is agrees
    assert ("**no**" not in linux_recording.table([comparison])) is agrees


def test_a_missing_ns2_is_named() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "evidence", "make", "validation/links"],
        cwd=ROOT,
        env=os.environ | {"PATH": "/nonexistent"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2
    assert "apt-get install ns2" in run.stderr


@pytest.mark.parametrize("part", ["linux", "ns3", "ns3-queues", "root-n"])
def test_a_part_without_ns2_does_not_require_it(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PATH", "/nonexistent")
    assert part in PARTS
    assert not [lack for lack in missing(part) if "ns2" in lack or "awk" in lack]
    assert set(PARTS) > OF_NS2
