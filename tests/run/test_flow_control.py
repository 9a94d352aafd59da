"""Flow control of links: simulated switches beside what `goodqueue headroom` prints."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import pytest

import goodqueue
from conftest import ROOT
from conftest import goodqueue as command
from goodqueue.output.pauses import pauses

if TYPE_CHECKING:
    from goodqueue.sizing.lossless.headroom import Headroom

CELL = 256
SMALLEST = 46
"""IP bytes of the smallest frame of Ethernet, which fills a cell worst."""

FRAMES = 100
"""Full frames of memory before the threshold for pausing."""

PORTS = [
    ("10Gbps", "100m", 1500),
    ("25Gbps", "2km", 1500),
    ("100Gbps", "300m", 9100),
    ("400Gbps", "40m", 4000),
]


@dataclass(frozen=True)
class Switch:
    """A switch whose port receives packets of one size until its sender obeys a PAUSE.

    The switch has just begun a full frame over the cable when it decides to pause, and the sender
    begins a full frame just before it obeys. The memory counts cells: `framing` of the blocked
    egress gives a packet of each size the bytes of its cells.

    Attributes:
        found: headroom of the port.
        packet: IP bytes of the arriving packets.
        below: bytes by which the threshold for pausing lies below a whole number of frames.
    """

    found: Headroom
    packet: int
    below: int = 0

    @property
    def cells(self) -> int:
        """Memory of a full frame in bytes."""
        return ceil((self.found.mtu + 18) / CELL) * CELL

    @property
    def xoff(self) -> int:
        """Threshold for pausing in bytes."""
        return FRAMES * self.cells - self.below

    def time(self, packet: int) -> int:
        """Returns the time of a packet's frame on the line in picoseconds."""
        return ceil((packet + 38) * 8 * 10**12 / self.found.speed_bps)

    def run(self, headroom: int) -> dict[str, Any]:
        """Returns the figures of a run with this much memory beyond the threshold, in bytes."""
        cable = round(self.found.cable_m * 5000)
        _, frame, mac, _, reaction, *_ = self.found.parts
        delay = round((frame.seconds + mac.seconds + reaction.seconds) * 1e12)
        memory = self.cells if self.packet == self.found.mtu else CELL
        # The first packet does not wait, because the egress is idle.
        arrivals = 1 + ceil(self.xoff / memory)
        decided = arrivals * self.time(self.packet) + cable
        obeyed = decided - 1000 + self.time(self.found.mtu) + cable + delay
        once = f'rate = "{self.found.mtu * 8}bps", packet = "{self.found.mtu}B"'  # in a second
        rate = ceil(self.packet * 8 * 10**12 / self.time(self.packet))
        last = obeyed - self.time(self.packet) * 3 // 2
        text = f"""
schema_version = 2
duration = "{2 * obeyed}ps"
warmup = "0s"
[topology]
shape = "chain"
framing = "38B"
[[topology.link]]
name = "cable"
rate = "{self.found.speed_bps}bps"
delay = "{cable}ps"
queue = {{ limit = "unlimited" }}
pause = {{ xoff = "{self.xoff}B", xon = "0B", reaction = "{delay}ps" }}
[[topology.link]]
name = "egress"
rate = "1Mbps"
delay = "0s"
framing = {{ overhead = "{self.cells - self.found.mtu}B", minimum = "{CELL}B" }}
queue = {{ limit = "{self.xoff + headroom}B" }}
[[flow]]
start_jitter = "0s"
workload = {{ kind = "cbr", rate = "{rate}bps", packet = "{self.packet}B" }}
[[flow]]
name = "ahead-of-the-PAUSE"
from = 1
to = 0
start = "{decided - 1000}ps"
start_jitter = "0s"
workload = {{ kind = "cbr", {once} }}
[[flow]]
name = "begun-by-the-sender"
start = "{last}ps"
start_jitter = "0s"
workload = {{ kind = "cbr", {once} }}
"""
        return goodqueue.run(text).summary

    def used(self, headroom: int) -> int:
        """Returns the most memory beyond the threshold that a run uses, in bytes."""
        return int(self.run(headroom)["links"]["cable"]["peak_waiting_bytes"]) - self.xoff


@pytest.mark.parametrize(("speed", "cable", "mtu"), PORTS)
def test_the_printed_headroom_loses_nothing_and_nine_tenths_of_it_lose(
    speed: str, cable: str, mtu: int
) -> None:
    found = goodqueue.headroom(speed, cable, mtu=mtu, cell=CELL)
    for packet, printed in ((SMALLEST, found.xoff), (mtu, found.full_frames)):
        switch = Switch(found, packet)
        whole = switch.run(printed)
        assert whole["totals"]["dropped"] == 0
        assert whole["links"]["cable"]["pauses"] == 1
        assert whole["links"]["cable"]["paused_s"] > 0
        assert switch.run(printed * 9 // 10)["totals"]["dropped"] > 0


@pytest.mark.parametrize(("speed", "cable", "mtu"), PORTS)
def test_small_frames_fill_the_printed_headroom_up_to_some_cells(
    speed: str, cable: str, mtu: int
) -> None:
    found = goodqueue.headroom(speed, cable, mtu=mtu, cell=CELL)
    unused = found.xoff - Switch(found, SMALLEST).used(found.xoff)
    assert 0 <= unused <= 4 * CELL


@pytest.mark.parametrize(("speed", "cable", "mtu"), PORTS)
def test_a_frame_that_crosses_the_threshold_at_its_end_is_not_in_the_printed_headroom(
    speed: str, cable: str, mtu: int
) -> None:
    found = goodqueue.headroom(speed, cable, mtu=mtu, cell=CELL)
    whole = Switch(found, mtu)
    late = Switch(found, mtu, below=whole.cells - CELL)
    printed = found.full_frames
    assert late.used(2 * printed) - whole.used(printed) == late.below
    assert late.run(printed)["totals"]["dropped"] > 0
    assert late.run(printed + late.below)["totals"]["dropped"] == 0


INCAST = ROOT / "scenarios" / "lossless.toml"


def test_an_incast_loses_nothing_and_pauses_traffic_for_a_free_port() -> None:
    lossless = goodqueue.run(INCAST).summary
    lossy = goodqueue.run(INCAST, set={"topology.port.reverse.pause.xoff": "1GB"}).summary
    assert lossless["totals"]["dropped"] == 0
    assert lossy["totals"]["dropped"] > 0
    paused = {name for name, link in lossless["links"].items() if link.get("paused_s")}
    assert paused == {f"port{host}.reverse" for host in range(1, 9)}
    # The data of host 1 wait behind one another, whichever port they are for.
    victim, bystander = (lossless["flows"][name]["mean_rtt_s"] for name in ("victim", "bystander"))
    assert victim > 3 * bystander


def test_run_prints_the_longest_pauses_and_a_deadlock() -> None:
    done = command("run", INCAST)
    assert done.returncode == 0, done.stderr
    assert "Flow control" in done.stdout
    assert "port8.reverse" in done.stdout
    assert "deadlock" not in done.stdout
    links = {"a": {"pauses": 1, "paused_s": 0.5, "peak_waiting_bytes": 9, "pause_cycle": True}}
    assert "deadlock" in str(pauses(links, 1.0)[-1])
    idle = {"a": {"pauses": 0, "paused_s": 0.0, "peak_waiting_bytes": 9, "pause_cycle": False}}
    assert pauses(idle, 1.0) == ["No pause of 1 link with flow control"]
    assert pauses({"a": {}}, 1.0) == []
