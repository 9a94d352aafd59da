"""Tests of the study of BBRv3 beside CUBIC, by itself, and in its start-up."""

from __future__ import annotations

from functools import partial

from conftest import ROOT
from evidence.bbr3_beside_cubic.make import (
    BUFFERS,
    CASES,
    FLOWS,
    NO_EXIT,
    START,
    START_BUFFERS,
    alone,
    lines_of,
    measure,
    text_of,
)
from evidence.bbr_beside_cubic.make import PAGE
from evidence.core.pages import part
from goodqueue.core.intervals import Interval


def test_the_start_up_loses_nothing_where_twice_the_path_fits() -> None:
    """Its window is twice the bandwidth-delay product, and its exit on loss saves losses."""
    runs = {
        (0.25, "exit"): partial(alone, START, 0.25),
        (0.25, "none"): partial(alone, (*START, NO_EXIT), 0.25),
        (2.0, "exit"): partial(alone, START, 2.0),
    }
    found = {key: one["lost"].mean for key, one in measure(runs, seeds=1).items()}
    assert found[2.0, "exit"] == 0
    assert 0 < found[0.25, "exit"] < found[0.25, "none"]


def test_a_table_shows_means_and_half_widths() -> None:
    assert text_of(Interval(54.4, 1.26), 1) == "54.4 ± 1.3"
    assert lines_of(["a", "b"], [["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |\n"


def test_the_page_has_the_tables() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    beside = part(page, "bbr3 beside cubic").splitlines()
    assert [line.split("|")[1].strip() for line in beside[2 : 2 + len(CASES)]] == [
        case.name for case in CASES
    ]
    assert beside[0].count("BDP") == len(BUFFERS)
    for name, keys in (("bbr3 queue", FLOWS), ("bbr3 start", START_BUFFERS)):
        rows = part(page, name).splitlines()[2:]
        shown = [row.split("|")[1].strip() for row in rows if row]
        assert shown == [f"{key:g}" for key in keys]
