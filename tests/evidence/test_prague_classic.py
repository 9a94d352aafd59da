"""Tests of the tables of Prague behind queues without L4S."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from evidence.core.pages import part
from evidence.prague_classic.make import (
    CLASSIC,
    CLASSIC_PART,
    OFF,
    ON,
    OTHERS,
    PAGE,
    SHARED,
    SHARED_PART,
    TCP_2020,
    TCP_NOW,
    Figures,
    Row,
    classic_table,
    measure,
    published,
    settings,
    shared_table,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_every_published_row_names_a_queue_and_a_flow() -> None:
    rows = published()
    assert len(rows) == 24
    assert {row.queue for row in rows} == set(SHARED)
    assert {row.other for row in rows} == set(OTHERS) - {"prague"}
    # 45.70 / 1.94, published as 24:1
    assert rows[0] == Row("fq_codel(1q)", "cubic-ecn", 45.70, 1.94)
    assert rows[0].ratio == pytest.approx(23.56, abs=0.01)


def test_a_shared_queue_starves_the_classic_flow_and_detection_helps(tmp_path: Path) -> None:
    """24:1 was published; with detection Prague takes 31 % for a mark, nearly as CUBIC does."""
    shared = SHARED["fq_codel(1q)"]
    cases = [
        settings(shared, TCP_2020.format(fallback), OTHERS["cubic-ecn"]) for fallback in (OFF, ON)
    ]
    own = settings(CLASSIC["`fq_codel`"], TCP_NOW.format(OFF), OTHERS["cubic-ecn"])
    off, on, fair = measure([*cases, own], seeds=1, store=tmp_path)
    assert 12 < fmean(off.ratio) < 48
    assert 0.5 < fmean(on.ratio) < 3
    assert 0.9 < fmean(fair.ratio) < 1.1


def figures(ratio: float) -> Figures:
    return Figures((ratio,) * 2, (1.5,) * 2, (45.0,) * 2)


def test_the_factor_is_ours_over_the_published_ratio() -> None:
    rows = [Row("pie", "cubic-ecn", 40.0, 2.0), Row("pie", "reno-ecn", 40.0, 1.0)]
    text = shared_table(rows, [figures(30.0), figures(10.0)], [figures(2.0), figures(1.0)])
    assert "| pie | cubic-ecn | 20 | 30 ± 0 | 1.50 | 2.00 ± 0.00 |" in text
    assert "| pie | reno-ecn | 40 | 10 ± 0 | 0.25 | 1.00 ± 0.00 |" in text
    assert "Within a factor of 2 of the published ratio: 1 of 2." in text


def test_a_row_of_the_second_table_has_three_neighbours() -> None:
    off = [figures(1.0), figures(2.0), figures(1.0)]
    row = classic_table(["a"], off, off).splitlines()[2]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    expected = ["1.00 ± 0.00"] * 2 + ["2.00 ± 0.00"] * 2 + ["1.00 ± 0.00"]
    assert cells == ["a", *expected, "1.50 ± 0.00", "1.50 ± 0.00", "45 ± 0"]


def test_the_page_has_both_tables() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    shared, classic = part(page, SHARED_PART), part(page, CLASSIC_PART)
    assert shared.splitlines()[:2] == shared_table([], [], []).splitlines()[:2]
    assert classic.splitlines()[:2] == classic_table([], [], []).splitlines()[:2]
    for name in CLASSIC:
        assert f"| {name} |" in classic
    assert f"of {len(published())}." in shared
