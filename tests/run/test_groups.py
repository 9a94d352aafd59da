"""Groups of more than 1,000 flows are summarised by the distributions of their flows' figures."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

import polars as pl
import pytest

import goodqueue
from conftest import goodqueue as command
from goodqueue.plots.runs import pictures

if TYPE_CHECKING:
    from pathlib import Path

    from goodqueue.runs.results.result import Result

CROWD = """\
schema_version = 1
duration = "1s"
[topology]
shape = "dumbbell"
access = { rate = "10Mbps", delay = "1ms" }
bottleneck = { rate = "100Mbps", delay = "5ms", queue = { kind = "drop_tail", limit = "50p" } }
[[flow]]
name = "crowd"
count = 1001
workload = { kind = "bulk" }
[[flow]]
name = "alone"
workload = { kind = "bulk" }
"""


@cache
def run() -> Result:
    return goodqueue.run(CROWD, series=True)


@cache
def run_listed() -> Result:
    return goodqueue.run(CROWD + "[record]\nflows = true\n", series=False)


def test_the_frame_of_groups_agrees_with_that_of_all_flows() -> None:
    groups, flows = run().groups, run_listed().flows
    assert run().flows["flow"].to_list() == ["alone"]
    assert run_listed().groups.height == 0
    assert flows.height == 1002
    own = flows.filter(pl.col("flow") != "alone")
    rows = {row["figure"]: row for row in groups.iter_rows(named=True)}
    for figure in ["goodput_bps", "mean_rtt_s", "packets_lost"]:
        row, values = rows[figure], own[figure].drop_nulls()
        assert row["group"] == "crowd"
        assert row["flows"] == len(values)
        assert row["min"] == values.min()
        assert row["max"] == values.max()
        assert row["mean"] == pytest.approx(values.mean(), rel=1e-12)
    assert rows["goodput_bps"]["sum"] == pytest.approx(own["goodput_bps"].sum(), rel=1e-12)
    assert 0 < rows["goodput_bps"]["jain_index"] <= 1
    assert 0 <= rows["limited_by.congestion"]["p50"] <= 1
    assert "losses_at" not in rows
    assert "class" not in rows


def test_pictures_of_a_large_group_are_drawn() -> None:
    names = [picture.name for picture in pictures(run(), "bottleneck")]
    assert "rtt" in names


def test_a_run_prints_the_distributions(tmp_path: Path) -> None:
    scenario = tmp_path / "crowd.toml"
    scenario.write_text(CROWD)
    printed = command("run", scenario)
    assert printed.returncode == 0, printed.stderr
    assert "Groups of flows" in printed.stdout
    assert "crowd.0" not in printed.stdout
    assert "alone" in printed.stdout
    as_json = command("run", scenario, "--json")
    assert len(as_json.stdout) < 60_000
    assert json.loads(as_json.stdout)["groups"]["crowd"]["flows"] == 1001


def test_a_scenario_may_have_more_than_a_hundred_thousand_flows() -> None:
    scenario = goodqueue.load(CROWD.replace("1001", "200000"))
    flows = {what: count for what, count, _ in scenario.memory()}
    assert flows["flows"] == 200_001
    assert flows["flows in the summary"] == 1
