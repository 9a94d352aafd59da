"""The assignment: what the key says of the fetch times, and the page has what was made."""

from __future__ import annotations

from conftest import ROOT
from evidence.core.pages import part
from evidence.course import make
from evidence.gallery.runs import Shown


def rows() -> list[str]:
    page = (ROOT / make.PAGE).read_text(encoding="utf-8")
    return [line for line in part(page, make.PART).splitlines() if "±" in line]


def test_pages_take_longer_behind_the_long_queue_for_us_and_for_all_students() -> None:
    ratios = [float(line.rstrip(" |").rpartition("|")[2]) for line in rows()]
    assert len(ratios) == 10
    assert min(ratios) > 1.2


def test_our_ratio_lies_among_those_of_students_on_the_fast_link() -> None:
    ours, *theirs = [float(line.rstrip(" |").rpartition("|")[2]) for line in rows()[:7]]
    assert "goodqueue" in rows()[0]
    assert min(theirs) <= ours <= max(theirs)


def test_slow_pages_behind_the_short_queue_lost_a_syn() -> None:
    """The second question of the assignment: one second is the initial timeout of RFC 6298."""
    short, long = (
        Shown(make.SCENARIO).run(make.settings(make.LINKS["10", "4"], packets)).summary
        for packets in make.QUEUES
    )
    assert (
        short["flows"]["page"]["p99_handshake_time_s"]
        > 1.0
        > long["flows"]["page"]["p99_handshake_time_s"]
    )
    assert short["flows"]["page"]["p95_page_time_s"] > long["flows"]["page"]["p95_page_time_s"]
    assert short["flows"]["page"]["p50_page_time_s"] < long["flows"]["page"]["p50_page_time_s"]
