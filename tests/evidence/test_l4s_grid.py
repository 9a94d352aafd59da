"""Tests of the grid of Prague beside CUBIC over DualPI2."""

from __future__ import annotations

import csv
from itertools import product
from statistics import fmean
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from evidence.core.pages import part
from evidence.l4s_grid.make import (
    EVERY_POINT,
    MIXES,
    PAGE,
    PART,
    RATES_MBPS,
    RTTS_MS,
    Point,
    measure,
    table,
    windows_table,
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
    (bare,) = measure(places, seeds=2, store=tmp_path)
    (spared,) = measure(places, {"min_qlen_step": "1p"}, seeds=2, store=tmp_path)
    assert fmean(bare.ratio) < 0.1
    assert 0.5 < fmean(spared.ratio) < 2


def test_the_rows_of_the_table_are_computed_from_the_points() -> None:
    def point(ratio: float, low_ms: float) -> Point:
        return Point(
            (1, 1), 4, 5, (ratio,) * 2, (0.25,) * 2, (low_ms,) * 2, (15.0,) * 2, (1.0,) * 2
        )

    points = [point(0.25, 1.0), point(1.0, 1.5), point(1.5, 1.5), point(3.0, 4.0)]
    row = table(points, {}, 2).splitlines()[2]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[:5] == ["4", "4", "1.00 to 3.00", "2", "0.250"]
    assert cells[6] == "3"
    assert float(cells[5].split(" ± ")[0]) == pytest.approx(2.0)


def test_shares_are_listed_by_the_window_of_an_equal_share() -> None:
    """Two flows over 4 Mb/s and 5 + 15 ms have 40 kbit each in a round trip: 3.3 packets."""

    def point(mix: tuple[int, int], least: float) -> Point:
        return Point(mix, 4, 5, (1.0,), (least,), (1.0,), (1.0,), (1.0,))

    assert point((1, 1), 1.0).fair_window == pytest.approx(10 / 3)
    points = [point((1, 9), 0.2), point((9, 1), 0.1), point((1, 1), 0.9)]
    rows = windows_table({"a": points, "b": [*points, point((1, 9), 0.01)]}).splitlines()
    assert rows[2:] == ["| 0 to 2 | 2 | 0.100 | 0.010 |", "| 3 to 4 | 1 | 0.900 | 0.900 |"]


def test_the_page_has_the_table() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    shown = part(page, PART)
    assert shown.splitlines()[:2] == table([], {}, 1).splitlines()[:2]
    assert "| all | 500 |" in shown


def test_the_rows_of_the_page_agree_with_the_points_of_the_file() -> None:
    shown = part((ROOT / PAGE).read_text(encoding="utf-8"), PART)
    with (ROOT / EVERY_POINT).open(encoding="utf-8", newline="") as file:
        points = list(csv.DictReader(file))
    for rate in RATES_MBPS:
        here = [one for one in points if float(one["rate_mbps"]) == rate]
        row = next(line for line in shown.splitlines() if line.startswith(f"| {rate} |"))
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        even = sum(0.5 <= float(one["ratio"]) <= 2 for one in here)
        short = sum(float(one["low_p99_ms"]) < 2 for one in here)
        assert [cells[1], cells[3], cells[6]] == [str(len(here)), str(even), str(short)]
        least = min(float(one["least"]) for one in here)
        assert float(cells[4]) == pytest.approx(least, abs=6e-4)
