"""The table of all queues: its columns, and the figures that are committed."""

from __future__ import annotations

import csv

import pytest

from conftest import ROOT
from evidence.characterize.make import (
    COLUMNS,
    EVERY_FIGURE,
    PAGE,
    QUEUES,
    Column,
    seeds_of,
)
from goodqueue.characterization.guide import guide

GUIDE = guide("rfc7928")


@pytest.mark.parametrize("column", COLUMNS, ids=lambda one: one.head)
def test_every_column_is_a_figure_of_its_section(column: Column) -> None:
    section = next(one for one in GUIDE.sections if one.key == column.section)
    assert column.case < len(section.cases)
    assert column.metric in {measure.metric for measure in section.measures}
    assert section.number in column.head


def test_the_committed_figures_have_every_queue_and_every_section() -> None:
    with (ROOT / EVERY_FIGURE).open(encoding="utf-8", newline="") as file:
        (_, version), *rows = list(csv.reader(file))
    table = [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
    sections = {one.number for one in GUIDE.sections}
    for queue in QUEUES:
        assert {row["section"] for row in table if row["queue"] == queue} == sections, queue
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    assert f"results version {version}." in page
    assert all(f"| `{queue}` |" in page for queue in QUEUES)


def test_queues_with_fewer_runs_are_named() -> None:
    assert seeds_of({"codel": 10, "pie": 10}) == "10 runs"
    assert seeds_of({"codel": 10, "pie": 3}) == "10 runs (fewer: `pie` 3)"
