"""`goodqueue reproduce` with `--set`, `--seeds` and `--out`: verdicts of changed rows."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import pytest

from conftest import goodqueue as command
from conftest import refused
from goodqueue.papers.condition import Open
from goodqueue.papers.experiment import experiment
from goodqueue.papers.table import TableExperiment

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("own_cache")

TABLE = ("reproduce", "gijsbers2011", "table5")


def cells(*arguments: object) -> list[dict[str, Any]]:
    done = command(*TABLE, *arguments, "--json")
    assert done.returncode == 0, done
    found: list[dict[str, Any]] = json.loads(done.stdout)["cells"]
    return found


def test_rows_that_are_still_the_papers_keep_their_verdict() -> None:
    """Every queue has six frames then, which is the paper's fourth row."""
    found = cells("--set", "topology.queue.limit=6p")
    figures = [one for one in found if not one["conclusion"]]
    assert {one["row"]["buffer_frames"] for one in figures if not one["changed"]} == {"6"}
    assert all(one["verdict"] == "matches" for one in figures if not one["changed"])
    assert all(one["verdict"] is None for one in figures if one["changed"])
    assert all(one["published"] is not None for one in figures)
    drops = {one["simulated"] for one in figures if one["quantity"] == "packets dropped"}
    assert len(drops) == 1
    ours = [one for one in found if one["conclusion"] and one["row"]["variant"] == "as fitted"]
    assert {one["published"] for one in ours} == {None}


def test_a_setting_that_the_paper_has_changes_nothing() -> None:
    plain = cells()
    assert cells("--set", "flow.upload.tcp.receive_window=100kB") == plain
    assert not any(one["changed"] for one in plain)


def test_more_seeds_of_a_run_without_chance_give_the_same_figures() -> None:
    few = {json.dumps(one["row"]): one for one in cells() if one["quantity"] == "packets dropped"}
    many = [one for one in cells("--seeds", "3") if one["quantity"] == "packets dropped"]
    for one in many:
        assert one["simulated"] == pytest.approx(few[json.dumps(one["row"])]["simulated"], rel=0.01)
        assert one["verdict"] == "matches"


def test_an_open_condition_has_its_values_under_every_seed() -> None:
    seeds = Open("seeds", "why", count=4).with_seeds(10)
    assert list(seeds.seeds) == list(range(1, 11))
    phases = Open("phases", "why", count=3, span=1.0, chosen=0.0).with_seeds(2)
    assert (len(phases.values), list(phases.seeds)) == (4, [1, 2])
    values = [1.0, 3.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0]
    assert phases.spread(values).mean == 2.0
    others = phases.others(values)
    assert (others.low, others.high) == (10.0, 15.0)


def test_the_cells_and_pictures_are_written_as_typed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ("--set", "topology.queue.limit=6p", "--seeds", "2", "--out", out)
    done = command(*TABLE, *arguments, "--format", "pdf")
    assert done.returncode == 0, done
    assert "other settings" in done.stdout
    names = {path.suffix for path in out.iterdir()}
    assert {".pdf", ".csv", ".json"} <= names
    assert not {".png", ".svg"} & names
    with (out / "cells.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    summary = json.loads((out / "summary.json").read_text("utf-8"))
    assert len(rows) == len(summary["cells"])
    assert {row["verdict"] for row in rows if row["buffer_frames"] == "1"} >= {"other settings"}


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("gijsbers2011", "--seeds", "3"), "changes one table"),
        (("gijsbers2011", "table5", "--set", "topology.queue.limt=6p"), "topology.queue.limt"),
        (("gijsbers2011", "table5", "--format", "pdf"), "--out DIR"),
        (("dhamdhere2005", "table1", "--seeds", "3"), "is computed"),
    ],
)
def test_a_mistake_is_refused_before_anything_is_run(arguments: tuple[str, ...], part: str) -> None:
    assert part in refused(command("reproduce", *arguments))


def test_the_table_itself_is_left_as_it_was() -> None:
    one = experiment("gijsbers2011", "table5")
    assert isinstance(one, TableExperiment)
    made = one.under([("topology.queue.limit", "6p")], 3)
    assert one.changed == frozenset()
    assert len(made.changed) == 7
    assert list(one.open.seeds) == [1]
