"""Buffers in the units of devices, and links from the flags of the command line."""

from __future__ import annotations

import pytest

from goodqueue import ScenarioError
from goodqueue.errors import RequestError
from goodqueue.sizing.export import checks, exports
from goodqueue.sizing.question import Bounds, Question


def test_a_buffer_is_exported_in_the_units_of_each_device() -> None:
    linux, shaped, cisco, junos, switch, openwrt, mikrotik = exports(100, 1500, 50e6)
    assert linux.lines == ("tc qdisc replace dev DEV root bfifo limit 151400",)
    assert "100 x (1500 B IP + 14 B Ethernet) = 151400 B" in linux.arithmetic
    assert all("rate 50000000bit" in line and "limit 151400" in line for line in shaped.lines)
    assert "  queue-limit 100 packets" in cisco.lines
    # 100 packets of 1518 bytes take 24,288 µs at 50 Mb/s.
    assert junos.lines[1].endswith("buffer-size temporal 24288")
    assert switch.lines[0].startswith("151800 B")
    assert {"        option upload '50000'", "        option elimit '100'"} <= {*openwrt.lines}
    assert "        option qdisc 'pfifo'" in openwrt.lines
    assert mikrotik.lines[0].endswith("kind=pfifo pfifo-limit=100")
    assert "max-limit=50000000/50000000 queue=BUFFER/BUFFER" in mikrotik.lines[1]
    for export in (linux, shaped, cisco, junos, switch, openwrt, mikrotik):
        assert export.warning


def test_a_limit_of_packets_is_exported_in_packets() -> None:
    linux, shaped, *others = exports(100, 1500, 50e6, "packets")
    assert linux.lines == ("tc qdisc replace dev DEV root pfifo limit 100",)
    assert all(line.endswith("pfifo limit 100") for line in shaped.lines)
    assert not any("bfifo" in line for line in (*linux.lines, *shaped.lines))
    assert [one.device for one in others if one.unlike] == ["Junos", "switch with shared memory"]


def test_a_limit_of_bytes_is_exported_in_bytes() -> None:
    full, of_bytes = exports(100, 1500, 50e6), exports(100, 1500, 50e6, "bytes")
    assert [one.lines for one in full] == [one.lines for one in of_bytes]
    unlike = [one.device.partition(" ")[0] for one in of_bytes if one.unlike]
    assert unlike == ["Cisco", "OpenWrt", "MikroTik"]
    assert not any(one.unlike for one in full)


def test_the_instructions_for_a_check_give_the_expected_round_trips() -> None:
    lines = checks(50e6, 0.040, 0.024)
    assert any("idle about 40 ms, p99 about 64 ms" in line for line in lines)


def test_flags_become_a_link() -> None:
    bounds = Bounds(mix="90%", max_loss="1%", max_delay="500ms")
    link = Question("50Mbps", "20ms..534ms", 100, bounds=bounds).link()
    assert link.rate_bps == 50e6
    assert (len(link.rtts_s), link.rtts_s[0], link.rtts_s[-1]) == (18, 0.020, 0.534)
    assert link.local_share == pytest.approx(0.9)
    assert (link.max_loss_rate, link.max_delay_s) == (0.01, 0.5)
    # The BDP is 50 Mb/s times 277 ms over 12,000 bits.
    assert link.bdp_packets == pytest.approx(1154.2, abs=0.1)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (Question("50", "20ms", 1), "--rate"),
        (Question("50mbps", "20ms", 1), "--rate"),
        (Question("50Mbps", "20", 1), "--rtt"),
        (Question("50Mbps", "-20ms", 1), "--rtt"),
        (Question("50Mbps", "0ms", 1), "--rtt 0ms"),
        (Question("50Mbps", "20ms", 1, profile="linx"), "--profile linx.*did you mean 'linux'"),
        (Question("50Mbps", "20ms", 1, bounds=Bounds(max_loss="1")), "--max-loss 1.*below 100%"),
        (Question("50Mbps", "20ms", 1, packet="1500"), "--packet"),
        (Question("50Mbps", "90ms..20ms", 1), "20ms..90ms"),
        (Question("50Mbps", "40ms", 0), "at least one flow"),
        (Question("10kbps", "20ms", 1_000_000), "timeouts"),
        (Question("50Mbps", "20ms", 1, bounds=Bounds(max_delay="1us")), "no packet to wait"),
        (Question("50Mbps", "20ms", 1, bounds=Bounds(max_loss="0%")), "loss of 0%"),
    ],
)
def test_mistakes_name_the_flag(question: Question, words: str) -> None:
    with pytest.raises((ScenarioError, RequestError), match=words):
        question.link()
