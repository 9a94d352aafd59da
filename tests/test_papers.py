"""Published tables: the comparison itself, and the tables against an independent simulation."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from conftest import goodqueue
from goodqueue.papers.experiment import Experiment, Range, papers, printed_unit, tables


@pytest.mark.parametrize(
    ("low", "high", "printed", "explained"),
    [
        (0.0404, 0.0406, "0.043", False),
        (0.0404, 0.0406, "0.040", True),  # cut
        (0.0404, 0.0406, "0.041", True),  # rounded
        (28, 30, "31", False),
        (28, 31, "31", True),
        (7.91, 7.91, "8", True),
        (76.4, 76.5, "76", True),
        (76.4, 76.5, "76.0", False),
        (987.31, 987.31, "987", True),
        (0.0, 0.5, "0.5", True),
        (0.6, 0.7, "0.5", False),
    ],
)
def test_a_figure_is_explained_if_it_would_be_printed_so(
    low: float, high: float, printed: str, *, explained: bool
) -> None:
    assert Range(low, high).explains(printed) is explained


def test_the_distance_is_to_the_nearest_end() -> None:
    assert Range(28, 30).distance("31") == -1
    assert Range(0.2, 0.3).distance("0.1") == pytest.approx(0.1)
    assert Range(28, 30).distance("29") == 0


def test_every_paper_is_complete() -> None:
    assert papers() == ["gijsbers2011"]
    for table in tables("gijsbers2011"):
        experiment = Experiment("gijsbers2011", table)
        rows = {run[0] for run in experiment.overrides()}
        assert rows == set(experiment.row_values)
        assert len(experiment.row_values) >= 8


@cache
def reproduced(table: str) -> list[dict[str, Any]]:
    done = goodqueue("reproduce", "gijsbers2011", table, "--json")
    rows: list[dict[str, Any]] = json.loads(done.stdout)["rows"]
    return rows


@pytest.mark.parametrize("table", ["table4", "table5"])
def test_ours_agrees_with_an_independent_simulation_to_a_printed_digit(table: str) -> None:
    published = Experiment("gijsbers2011", table)
    for row in reproduced(table):
        for name, cell in row["cells"].items():
            digit = printed_unit(published.printed(row["row"], name))
            ours, theirs = cell["ours"], cell["independent"]
            for end in ("low", "high"):
                assert ours[end] == pytest.approx(theirs[end], abs=digit + 1e-9), (row["row"], name)


def test_only_these_cells_are_explained_by_nobody() -> None:
    unexplained = [
        (table, row["row"], name)
        for table in ("table4", "table5")
        for row in reproduced(table)
        for name, cell in row["cells"].items()
        if cell["explained_by"] != "ours"
    ]
    assert unexplained == [
        ("table4", "5000", "rtt_s"),
        ("table4", "100000", "packet_drops"),
        ("table4", "100000", "avg_queue_length_frames"),
        ("table5", "100", "packet_drops"),
    ]
