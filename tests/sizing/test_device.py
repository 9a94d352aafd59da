"""The buffer of a device, from `tc` and from SONiC, in `goodqueue size`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT, goodqueue
from goodqueue.errors import RequestError, ScenarioError
from goodqueue.sizing import Link
from goodqueue.sizing.device import read_device

if TYPE_CHECKING:
    from pathlib import Path

LINK = Link(20e6, (0.030,), flows=4)
SWITCH = ROOT / "crates/tc/tests/config_db.json"
SIZE = ("size", "--rate", "20Mbps", "--rtt", "30ms", "--flows", "4", "--quick", "--json")


def written(folder: Path, kind: str, limit: int) -> Path:
    """Writes what `tc -s -j qdisc show` prints of a queue, and returns the file."""
    queue = {"kind": kind, "dev": "wan", "root": True, "options": {"limit": limit}}
    file = folder / "tc.json"
    file.write_text(json.dumps([queue | {"packets": 997, "drops": 3}]))
    return file


def test_a_fifo_is_judged_beside_the_rules(tmp_path: Path) -> None:
    file = written(tmp_path, "pfifo", 100)
    answer = json.loads(goodqueue(*SIZE, "--device", str(file)).stdout)
    assert answer["rules"][-1]["rule"] == "configured"
    assert answer["rules"][-1]["packets"] == 100
    notes = " ".join(answer["notes"])
    assert "holds 100 packets = 60 ms" in notes
    assert "dropped 3 (0.300% of those that arrived)" in notes


def test_a_limit_in_bytes_counts_whole_packets(tmp_path: Path) -> None:
    device = read_device(str(written(tmp_path, "bfifo", 100_000)))
    assert device.on(LINK).configured_packets == 66


def test_an_aqm_has_no_row_and_is_named(tmp_path: Path) -> None:
    device = read_device(f"{written(tmp_path, 'fq_codel', 10_240)}:wan")
    assert device.on(LINK).configured_packets is None
    assert "keeps its queue below its limit of 10,240 packets" in device.notes(LINK)[0]


def test_a_queue_whose_limit_is_not_shown_is_named_with_the_reason(tmp_path: Path) -> None:
    device = read_device(str(written(tmp_path, "pfifo_fast", 1)))
    assert device.on(LINK).configured_packets is None
    assert "txqueuelen" in device.notes(LINK)[0]


LEAF = """\
qdisc htb 1: dev wan root refcnt 2 r2q 10 default 0x10 direct_packets_stat 0 direct_qlen 1000
 Sent 5064 bytes 10 pkt (dropped 2, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0
qdisc pfifo 120: dev wan parent 1:20 limit 50p
 Sent 64 bytes 1 pkt (dropped 0, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0
qdisc bfifo 110: dev wan parent 1:10 limit 30Kb
 Sent 5000 bytes 9 pkt (dropped 2, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0
qdisc noqueue 0: dev lo root refcnt 2
"""
"""Output of `tc -s qdisc show` for two classes of htb."""


def test_the_busiest_class_is_the_configured_queue(tmp_path: Path) -> None:
    file = tmp_path / "tc.txt"
    file.write_text(LEAF)
    answer = json.loads(goodqueue(*SIZE, "--device", str(file)).stdout)
    # 30,720 bytes hold 20 packets of 1500 bytes.
    assert answer["rules"][-1]["packets"] == 20
    notes = " ".join(answer["notes"])
    assert "that of the class 1:10 is taken, which sent most bytes" in notes
    assert "sent 9 packets, dropped 2" in notes
    assert read_device(f"{file}:wan/1:20").limit_packets == 50


def test_output_without_statistics_has_no_counters(tmp_path: Path) -> None:
    file = tmp_path / "tc.txt"
    file.write_text("qdisc pfifo 8001: dev wan root refcnt 2 limit 100p")
    assert read_device(str(file)).counters is None


def test_a_queue_of_a_switch_has_its_share_of_the_pool() -> None:
    device = read_device(f"{SWITCH}:Ethernet4|3")
    assert device.limit_bytes == 8_001_518
    assert device.on(LINK).configured_packets == 5334


def test_a_queue_of_a_switch_has_no_more_than_its_pool(tmp_path: Path) -> None:
    file = tmp_path / "config_db.json"
    config = json.loads(SWITCH.read_text())
    config["BUFFER_PROFILE"]["fixed"]["static_th"] = "99999999"
    file.write_text(json.dumps(config))
    device = read_device(f"{file}:Ethernet0|1")
    assert device.limit_bytes == 9_000_000
    remarks = " ".join(device.notes(LINK))
    assert "allows 100001517 B" in remarks
    assert "has static_th, and its pool egress_lossy_pool is dynamic" in remarks


def test_a_foreign_json_is_named(tmp_path: Path) -> None:
    file = tmp_path / "iperf3.json"
    file.write_text('{"start": {}, "intervals": [], "end": {}}')
    with pytest.raises(ScenarioError, match=r"is output of iperf3(?s:.*)config_db\.json of SONiC"):
        read_device(str(file))


def test_a_link_without_a_device_has_only_published_rules() -> None:
    answer = json.loads(goodqueue(*SIZE).stdout)
    assert "configured" not in {rule["rule"] for rule in answer["rules"]}


def test_files_that_are_no_device_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="cannot be read: No such file"):
        read_device(str(tmp_path / "absent.json"))
    broken = tmp_path / "broken.json"
    broken.write_text("[{")
    with pytest.raises(ScenarioError, match=r"--device .*broken\.json: line 1, column 2"):
        read_device(str(broken))
    with pytest.raises(ScenarioError, match=r"queues(?s:.*)name one, as in FILE:Ethernet0"):
        read_device(str(SWITCH))
    with pytest.raises(ScenarioError, match="Ethernet0"):
        read_device(f"{SWITCH}:Ethernet0|9")
    with pytest.raises(RequestError, match="more than 16,777,216 bytes"):
        read_device("/dev/zero")
