"""The page of `goodqueue reproduce`: its links into the lab."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from goodqueue import _core
from goodqueue.output.papers import page as report
from goodqueue.papers.experiment import experiments, papers
from goodqueue.papers.table import PLAIN, TableExperiment
from helpers.lab_links import opened

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goodqueue.study.model import Run

TABLES = [one for name in papers() for one in experiments(name) if isinstance(one, TableExperiment)]


class Idle:
    """A runner that runs nothing, and answers 1 for every figure."""

    @staticmethod
    def figures(runs: Sequence[Run], metrics: Sequence[str]) -> list[list[float]]:
        """Returns a row of figures for each run."""
        return [[1.0] * len(metrics) for _ in runs]


def fits(scenario: _core.Scenario) -> bool:
    """Returns True if the run of a scenario, which names no file, keeps the bounds of the lab."""
    status, answer = _core.LabJob("open", json.dumps({"text": scenario.resolved_toml()})).answer()
    assert status == 200, answer
    return json.loads(answer)["too_large"] is None


@pytest.mark.parametrize("table", TABLES, ids=lambda one: f"{one.paper}-{one.name}")
def test_a_row_opens_its_run_if_the_lab_can_run_it(table: TableExperiment, tmp_path: Path) -> None:
    done = replace(table.reproduce(Idle()), pictures=tuple)  # type: ignore[arg-type]
    file = tmp_path / "page.html"
    report.write([(table, done)], file, ["reproduce"], tmp_path)
    page = file.read_text("utf-8")
    found = opened(page)
    wanted: dict[str, str] = {}
    for place, variant, run in table.runs():
        row = " ".join(table.rows[place][key] for key in table.keys)
        scenario = run.variant.scenario.with_seed(run.seed)
        if variant == PLAIN and (table.paper == "gijsbers2011" or fits(scenario)):
            # The lab records what its pictures need, and nothing else.
            text = scenario.resolved_toml().replace("tcp_delays = true", "tcp_delays = false")
            wanted.setdefault(row, text)
    assert {name: contents["resolved"] for name, contents in found.items()} == wanted
    assert page.count("goodqueue lab page.html") == (1 if wanted else 0)
