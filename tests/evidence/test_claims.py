"""The studies of the two claims in docs/scenarios.md make the runs that the page shows."""

from __future__ import annotations

import pytest

import goodqueue
from conftest import ROOT
from evidence.gallery.claims import (
    BUFFERS,
    SEEDS,
    WHOLE,
    WINDOWS,
    short_settings,
    tiny_settings,
)

TINY = [
    setting
    for window in WINDOWS
    for paced in ("true", "false")
    for setting in tiny_settings(window, paced)
]
SHORT = [
    setting
    for count, small in BUFFERS.items()
    for limit in (small, WHOLE)
    for setting in short_settings(count, limit)
]


@pytest.mark.parametrize(
    ("study", "scenario", "settings"),
    [("paced-or-bursty", "tiny-buffer", TINY), ("short-flows", "short-flows", SHORT)],
)
def test_a_study_runs_the_scenarios_of_its_page(
    study: str, scenario: str, settings: list[dict[str, str]]
) -> None:
    plan = goodqueue.Study(ROOT / "studies" / f"{study}.toml").plan
    path = ROOT / "scenarios" / f"{scenario}.toml"
    shown = {goodqueue.load(path, set=setting).canonical_toml() for setting in settings}
    assert {variant.scenario.canonical_toml() for variant in plan.variants} == shown
    assert list(plan.seeds) == list(range(1, SEEDS + 1))
    assert len(plan.variants) == len(settings) == len(shown)


def test_pacing_makes_fifteen_packets_enough() -> None:
    """The flows ask for 20 windows of 32 packets of 1500 bytes a round trip, 77.5 Mb/s."""
    path = ROOT / "scenarios" / "tiny-buffer.toml"
    rtts = [80 + 40 * flow / 19 for flow in range(20)]
    asked = sum(32 * 1500 * 8 / (rtt / 1000) for rtt in rtts) / 100e6

    def used(paced: str) -> float:
        summary = goodqueue.run(path, set={"tcp.pacing": paced}).summary
        return float(summary["links"]["bottleneck"]["utilization"])

    assert 0.97 < used("true") / asked <= 1.001
    assert used("false") < 0.65 * asked


def test_a_small_buffer_makes_short_transfers_shorter() -> None:
    path = ROOT / "scenarios" / "short-flows.toml"

    def seconds(limit: int) -> float:
        setting = {"topology.bottleneck.queue.limit": f"{limit}B"}
        return float(
            goodqueue.run(path, set=setting).summary["flows"]["short"]["mean_transfer_time_s"]
        )

    assert seconds(WHOLE // 10) < 0.8 * seconds(WHOLE)
