"""The comparison of queue disciplines on one bottleneck."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import ROOT
from evidence.which_queue.make import CASES, PAGE, SCENARIO, Case, compare, figures
from goodqueue import load


def test_figures_are_computed_from_the_summary() -> None:
    summary: dict[str, Any] = {
        "links": {
            "bottleneck": {"utilization": 0.5, "p99_queueing_delay_s": 0.025, "loss_rate": 0.01}
        },
        "flows": {
            "long.0": {"goodput_bps": 3e6},
            "long.1": {"goodput_bps": 1e6},
            "ping": {"p99_rtt_s": 0.050},
            "web.59": {"completion_time_s": 9.0},
            "web.60": {"completion_time_s": 0.2},
            "web.61": {"completion_time_s": None},
            "web.62": {"completion_time_s": 0.4},
        },
    }
    found = figures(summary)
    # Jain's index of 3 and 1 is 16 / (2 · 10).
    assert found == pytest.approx(
        {
            "utilization": 50,
            "p99_delay_ms": 25,
            "ping_ms": 10,
            "web_ms": 300,
            "loss": 1,
            "fairness": 0.8,
        }
    )


def test_a_fair_queue_shields_the_ping(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    wanted = {"drop_tail, 1000 packets", "fq_codel"}
    bloated, fair = compare([case for case in CASES if case.name in wanted], replicates=2)
    # 1000 packets of 1514 bytes take 606 ms at 20 Mb/s.
    assert 300 < bloated.ping_ms.mean < 606
    assert fair.ping_ms.mean < 5
    assert fair.web_ms.mean < bloated.web_ms.mean / 4
    assert fair.fairness.low > 0.95


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_case_is_a_scenario_and_has_its_row(case: Case) -> None:
    load(ROOT / SCENARIO, set=[("topology.bottleneck.queue", case.queue), *case.others])
    kind = case.name.split(",")[0]
    assert f"| `{kind}`{case.name[len(kind) :]} |" in (ROOT / PAGE).read_text(encoding="utf-8")
