"""Single flows over a path of the internet: the published figures, and what was fitted to one."""

from __future__ import annotations

from conftest import ROOT
from evidence.core.pages import part
from evidence.l4s_wan.make import NAMES, PAGE, PART, goodput, published

WITHIN = 0.02
"""Goal of the fit: relative distance from the first row."""


def rows() -> list[list[str]]:
    """Returns the cells of the page's table."""
    lines = part((ROOT / PAGE).read_text(encoding="utf-8"), PART).splitlines()
    return [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")][2:]


def test_the_page_has_every_published_figure() -> None:
    shown = [(name, queue, int(rate), float(mbps)) for name, queue, rate, mbps, *_ in rows()]
    expected = [
        (NAMES[one.control], one.queue, one.rate_mbps, one.goodput_mbps) for one in published()
    ]
    assert shown == expected


def test_both_laws_meet_the_row_that_they_were_fitted_to() -> None:
    _, _, _, mbps, _, *laws = rows()[0]
    for ours in laws:
        assert abs(float(ours) / float(mbps) - 1) < WITHIN


def test_without_jitter_nothing_waits_behind_the_step() -> None:
    """Prague then has nearly the rate, less headers: 1448 of 1514 bytes of 20 Mb/s."""
    first = published()[0]
    assert 0.95 * 20 * 1448 / 1514 < goodput(first, "", 0.0).mean < 20 * 1448 / 1514
