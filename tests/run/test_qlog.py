"""Logs in qlog: RFC 7464, and the fields of draft-ietf-quic-qlog-quic-events-13."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from conftest import goodqueue

if TYPE_CHECKING:
    from pathlib import Path

SCENARIO = """
schema_version = 2
title = "two uploads"
duration = "20s"
warmup = "0s"
[topology]
shape = "dumbbell"
bottleneck = { rate = "5Mbps", delay = "20ms", queue = { limit = "20p" } }
[[flow]]
name = "up"
count = 2
workload = { kind = "bulk" }
[[flow]]
name = "ping"
workload = { kind = "ping" }
"""

HEADER = {"packet_type", "packet_number"}
FIELDS = {
    "quic:packet_sent": {"header", "frames", "raw"},
    "quic:packet_received": {"header", "frames", "raw"},
    "quic:packet_lost": {"header", "trigger"},
    "quic:recovery_metrics_updated": {
        "min_rtt",
        "smoothed_rtt",
        "latest_rtt",
        "rtt_variance",
        "pto_count",
        "congestion_window",
        "bytes_in_flight",
        "ssthresh",
        "packets_in_flight",
        "pacing_rate",
    },
}


def records(file: Path) -> list[dict[str, Any]]:
    """Returns the records of a JSON text sequence."""
    text = file.read_text()
    assert text.startswith("\x1e")
    assert text.endswith("\n")
    return [json.loads(record) for record in text[1:].split("\x1e")]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The folder of the logs of one run, and its summary."""
    folder = tmp_path_factory.mktemp("qlog")
    (folder / "two.toml").write_text(SCENARIO)
    asked = ("--json", "--qlog", "all.sqlog", "--qlog", "up.0=one.sqlog")
    result = goodqueue("run", "two.toml", *asked, cwd=folder)
    assert result.returncode == 0, result.stderr
    return folder, json.loads(result.stdout)


def test_every_record_has_the_fields_of_the_draft(written: tuple[Path, dict[str, Any]]) -> None:
    head, *events = records(written[0] / "one.sqlog")
    assert head["file_schema"] == "urn:ietf:params:qlog:file:sequential"
    assert head["serialization_format"] == "application/qlog+json-seq"
    assert head["trace"]["event_schemas"] == ["urn:ietf:params:qlog:events:quic-13"]
    assert head["trace"]["common_fields"]["group_id"] == "up.0"
    assert {event["name"] for event in events} == set(FIELDS)
    for event in events:
        assert set(event) == {"time", "name", "data"}
        assert set(event["data"]) <= FIELDS[event["name"]]
        if "header" in event["data"]:
            assert set(event["data"]["header"]) == HEADER
    times = [event["time"] for event in events]
    assert times == sorted(times)
    assert times[-1] <= 20_000


def test_a_log_counts_what_the_summary_counts(written: tuple[Path, dict[str, Any]]) -> None:
    folder, summary = written
    _, *events = records(folder / "all.sqlog")
    for flow in ("up.0", "up.1"):
        figures = summary["flows"][flow]
        names = [event["name"] for event in events if event["group_id"] == flow]
        assert names.count("quic:packet_sent") == figures["packets_sent"]
        assert names.count("quic:packet_lost") == figures["retransmissions"] > 0
    assert {event["group_id"] for event in events} == {"up.0", "up.1"}


def test_every_packet_is_acknowledged_lost_or_under_way(
    written: tuple[Path, dict[str, Any]],
) -> None:
    _, *events = records(written[0] / "one.sqlog")
    sent: set[int] = set()
    gone: set[int] = set()
    for event in events:
        number = event["data"].get("header", {}).get("packet_number")
        if event["name"] == "quic:packet_sent":
            assert number not in sent
            if any(frame["frame_type"] == "stream" for frame in event["data"]["frames"]):
                sent.add(number)
        elif event["name"] == "quic:packet_lost":
            assert number in sent - gone
            gone.add(number)
        elif event["name"] == "quic:packet_received":
            for frame in event["data"]["frames"]:
                for first, *last in frame.get("acked_ranges", []):
                    now = set(range(first, (last or [first])[0] + 1))
                    assert not now & gone
                    gone |= now
    # 5 Mbit/s times 40 ms and 20 packets of queue hold 37 packets at most, of both flows.
    assert 0 < len(sent - gone) <= 40


def test_the_same_seed_gives_the_same_bytes(
    written: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    folder, _ = written
    result = goodqueue(
        "run", folder / "two.toml", "--json", "--qlog", "up.0=one.sqlog", cwd=tmp_path
    )
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "one.sqlog").read_bytes() == (folder / "one.sqlog").read_bytes()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("up=a.sqlog",), 'there is no flow "up"'),
        (("ping=a.sqlog",), 'the flow "ping" has no TCP to log'),
        (("=a.sqlog",), "write FILE or FLOW=FILE"),
        (("a.sqlog", "--qlog", "b.sqlog"), "all flows are logged already"),
        (("a.sqlog", "--qlog", "up.0=a.sqlog"), "a.sqlog is written already"),
        (("a.sqlog", "--trace", "DIR"), "--qlog does not go with --trace"),
    ],
)
def test_a_mistake_has_one_message(
    written: tuple[Path, dict[str, Any]], tmp_path: Path, asked: tuple[str, ...], message: str
) -> None:
    result = goodqueue("run", written[0] / "two.toml", "--qlog", *asked, cwd=tmp_path)
    assert result.returncode == 2
    assert message in " ".join(result.stderr.split())
    assert list(tmp_path.iterdir()) == []
