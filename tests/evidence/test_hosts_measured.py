"""The measured hosts: what the capture counts, and the tables of the page."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from evidence.hosts_measured import effects, make, page

sys.path.insert(0, str(Path("tools/captures").resolve()))
import aggregates


def _data(at: float, number: int, segments: int) -> aggregates.Seen:
    return aggregates.Seen(at, True, number, aggregates.MSS * segments, 5000)


def _ack(at: float, number: int) -> aggregates.Seen:
    return aggregates.Seen(at, False, number, 0, 5000)


def test_sizes_acks_and_answers_are_counted_after_the_slow_start() -> None:
    mss = aggregates.MSS
    seen = [_data(0.0, 0, 1), _ack(0.9, mss)]
    for step in range(10):
        at = 1.0 + 0.01 * step
        seen += [_data(at, mss * (1 + 4 * step), 4), _ack(at + 0.004, mss * (5 + 4 * step))]
    found = aggregates.measured(seen, pace_bps=0)
    assert found["segments_per_packet"]["p50"] == 4
    assert found["segments_per_ack"]["mean"] == 4
    # Nine times data follow an ACK, 6 ms later.
    assert found["ack_to_data_us"]["count"] == 9
    assert found["ack_to_data_us"]["p50"] == 6000
    assert found["rate_bps"] == round(9 * 4 * 8 * mss / 0.09)


def test_a_departure_is_late_by_the_time_beyond_its_pace() -> None:
    bits = 8 * (aggregates.MSS + aggregates.HEADERS)
    times = [0.0, 2.0, 2.001, 2.0025, 2.0035]
    seen = [_data(at, aggregates.MSS * index, 1) for index, at in enumerate(times)]
    late = aggregates.measured(seen, pace_bps=1000 * bits)["late_us"]
    assert (late["count"], late["p10"], late["p99"]) == (3, 0, 500)


def test_the_page_has_every_run() -> None:
    kernel = json.loads(make.DATA.read_text(encoding="utf-8"))
    assert [
        {key: row[key] for key in one} for row, one in zip(kernel["rows"], make.runs(), strict=True)
    ] == make.runs()
    assert page.text(kernel, make.SECONDS).count("Mb/s |") == sum(
        1 if row["pace_mbps"] else 2 for row in kernel["rows"]
    )


def test_each_interface_has_a_run_behind_both_limits() -> None:
    assert len(effects.cells()) == 2 * len(effects.INTERFACES)
    figures = {"utilization": 0.5, "segments_per_packet": 1, "segments_lost": 0}
    rows = [{**figures, "interface": "one", "mean_queueing_delay_ms": 2}] * 2
    assert effects.text(rows).endswith(
        "| one | 50.0 % / 50.0 % | 1.0 / 1.0 | 0.000 % / 0.000 % | 2.00 ms / 2.00 ms |\n"
    )


def test_virtual_ethernet_has_no_byte_queue_limits() -> None:
    queue = "/sys/class/net/va/queues/tx-0"
    commands = (
        "ip link add name va type veth peer name vb",
        "mount -t sysfs none /sys",
        f"ls {queue}",
    )
    inside = ("unshare", "-Urnm", "sh", "-ec", "; ".join(commands))
    listed = subprocess.run(inside, check=False, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip(f"no namespaces here: {listed.stderr.strip()}")
    assert "tx_timeout" in listed.stdout
    assert "byte_queue_limits" not in listed.stdout
