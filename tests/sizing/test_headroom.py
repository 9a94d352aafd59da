"""`goodqueue headroom`: the sum of the delays, published rows of switches, and refusals."""

from __future__ import annotations

import json

import pytest

import goodqueue as package
from conftest import goodqueue, refused
from goodqueue import RequestError, ScenarioError, headroom


def line_bytes(speed: str, cable: str, **options: str | int) -> int:
    """Returns the headroom of a memory without cells."""
    return headroom(speed, cable, cell=1, **options).line_bytes  # type: ignore[arg-type]


def test_the_headroom_is_the_sum_of_the_delays() -> None:
    # 100 Gb/s carries 12.5 B/ns: 2 x 300 m x 5 ns are 3,000 ns, 500 ns of MAC and PHY; 394 quanta
    # have 64 B each, two frames 9,138 B each with preamble and gap, and a PAUSE 84 B.
    by_hand = 37_500 + 6_250 + 394 * 64 + 2 * 9_138 + 84
    assert line_bytes("100Gbps", "300m", mtu=9100) == by_hand == 87_326


def test_a_metre_of_cable_holds_the_rate_times_ten_nanoseconds() -> None:
    # 200 m at 400 Gb/s: 400e9 / 8 x 2 x 200 x 5e-9.
    assert line_bytes("400Gbps", "500m") - line_bytes("400Gbps", "300m") == 100_000


def test_the_sum_of_cisco_is_met() -> None:
    # "Priority Flow Control: Build Reliable Layer 2 Infrastructure" adds the largest frames of both
    # ends, twice the wire (476 ns for 100 m of twinax), and 512 x 60 bits; here with frames of
    # 1,538 B on the line, and 84 B of the PAUSE itself.
    mine = line_bytes("100Gbps", "95.2m", mtu=1500, reaction="307.2ns", interface_delay="0ns")
    assert mine == 2 * 1_538 + 2 * 476 * 100 // 8 + 512 * 60 // 8 + 84


def test_the_frame_that_fills_cells_worst_counts() -> None:
    # A byte more than a cell of 96 B takes two: 192 B of memory for 117 B of the line. 64 B in a
    # cell of 256 B take 256 B for 84 B.
    assert headroom("10Gbps", "5m", cell=96).worst_frame == 97
    large = headroom("10Gbps", "5m", cell=256)
    assert large.worst_frame == 64
    pause = large.parts[1]
    assert [int(pause.line_bytes), int(pause.buffer_bytes)] == [84, 256]


def test_sizes_are_whole_cells_and_a_longer_cable_needs_no_less() -> None:
    sizes = [headroom("200Gbps", f"{length}m", cell=208).xoff for length in range(0, 2000, 37)]
    assert sizes == sorted(sizes)
    assert all(size % 208 == 0 for size in sizes)


def test_half_of_a_kind_of_frames_is_half_way() -> None:
    none, half, all_ = (
        headroom("100Gbps", "300m", worst_frames=share).parts[4].buffer_bytes
        for share in (0, "50%", 1.0)
    )
    assert none + all_ == 2 * half


def test_a_shared_pool_is_the_headroom_of_all_over_the_ratio() -> None:
    # Nexthop's row for 400 Gb/s over 500 m, and the pool of 256 ports at 1:4 in its
    # configuration (sonic-buildimage, pull request 29565): 1,887,900 x 256 / 4.
    found = headroom("400Gbps", "500m", cell=420, ports=256, oversubscription=4)
    assert found.dedicated == 256 * found.xoff
    assert 0 <= found.shared - found.dedicated / 4 < 420
    assert found.size == found.xon  # SONiC counts the headroom to the pool


def test_a_pool_holds_at_least_one_headroom() -> None:
    found = headroom("100Gbps", "40m", oversubscription=10)
    assert found.shared == found.xoff


def test_the_first_screen_has_the_answer_its_parts_and_the_lines() -> None:
    done = goodqueue("headroom", "--speed", "100Gbps", "--cable", "300m", "--mtu", "9100")
    found = headroom("100Gbps", "300m")
    assert done.returncode == 0, done.stderr
    assert f"{found.xoff:,} B for each lossless priority" in done.stdout.splitlines()[0]
    assert all(part.name in done.stdout for part in found.parts)
    assert f"100000 300m {found.size} {found.xon} {found.xoff} 0" in done.stdout
    assert len(done.stdout.splitlines()) < 30


def test_the_json_has_the_same_figures() -> None:
    done = goodqueue("headroom", "--speed", "25Gbps", "--cable", "2km", "--json")
    found = json.loads(done.stdout)
    assert found == package.headroom("25Gbps", "2km").as_dict()
    assert sum(part["line_bytes"] for part in found["parts"]) == pytest.approx(
        found["line_bytes"], abs=1
    )


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--speed", "33Gbps", "--cable", "3m"), "or --reaction"),
        (("--speed", "10Gbps", "--cable", "300"), "a length such as 300m or 2km"),
        (("--speed", "10Gbps", "--cable", "9000km"), "at most 1000km"),
        (("--speed", "10", "--cable", "3m"), "--speed"),
        (("--speed", "10Gbps", "--cable", "3m", "--mtu", "9MB"), "from 46B to 65535B"),
        (("--speed", "10Gbps", "--cable", "3m", "--cell", "0"), "from 1B"),
        (("--speed", "10Gbps", "--cable", "3m", "--ports", "0"), "from 1 to"),
        (("--speed", "10Gbps", "--cable", "3m", "--priorities", "9"), "from 1 to 8"),
        (("--speed", "10Gbps", "--cable", "3m", "--oversubscription", "0.5"), "from 1 to 1000"),
        (("--speed", "10Gbps", "--cable", "3m", "--worst-frames", "200%"), "--worst-frames"),
    ],
)
def test_mistakes_are_refused(options: tuple[str, ...], says: str) -> None:
    assert says in refused(goodqueue("headroom", *options))


def test_mistakes_in_python_name_the_argument() -> None:
    with pytest.raises(RequestError, match=r"^cable 300: .* 300m or 2km"):
        headroom("10Gbps", "300")
    with pytest.raises(ScenarioError, match=r"^error: speed: ") as refused:
        headroom("10", "300m")
    assert "--" not in f"{refused.value}{refused.value.help}"


def test_a_rate_that_802_3_does_not_know_needs_a_reaction_time() -> None:
    assert headroom("33Gbps", "3m", reaction="1us").reaction == pytest.approx(1e-6)
