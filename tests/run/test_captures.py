"""Captures of runs, read by tshark."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import pytest

import goodqueue
from conftest import SMALL
from conftest import goodqueue as command
from goodqueue.errors import ScenarioError

if TYPE_CHECKING:
    from pathlib import Path

    from goodqueue.runs.results.result import Result

TSHARK = shutil.which("tshark") or ""
needs_tshark = pytest.mark.skipif(not TSHARK, reason="tshark is not installed")

POINTS = ("sender", "receiver", "before", "after")
CHECKED = [
    word for protocol in ("ip", "tcp", "udp") for word in ("-o", f"{protocol}.check_checksum:TRUE")
]
# Groups of Wireshark's expert information: TCP's behaviour, and our comments.
SEQUENCE, COMMENT = 0x02000000, 0x0B000000

PROFILES = {
    "newreno": "{ recovery = 'newreno', mss = '536B', receive_window = '100kB', ack_every = 1 }",
    "rfc": "{ profile = 'rfc' }",
    "ns2": "{ profile = 'ns2', recovery = 'sack', receive_window = '60kB' }",
    "linux": "{ profile = 'linux', ecn = 'rfc3168' }",
    "bbr": "{ profile = 'linux', congestion_control = 'bbr' }",
}


FIELDS = {
    "expert": "_ws.expert.group",
    "sums": "ip.checksum.status",
    "tcp_sums": "tcp.checksum.status",
    "udp_sums": "udp.checksum.status",
    "comment": "frame.comment",
    "payload": "tcp.len",
    "again": "tcp.analysis.retransmission",
    "fast": "tcp.analysis.fast_retransmission",
    "spurious": "tcp.analysis.spurious_retransmission",
    "late": "tcp.analysis.out_of_order",
    "ack_rtt": "tcp.analysis.ack_rtt",
    "ping_ms": "icmp.resptime",
}


def tshark(capture: Path) -> list[dict[str, str]]:
    """Returns tshark's fields of each frame."""
    wanted = [word for field in FIELDS.values() for word in ("-e", field)]
    read = subprocess.run(
        [TSHARK, "-r", capture, *CHECKED, "-T", "fields", *wanted],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = (line.split("\t") for line in read.stdout.splitlines())
    return [dict(zip(FIELDS, line, strict=True)) for line in lines]


def overrides(profile: str) -> dict[str, str]:
    queue = "codel', ecn = true" if profile == "linux" else "drop_tail'"
    return {
        "flow.upload.tcp": PROFILES[profile],
        "topology.bottleneck.queue": f"{{ limit = '8p', kind = '{queue} }}",
    }


def round_trips(result: Result) -> list[float]:
    """Returns the times from the last transmission of a segment to the first ACK of its end."""
    assert result.packets is not None
    sent: dict[int, float] = {}
    found: dict[int, float] = {}
    columns = ("event", "time_s", "sequence", "payload_bytes", "acknowledgement")
    packets = result.packets.filter(flow="upload").select(*columns)
    for event, time, sequence, payload, acknowledged in packets.iter_rows():
        if event == "sent" and payload:
            sent[sequence + payload] = time
        elif event == "delivered" and acknowledged in sent and acknowledged not in found:
            found[acknowledged] = time - sent[acknowledged]
    return list(found.values())


@needs_tshark
@pytest.mark.parametrize("profile", PROFILES)
def test_tshark_finds_no_fault_and_counts_our_retransmissions(profile: str, tmp_path: Path) -> None:
    files = {point: tmp_path / f"{point}.pcapng" for point in POINTS}
    result = goodqueue.run(SMALL, set=overrides(profile), trace=files, snap="64KiB", packets=True)
    frames = {point: tshark(file) for point, file in files.items()}
    for seen in frames.values():
        assert {group for frame in seen for group in frame["expert"].split(",")} <= {
            "",
            str(SEQUENCE),
            str(COMMENT),
        }
        # tshark's 1 is "good".
        for sums in ("sums", "tcp_sums", "udp_sums"):
            assert {frame[sums] for frame in seen} <= {"", "1"}
    kinds = ("again", "fast", "spurious", "late")
    again = [
        frame
        for frame in frames["sender"]
        if frame["payload"] not in {"", "0"} and any(frame[kind] for kind in kinds)
    ]
    flow = result.summary["flows"]["upload"]
    assert len(again) == flow["retransmissions"] > 0
    theirs = [float(frame["ack_rtt"]) for frame in frames["sender"] if frame["ack_rtt"]]
    ours = round_trips(result)
    # tshark also has a sample of the handshake.
    assert 0 <= len(theirs) - len(ours) <= 2
    # One additional sample among hundreds moves a quantile by less than that.
    for share in (0.05, 0.25, 0.5, 0.75, 0.95):
        assert np.quantile(theirs, share) == pytest.approx(np.quantile(ours, share), rel=1e-3)
    link = result.summary["links"]["bottleneck"]
    comments = [frame["comment"] for frame in frames["before"]]
    assert sum("dropped" in text for text in comments) == link["drops"]
    assert sum("marked" in text for text in comments) == link["marks"]
    milliseconds = [float(frame["ping_ms"]) for frame in frames["sender"] if frame["ping_ms"]]
    ping = result.summary["flows"]["probe"]
    assert np.mean(milliseconds) * 1e-3 == pytest.approx(ping["mean_rtt_s"], rel=1e-5)


def test_impossible_captures_are_refused_before_the_run(small: Path, tmp_path: Path) -> None:
    for point, hint in {
        "befor": "before",
        "sender:uplod": "upload",
        "after:bottlneck": "bottleneck",
        "nowhere": "after:LINK",
    }.items():
        with pytest.raises(ScenarioError, match=hint):
            goodqueue.run(small, trace={point: tmp_path / "x.pcapng"})
    with pytest.raises(OSError, match=r"No such file or directory: '.*missing"):
        goodqueue.run(small, trace={"sender": tmp_path / "missing" / "x.pcapng"})
    assert [path.name for path in tmp_path.iterdir()] == ["small.toml"]


def test_the_command_line_writes_captures(small: Path, tmp_path: Path) -> None:
    file = tmp_path / "in=out.pcapng"
    done = command("run", small, "--pcap", f"before={file}", "--pcap", f"after={tmp_path / 'a'}")
    assert done.returncode == 0, done.stderr
    # The section header of pcapng.
    assert file.read_bytes()[:4] == b"\n\r\r\n"
    assert str(file) in done.stdout
    for wrong in (["--pcap", "before"], ["--snap", "64B"], ["--pcap", f"nowhere={file}"]):
        refused = command("run", small, *wrong)
        assert refused.returncode == 2
        assert "help:" in refused.stderr
