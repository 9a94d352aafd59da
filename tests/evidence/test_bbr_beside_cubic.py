"""Tests of BBR's share beside CUBIC in deep buffers, and of its model."""

from __future__ import annotations

import pytest

from conftest import ROOT
from evidence.bbr_beside_cubic.make import CASES, PAGE, PART, Case, measure, model, table
from evidence.core.pages import part


def test_the_model_gives_the_share_computed_by_hand() -> None:
    # 32 BDP of 33.3 packets: p = 1/2 - 1/64 - 4/1066.7; BBR is silent for 1.28 + 0.24 s of 10 s.
    assert model(32) == pytest.approx((0.5 + 1 / 64 + 0.00375) * 0.848)
    assert model(32, 30) == pytest.approx((0.5 + 1 / 64 + 0.00375) * (1 - 1.52 / 30))
    # In a buffer of one BDP no packets of the other flows wait during a measurement.
    assert model(1) == pytest.approx(1 - 0.028)


def test_bbr_needs_time_to_reach_its_share() -> None:
    """The model is of a steady state; if all flows start at once, BBR stays far below its share."""
    soon = (("duration", "160s"), ("warmup", "60s"))
    late = (("duration", "220s"), ("warmup", "120s"), ("flow.0.start", "60s"))
    rows = dict(measure([Case("together", soon), Case("late", late)], [32], replicates=3))
    assert rows["late"][0] > 1.3 * rows["together"][0]
    assert rows["late"][0] < model(32)


def test_the_page_has_the_table() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    shown = part(page, PART)
    assert shown.splitlines()[:4] == table([], [2, 4, 8, 16, 32], 1).splitlines()[:4]
    for case in CASES:
        assert f"| {case.name} |" in shown
