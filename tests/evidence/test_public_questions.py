"""The questions of public threads: what follows from arithmetic and standards, and the page."""

from __future__ import annotations

from evidence.core.pages import part
from evidence.public_questions.changing import CHOICES, DOWNLOAD, PING, UPLOAD
from evidence.public_questions.limits import CASES, ENOUGH, LONG, MEBIBYTES, PACKETS, TCP, least
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


def test_a_limit_in_memory_agrees_with_one_in_packets() -> None:
    """A full frame takes 2,304 B of kernel memory, so 4 MiB hold 1,820 of them, with few ACKs."""
    goodput = [side[LONG] for side in recorded()["limits"].values()]
    fq_codel, cake = goodput[: len(PACKETS)], goodput[len(PACKETS) :]
    assert all(mean < 1e9 * 1448 / 1514 for mean, _, _ in goodput)
    packets, memory = PACKETS[least(fq_codel)], MEBIBYTES[least(cake)]
    assert 0.25 < packets * 2304 / (memory * 2**20) < 4


def test_the_first_limits_are_too_small_and_the_last_ones_make_no_difference() -> None:
    goodput = [side[LONG] for side in recorded()["limits"].values()]
    for some in (goodput[: len(PACKETS)], goodput[len(PACKETS) :]):
        (_, _, high), (_, low, _) = some[0], some[-1]
        assert high < ENOUGH * low


def test_cubic_needs_less_than_the_buffer_of_its_decrease() -> None:
    """A decrease by 30 % empties no buffer of 0.3/0.7 of 62.5 MB; UDP takes 2 of 10 Gb/s."""
    cases = dict(zip(CASES, recorded()["switch-buffer"].values(), strict=True))
    cubic = {buffer: side for (control, buffer), side in cases.items() if control == "cubic"}
    need = list(cubic)[least([side[TCP] for side in cubic.values()])]
    assert need <= 32
    assert 62.5 * 0.3 / 0.7 < 32
    assert all(side[TCP][2] < 8e9 for side in cases.values())


def test_a_cap_at_the_lowest_rate_is_never_above_the_line() -> None:
    named = dict(zip(CHOICES, recorded()["starlink"].values(), strict=True))
    free, lowest, *_ = named.values()
    assert lowest[UPLOAD][0] < 5e6
    assert lowest[DOWNLOAD][0] < 60e6
    # 256 kB take 102 ms at the mean rate up and 410 ms at the lowest.
    assert free[PING][0] > 0.1
    # The longest delays there and back are 48 ms, and 64 bytes wait behind a few packets.
    assert lowest[PING][2] < 0.08


def test_base_rates_make_no_difference_that_the_seeds_show() -> None:
    named = dict(zip(CHOICES, recorded()["starlink"].values(), strict=True))
    for program in ("cake-autorate", "sqm-autorate"):
        some = [side for name, side in named.items() if name.startswith(program)]
        for key in (PING, UPLOAD, DOWNLOAD):
            assert max(side[key][1] for side in some) < min(side[key][2] for side in some)


def test_an_autorate_has_more_than_the_lowest_cap_and_longer_pings() -> None:
    named = dict(zip(CHOICES, recorded()["starlink"].values(), strict=True))
    _, lowest, middle, *_ = named.values()
    sqm = named["sqm-autorate, base 8 and 90 Mb/s"]
    assert sqm[UPLOAD][1] > lowest[UPLOAD][2]
    assert sqm[DOWNLOAD][1] > lowest[DOWNLOAD][2]
    assert lowest[PING][2] < sqm[PING][1]
    for key, sign in ((PING, 1), (UPLOAD, -1), (DOWNLOAD, -1)):
        assert sign * sqm[key][0] < sign * middle[key][0]
