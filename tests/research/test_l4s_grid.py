"""Tests of the grid of Prague beside CUBIC over DualPI2."""

from __future__ import annotations

from itertools import product
from statistics import fmean
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from research.l4s_grid import (
    BEGIN,
    END,
    MIXES,
    PAGE,
    RATES_MBPS,
    RTTS_MS,
    Point,
    measure,
    table,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_the_grid_has_500_points_within_its_range() -> None:
    assert len({*product(MIXES, RATES_MBPS, RTTS_MS)}) == 500
    assert {(1, 1), (9, 1)} <= {*MIXES}
    assert (RATES_MBPS[0], RATES_MBPS[-1], RTTS_MS[0], RTTS_MS[-1]) == (4, 200, 5, 100)


def test_a_step_that_spares_a_lone_packet_keeps_prague_alive_on_a_slow_link(
    tmp_path: Path,
) -> None:
    """A packet takes 3 ms at 4 Mb/s, so a step of 1 ms marks every packet behind another one."""
    places = [((1, 1), 4, 20)]
    (bare,) = measure(places, 2, tmp_path)
    (spared,) = measure(places, 2, tmp_path, spared=1)
    assert fmean(bare.ratio) < 0.1
    assert 0.5 < fmean(spared.ratio) < 2


def test_the_rows_of_the_table_are_computed_from_the_points() -> None:
    def point(ratio: float, low_ms: float) -> Point:
        return Point(
            (1, 1), 4, 5, (ratio,) * 2, (0.25,) * 2, (low_ms,) * 2, (15.0,) * 2, (1.0,) * 2
        )

    points = [point(0.25, 1.0), point(1.0, 1.5), point(1.5, 1.5), point(3.0, 4.0)]
    row = table(points, [], 2).splitlines()[2]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[:5] == ["4", "4", "1.00 to 3.00", "2", "0.250"]
    assert cells[6] == "3"
    assert float(cells[5].split(" ± ")[0]) == pytest.approx(2.0)


def test_the_page_has_the_table() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    shown = page.split(BEGIN)[1].split(END)[0]
    assert shown.splitlines()[:2] == table([], [], 1).splitlines()[:2]
    assert "| all | 500 |" in shown
