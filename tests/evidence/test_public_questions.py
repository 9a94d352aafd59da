"""The questions of public threads: what follows from arithmetic and standards, and the page."""

from __future__ import annotations

from evidence.core.pages import part
from evidence.public_questions.make import GOOD, PAGE, PART, QUESTIONS, recorded, shown


def test_the_page_shows_what_was_recorded() -> None:
    assert part(PAGE.read_text(encoding="utf-8"), PART) == shown(recorded())


def test_every_question_names_where_it_was_asked() -> None:
    assert set(recorded()) == {one.name for one in QUESTIONS}
    for one in QUESTIONS:
        assert one.threads
        assert all(place.startswith("https://") for place in one.threads)


def test_a_shaper_of_ip_packets_keeps_to_the_share_of_the_framing() -> None:
    """An IP packet of 1500 B takes 1530 B with PPPoE and PTM, and one more for each 64 begun."""
    found = recorded()["shaper"]
    share = 1500 / (1530 + 24)
    assert found["shown"]
    low, high = (bps / 10e6 for bps in found["interval_bps"])
    assert low <= share
    assert 0.9 * share <= found["rate_bps"] / 10e6 <= high <= 1.02 * share
    assert found["upload_bps"] < found["upload_at_line_bps"]


def test_calls_need_a_fair_queue_and_not_only_a_shaper() -> None:
    fifo, shaped, fair, cake = recorded()["calls"].values()
    for side in (fair, cake):
        assert side["call.mos"][1] > GOOD
    for side in (fifo, shaped):
        assert side["call.mos"][2] < GOOD
    for side in (shaped, fair, cake):
        assert side["upload.goodput_bps"][0] <= 9.5e6
