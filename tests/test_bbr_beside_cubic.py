"""BBR beside CUBIC."""

from __future__ import annotations

import pytest

from conftest import ROOT
from goodqueue.bbr_beside_cubic import BEGIN, CASES, END, PAGE, Case, measure, model, table


def test_the_model_by_hand() -> None:
    # 32 BDP of 33.3 packets: p = 1/2 - 1/64 - 4/1066.7, silent for 1.28 + 0.24 s of 10.
    assert model(32) == pytest.approx((0.5 + 1 / 64 + 0.00375) * 0.848)
    assert model(32, 30) == pytest.approx((0.5 + 1 / 64 + 0.00375) * (1 - 1.52 / 30))
    # In one BDP the others have nothing that waits.
    assert model(1) == pytest.approx(1 - 0.028)


def test_bbr_needs_time_to_reach_its_share() -> None:
    """What the model leaves out: with all flows starting at once BBR is far below its share."""
    soon = (("duration", "160s"), ("warmup", "60s"))
    late = (("duration", "220s"), ("warmup", "120s"), ("flow.0.start", "60s"))
    rows = dict(measure([Case("together", soon), Case("late", late)], [32], replicates=3))
    assert rows["late"][0] > 1.3 * rows["together"][0]
    assert rows["late"][0] < model(32)


def test_the_page_has_the_table() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    shown = page.split(BEGIN)[1].split(END)[0]
    assert shown.splitlines()[:4] == table([], [2, 4, 8, 16, 32], 1).splitlines()[:4]
    for case in CASES:
        assert f"| {case.name} |" in shown
