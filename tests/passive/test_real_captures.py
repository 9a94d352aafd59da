"""Analysis of captures of real Linux TCP, compared with the configuration and with measurements.

docs/validation.md describes how they were made. The bounds are those that the estimates should
keep: 10 % for the link, and 10 % or 5 ms for round-trip times (Jiang and Dovrolis 2002).
"""

from __future__ import annotations

import json
import lzma
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from conftest import ROOT
from goodqueue.passive import Analysis, analyze

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CAPTURES = ROOT / "tests/data" / "captures"
SCENES = sorted(path.stem for path in CAPTURES.glob("*.json"))
FRAME = 1514


@dataclass(frozen=True)
class Scene:
    """A pair of captures and the true values."""

    truth: dict[str, Any]
    pair: Analysis
    before: Analysis
    after: Analysis

    @property
    def rate_bps(self) -> float:
        """Rate of the bottleneck in b/s; frames are counted with Ethernet's header, as in tc."""
        return float(self.truth["bottleneck"]["rate_bps"])

    @property
    def buffer_bytes(self) -> float:
        """Buffer in bytes: the whole frames of full size that fit its limit."""
        return float(self.truth["bottleneck"]["limit_bytes"] // FRAME * FRAME)

    @property
    def drops(self) -> int:
        """Number of drops that tc counted."""
        return int(self.truth["bottleneck"]["counted"]["drops"])


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("captures")

    def unpack(name: str) -> Path:
        path = folder / f"{name}.pcap"
        if not path.exists():
            path.write_bytes(lzma.decompress((CAPTURES / f"{name}.pcap.xz").read_bytes()))
        return path

    return unpack


@pytest.fixture(scope="module", params=SCENES)
def scene(request: pytest.FixtureRequest, unpacked: Callable[[str], Path]) -> Scene:
    name = request.param
    before, after = unpacked(f"{name}-before"), unpacked(f"{name}-after")
    truth = json.loads((CAPTURES / f"{name}.json").read_text())
    return Scene(truth, analyze(before, after=after), analyze(before), analyze(after))


def test_rate_buffer_and_losses_agree_with_the_configuration(scene: Scene) -> None:
    link = scene.pair.summary["link"]
    assert link["rate_bps"] == pytest.approx(scene.rate_bps, rel=0.1)
    assert link["buffer"]["bytes"] == pytest.approx(scene.buffer_bytes, rel=0.1)
    assert link["lost_packets"] == pytest.approx(scene.drops, rel=0.1)
    assert link["queue_kind"] == "fifo"


def test_one_capture_before_the_queue_gives_the_same_estimates_from_acks(scene: Scene) -> None:
    link = scene.before.summary["link"]
    assert link["rate_bps"] == pytest.approx(scene.rate_bps, rel=0.1)
    assert link["buffer"]["bytes"] == pytest.approx(scene.buffer_bytes, rel=0.1)
    assert link["lost_packets"] == pytest.approx(scene.drops, rel=0.1)
    assert link["utilization"] <= 1.0


def test_synchronization_is_a_share(scene: Scene) -> None:
    for told in (scene.pair, scene.before, scene.after):
        assert 0.0 < told.summary["bursts"]["synchronization"] <= 1.0
    if len(scene.truth["flows"]) == 1:  # a single flow has all the losses
        assert scene.pair.summary["bursts"]["synchronization"] == 1.0


def test_one_capture_behind_the_queue_gives_rate_and_losses(
    scene: Scene, unpacked: Callable[[str], Path]
) -> None:
    link = scene.after.summary["link"]
    assert link["rate_bps"] == pytest.approx(scene.rate_bps, rel=0.1)
    visible = scene.drops
    if not scene.truth["offloads"]:  # each frame is one segment, so the captures show every loss
        name = scene.truth["scene"]
        before, after = (segments(unpacked(f"{name}-{tap}")) for tap in ("before", "after"))
        # A segment that was lost twice left one gap in the capture behind the queue, not two.
        visible = sum(count > after[segment] for segment, count in before.items())
    assert link["lost_packets"] == pytest.approx(visible, rel=0.1)
    # The loss rate refers to the packets that arrived at the queue: those that passed and those
    # that were lost.
    pair = scene.pair.summary["link"]
    assert link["loss_rate"] == pytest.approx(link["lost_packets"] / link["packets"])
    assert link["packets"] == pytest.approx(pair["packets"], rel=0.02)
    assert link["goodput_bps"] == pytest.approx(pair["goodput_bps"], rel=0.005)


def test_counts_of_passed_packets_do_not_contradict_each_other(scene: Scene) -> None:
    for told in (scene.pair, scene.before, scene.after):
        link = told.summary["link"]
        assert link["goodput_bps"] <= link["throughput_bps"]
        assert told.series["losses"].sum() == link["lost_packets"]


def segments(path: Path) -> Counter[bytes]:
    """Counts each segment of data in a capture, by addresses, ports and sequence number."""
    data, found, place = path.read_bytes(), Counter[bytes](), 24
    while place < len(data):
        kept = int.from_bytes(data[place + 8 : place + 12], "little")
        frame = data[place + 16 : place + 16 + kept]
        is_tcp = frame[12:14] == b"\x08\x00" and frame[23] == 6
        # More bytes than all headers together have.
        if is_tcp and int.from_bytes(frame[16:18]) > 40 + 40:
            found[frame[26:42]] += 1
        place += 16 + kept
    return found


def test_round_trip_times_agree_with_ping(scene: Scene) -> None:
    flows = scene.pair.flows
    for truth in scene.truth["flows"]:
        (flow,) = flow_of(flows, truth).to_dicts()
        idle = truth["ping_idle"]["median_ms"] / 1e3
        assert flow["rtt_s"] == pytest.approx(idle, rel=0.1, abs=0.005), truth["sender"]


def test_flows_agree_with_iperf(scene: Scene) -> None:
    for truth in scene.truth["flows"]:
        (flow,) = flow_of(scene.pair.flows, truth).to_dicts()
        assert flow["retransmissions"] == pytest.approx(
            truth["retransmitted_segments"], rel=0.1, abs=1
        )
        assert flow["mss_bytes"] == 1448  # 1500 - 40 - 12 bytes of timestamps, for any offload
        if truth["pace_bps"]:
            assert flow["class"] == "application"
        elif truth["window_bytes"] < 10_000:
            assert flow["class"] == "receiver_window"
        else:
            assert (flow["class"], flow["bottleneck"]) == ("congestion", "local")


def flow_of(flows: pl.DataFrame, truth: dict[str, Any]) -> pl.DataFrame:
    """Returns the row of the flow with the data; iperf3's control connection is another flow."""
    name = f"{truth['sender']} > {truth['receiver']}/tcp"
    return flows.filter(pl.col("name") == name)
