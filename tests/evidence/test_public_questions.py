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


def test_a_session_fills_the_distance_that_follows_from_the_memory() -> None:
    """A port holds alpha M / (1 + alpha), and CUBIC keeps 0.7 of its window (RFC 9438)."""
    found = recorded()["switch"]
    for session in found["sessions"]:
        held = session["alpha"] / (1 + session["alpha"]) * 12e6
        rtt_s = 8 * held * 0.7 / 0.3 / session["rate_bps"]
        assert abs(session["cubic_rtt_s"] / rtt_s - 1) < 1e-9
        assert abs(session["cubic_m"] / (1e8 * rtt_s) - 1) < 1e-9
    assert 0.065 < found["load"] < 0.075
    low, high = found["memory_interval"]
    # A port need not hold all 32 answers of 55 kB, and 12 MB hold them several times.
    assert 0 < low <= found["memory_bytes"] <= high < 12e6
    assert found["senders"] >= 32


def test_the_headroom_of_a_longer_cable_is_larger() -> None:
    """The data of both ways of a metre at 100 Gb/s are 125 B, in cells of 256 B for 84 at worst."""
    found = recorded()["headroom"]
    on_the_line = 2 * 5e-9 * 100e9 / 8
    assert on_the_line < found["metre_bytes"] <= on_the_line * 256 / 84 * 1.01
    assert found["full_frames_bytes"] < found["xoff_bytes"]


def test_a_port_is_full_above_the_threshold_of_dctcp_and_not_below() -> None:
    """K > C RTT / 7 (Alizadeh and others, SIGCOMM 2010, equation 13): 5.8 frames at 25 Gb/s."""
    found = recorded()["marks"]
    law = 25e9 * 20e-6 / 8 / 7 / 1538
    most = max(one["goodput_bps"] for one in found["values"])
    for one in found["values"]:
        if one["threshold"] < 0.8 * law:
            assert one["goodput_bps"] < 0.95 * most
        if one["threshold"] > 1.5 * law:
            assert one["goodput_bps"] > 0.98 * most
    # A queue of 8 MB takes 2.6 ms of the port alone, and one of 80 kB 26 µs.
    deep = max(found["values"], key=lambda one: one["threshold"])
    assert deep["query_s"] > 2e-3
    assert law < found["threshold"] * 1.01
    assert found["threshold"] * 1538 < 80e3
