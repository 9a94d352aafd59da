"""Tables of switches beside the formula: rows that are fitted, and what the page says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conftest import ROOT
from evidence.core.pages import part
from evidence.headroom import fit, make, page
from evidence.headroom.fit import Row

GBPS = 10**9


def table(memory: float, fixed: float, delay_s: float, *, quanta: bool) -> list[Row]:
    """Returns a table that follows the formula exactly, but for whole bytes."""
    rows = []
    for speed in (10, 25, 40, 50, 100, 200, 400):
        for cable in (5, 40, 300):
            row = Row("vendor", "platform", "sku", speed * GBPS, cable, 0)
            reaction = row.reaction if quanta else 0
            size = fixed + memory * (row.on_cable + reaction + delay_s * row.speed / 8)
            rows.append(replace(row, xoff=round(size)))
    return rows


@pytest.mark.parametrize(("quanta", "delay_s"), [(True, 120e-9), (False, 2e-6)])
def test_a_table_that_follows_the_formula_is_predicted(quanta: bool, delay_s: float) -> None:
    rows = table(3.0, 40_000, delay_s, quanta=quanta)
    used = fit.of_device(rows)
    assert len(used) == 4
    found = fit.best(used)
    assert found.law == ("802.3" if quanta else "constant")
    assert found.memory == pytest.approx(3.0, rel=1e-3)
    assert all(abs(found.predicted(row) - row.xoff) < 0.001 * row.xoff for row in rows)


def test_the_cause_is_the_part_that_differs() -> None:
    rows = table(3.0, 40_000, 120e-9, quanta=True)
    own = fit.best(fit.of_device(rows))
    slow = [replace(row, xoff=row.xoff * 2 if row.speed == 50 * GBPS else row.xoff) for row in rows]
    (row,) = (one for one in slow if (one.speed, one.cable) == (50 * GBPS, 300))
    assert page.cause(row, own, slow) == "reaction"
    long = [replace(row, xoff=row.xoff * 2 if row.cable == 40 else row.xoff) for row in rows]
    (row,) = (one for one in long if (one.speed, one.cable) == (100 * GBPS, 40))
    assert page.cause(row, own, long) == "cable"
    near = next(one for one in rows if (one.speed, one.cable) == (row.speed, 5))
    copied = replace(row, xoff=near.xoff)
    assert page.cause(copied, own, [near, copied]) == "same for other cables"


def test_a_value_below_the_cable_is_its_own_cause() -> None:
    # 400 Gb/s over 2 km: 2 x 10 us x 50 B/ns are 1 MB.
    row = Row("vendor", "platform", "sku", 400 * GBPS, 2000, 999_999)
    assert row.on_cable == 1_000_000
    assert fit.impossible(row)
    assert not fit.impossible(replace(row, xoff=1_000_000))


def test_only_two_speeds_and_two_cables_are_fitted() -> None:
    for some in page.grouped(fit.rows(), "device").values():
        used = fit.of_device(some)
        assert len({row.speed for row in used}) <= 2
        assert len({row.cable for row in used}) <= 2
    for some in page.grouped(fit.rows(), "vendor").values():
        used = fit.of_vendor(some)
        assert len({row.speed for row in used}) <= 2
        assert len({row.cable for row in used}) <= 2


def test_fitted_rows_are_not_counted() -> None:
    found = page.judged(fit.rows())
    assert len(found) == 1450
    fitted = [one for one in found if one.of_device is None]
    used = [
        row for some in page.grouped(fit.rows(), "device").values() for row in fit.of_device(some)
    ]
    assert len(fitted) == len(used)
    assert not any(one.near(one.of_device) for one in fitted)


def test_the_page_says_what_the_rows_give() -> None:
    written = part(make.PAGE.read_text(encoding="utf-8"), page.PART)
    assert written == page.text(fit.rows())
    for vendor in {row.vendor for row in fit.rows()}:
        assert written.count(f"\n| {vendor} |") == 2
    assert (ROOT / make.PREDICTED).read_text(encoding="utf-8").count("\n") == 1451
