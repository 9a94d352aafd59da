"""Analysis of captures through the bindings: complete, truncated and wrong files, an ns-2 trace."""

from __future__ import annotations

import json
import lzma
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import ROOT
from goodqueue import ScenarioError, _core
from goodqueue.passive import analyze

DATA = ROOT / "tests/data"


def unpacked(name: str, folder: Path) -> Path:
    """Returns a file of the test data, decompressed."""
    path = folder / Path(name).stem
    path.write_bytes(lzma.decompress((DATA / name).read_bytes()))
    return path


def columns(table: _core.Table) -> dict[str, np.ndarray[Any, Any]]:
    """Returns the core's columns as arrays."""
    return {name: np.frombuffer(data, kind) for name, (kind, data) in table.items()}


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a trace of a run of ns-2 (tools/ns2/trace.tcl)."""
    return unpacked("ns2/dumbbell.tr.xz", tmp_path_factory.mktemp("ns2"))


@pytest.fixture(scope="module")
def monitor() -> dict[str, Any]:
    """Returns the output of ns-2's own queue monitor at the end of that run."""
    told: dict[str, Any] = json.loads((DATA / "ns2/dumbbell.json").read_text())
    return told


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a capture of Linux TCP before a queue."""
    return unpacked("captures/reno-before.pcap.xz", tmp_path_factory.mktemp("captures"))


def test_totals_of_a_trace_are_those_of_ns2s_monitor(trace: Path, monitor: dict[str, Any]) -> None:
    """Arrivals, departures and drops of packets and bytes are equal."""
    rows = json.loads(_core.analyze(trace).summary_json())["reading"][0]["links"]
    at_link = [row for row in rows if [row["from"], row["to"]] == monitor["link"]]
    events = {"arrivals": "enqueued", "departures": "dequeued", "drops": "dropped"}
    for word, event in events.items():
        for letter, unit in (("p", "packets"), ("b", "bytes")):
            counted = sum(row[f"{event}_{unit}"] for row in at_link)
            assert counted == monitor[f"{letter}{word}"], (event, unit)


def test_the_analysis_of_a_trace_of_ns2_finds_the_link_that_drops(
    trace: Path, monitor: dict[str, Any]
) -> None:
    """The rate is that of the link, and the losses of flows are the drops of TCP packets."""
    analysis = _core.analyze(trace)
    summary = json.loads(analysis.summary_json())
    assert summary["reading"][0]["format"] == "ns-2"
    # The monitored link has 1 Mb/s.
    assert summary["link"]["rate_bps"] == pytest.approx(1e6, rel=0.01)
    flows = columns(analysis.flows())
    links = summary["reading"][0]["links"]
    of_tcp = next(row for row in links if row["kind"] == "tcp" and row["dropped_packets"])
    assert flows["lost_target"].sum() == of_tcp["dropped_packets"]
    assert of_tcp["dropped_packets"] <= monitor["pdrops"]


@pytest.mark.parametrize("cut", [1, 1000, 100_003])
def test_a_capture_cut_mid_write_is_analysed_up_to_the_cut(
    before: Path, tmp_path: Path, cut: int
) -> None:
    """The whole records before the cut count, and the summary says that it is cut."""
    whole = before.read_bytes()
    path = tmp_path / "cut.pcap"
    path.write_bytes(whole[:-cut])
    reading = json.loads(_core.analyze(path).summary_json())["reading"][0]
    assert reading["cut"] is True
    assert reading["skipped"]["cut_record"] == 1
    records, place = 0, 24
    while place + 16 <= len(whole) - cut:
        place += 16 + int.from_bytes(whole[place + 8 : place + 12], "little")
        records += place <= len(whole) - cut
    assert reading["frames"] == records


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"\x1f\x8b\x08\x00", "empty"),
        (b"\xfd7zXZ\x00", "xz"),
        (b"no capture\n", "text"),
        (bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"), "no frames"),
    ],
)
def test_files_without_packets_are_refused_in_one_message(
    tmp_path: Path, content: bytes, words: str
) -> None:
    """The message contains the path and the reason."""
    path = tmp_path / "odd"
    path.write_bytes(content)
    with pytest.raises(ScenarioError, match=words) as caught:
        _core.analyze(path)
    assert str(path) in str(caught.value)


def test_unreadable_files_raise_an_os_error(tmp_path: Path) -> None:
    """The error has the system's words and the path, as Python's own errors have."""
    with pytest.raises(FileNotFoundError) as caught:
        _core.analyze(tmp_path / "absent.pcap")
    assert caught.value.filename == str(tmp_path / "absent.pcap")
    with pytest.raises(IsADirectoryError):
        _core.analyze(tmp_path)


def test_thresholds_are_named_described_and_obeyed(before: Path) -> None:
    """A high threshold makes every flow limited by its size. Unknown names are refused."""
    names = [name for name, _, _ in _core.passive_thresholds()]
    assert len(set(names)) == len(names)
    assert all(text for _, _, text in _core.passive_thresholds())
    with pytest.raises(ScenarioError, match="sise"):
        _core.analyze(before, thresholds=[("sise", 1.0)])
    for wrong in (float("nan"), float("inf"), -1.0):
        with pytest.raises(ScenarioError, match="least_decreases must be a number of at least 0"):
            _core.analyze(before, thresholds=[("least_decreases", wrong)])
    _core.analyze(before, thresholds=[(name, 0.0) for name in names])
    usual = columns(_core.analyze(before).flows())["congestion_control"]
    strict = [("least_decreases", 1e9)]
    changed = columns(_core.analyze(before, thresholds=strict).flows())["congestion_control"]
    unknown = _core.Analysis.names()["congestion_control"].index("unknown")
    assert (usual != unknown).any()
    assert (changed == unknown).all()


def test_a_drop_log_replaces_the_losses_of_the_capture(before: Path) -> None:
    """A log of drops without entries within the time of the capture is ignored."""
    first = json.loads(_core.analyze(before).summary_json())["first_s"]
    logged = _core.analyze(before, drops=[first + 1, first + 2, 0.0])
    summary = json.loads(logged.summary_json())
    assert summary["link"]["lost_packets"] == columns(logged.series())["losses"].sum() == 2
    assert (columns(logged.flows())["lost_target"] == -1).all()
    assert any("are left out: 1 of 3" in note for note in summary["notes"])
    elsewhere = _core.analyze(before, drops=[1.0, 2.0])
    assert (columns(elsewhere.flows())["lost_target"] >= 0).all()


def repeated(capture: bytes, times: int) -> bytes:
    """Returns a capture with this number of copies of its frames, 100 s after one another."""
    copies = [capture[:24]]
    for copy in range(times):
        place = 24
        while place < len(capture):
            seconds, fraction, held, length = struct.unpack_from("<4I", capture, place)
            copies.append(struct.pack("<4I", seconds + 100 * copy, fraction, held, length))
            copies.append(capture[place + 16 : place + 16 + held])
            place += 16 + held
    return b"".join(copies)


def test_progress_is_reported_and_can_stop_the_analysis(tmp_path: Path, before: Path) -> None:
    """The bytes read grow; an exception of the callback is passed on."""
    path = tmp_path / "long.pcap"
    path.write_bytes(repeated(before.read_bytes(), 20))
    told: list[int] = []
    _core.analyze(path, progress=told.append)
    assert told == sorted(told)
    assert told

    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _core.analyze(path, progress=stop)


def test_the_same_seed_gives_the_same_summary(before: Path) -> None:
    """Intervals come from a bootstrap with a seed."""
    first, same, other = (_core.analyze(before, seed=seed).summary_json() for seed in (1, 1, 2))
    assert first == same
    assert first != other


def test_a_given_rate_is_kept_although_a_throughput_has_an_error(before: Path) -> None:
    """A throughput that exceeds the user's rate by 0.4 % is an error of measurement, not a rate."""
    throughput = analyze(before).summary["link"]["throughput_bps"]
    given = int(throughput / 1.004)
    link = analyze(before, link_rate_bps=given).summary["link"]
    assert link["rate_bps"] == given
    assert link["utilization"] <= 1
    far = int(throughput / 1.5)
    assert analyze(before, link_rate_bps=far).summary["link"]["rate_bps"] is None
