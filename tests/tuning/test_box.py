"""`goodqueue box`: closed forms of dynamic thresholds, exact incasts, and one screen."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import goodqueue
from conftest import ROOT, refused
from conftest import goodqueue as command
from goodqueue.boxes.api import Question
from goodqueue.boxes.scenario import SENDERS, Box
from goodqueue.boxes.switch import CUBIC_KEPT, RENO_KEPT, Incast, Ports, Switch
from goodqueue.runs.settings import scenario_of, settings_of
from goodqueue.sizing.link import USUAL_UTILIZATION
from helpers.commands import interrupted

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("own_cache")

SMALL = ("--ports", "12x1Gbps", "--memory", "400kB", "--incast", "8x16kB", "--replicates", "8")
CELLS = (0.25, 0.5, 1.0, 2.0, 8.0)


def answered(*arguments: object, code: int = 0) -> dict[str, Any]:
    done = command("box", *arguments, "--json")
    assert done.returncode == code, done
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.mark.parametrize("alpha", CELLS)
@pytest.mark.parametrize("busy", [1, 2, 5, 40])
def test_busy_ports_hold_the_shares_of_choudhury_and_hahne(alpha: float, busy: int) -> None:
    """Each of n busy ports holds alpha M / (1 + n alpha), and M / (1 + n alpha) stays free."""
    switch = Switch((Ports(52, 10e9),), 12_000_000, alpha)
    assert switch.held(busy) == pytest.approx(alpha * 12e6 / (1 + busy * alpha), rel=1e-12)
    assert busy * switch.held(busy) + switch.free(busy) == pytest.approx(12e6, rel=1e-12)
    # The inverse: as many ports hold this much, and one more do not.
    assert switch.busy_for(switch.held(busy)) == busy
    assert switch.busy_for(switch.held(busy) + 1) == busy - 1
    reserved = replace(switch, reserved_bytes=20_000)
    share = alpha * (12e6 - 52 * 20_000) / (1 + busy * alpha)
    assert reserved.held(busy) == pytest.approx(20_000 + share, rel=1e-12)
    assert reserved.busy_for(20_000) == 52


@pytest.mark.parametrize(("alpha", "busy"), [(0.5, 1), (0.5, 3), (1.0, 2), (2.0, 4), (8.0, 2)])
def test_overloaded_ports_of_a_run_hold_these_shares_to_a_frame(alpha: float, busy: int) -> None:
    switch = Switch((Ports(12, 1e9),), 600_000, alpha)
    settings = Box(switch, Incast(1, 1_000), 100e-6).settings()
    settings |= {"duration": "60ms", "warmup": "40ms"}
    # Each port gets twice its rate in full frames, which take six cells of 256 B.
    settings["flow"] = [
        {
            "name": f"load{port}",
            "count": 2,
            "from": f"host{2 * port + 4}..{2 * port + 5}" if port < 4 else "host0",
            "to": f"host{port}",
            "workload": {"kind": "cbr", "rate": "990Mbps", "packet": "1500B"},
        }
        for port in range(busy)
    ]
    run = goodqueue.run(scenario_of(settings, "overload").resolved_toml())
    held = run.summary["pools"]["memory"]["mean_occupancy_bytes"]
    assert switch.frame_bytes == 6 * 256
    assert held == pytest.approx(busy * switch.held(busy), abs=busy * 2 * switch.frame_bytes)


@pytest.mark.parametrize(("control", "kept"), [("reno", RENO_KEPT), ("cubic", CUBIC_KEPT)])
def test_one_session_fills_a_port_up_to_the_stated_round_trip(control: str, kept: float) -> None:
    """The port is as busy as `size` asks at this round trip, and not at one that is longer.

    Recovery takes a part of the rate, which the closed form leaves out.
    """
    switch = Switch((Ports(2, 1e9), Ports(2, 10e9)), 600_000, 1.0)
    longest_s = switch.session_rtt_s(1e9, kept)
    assert 8 * switch.held(1) == pytest.approx(1e9 * longest_s * (1 - kept) / kept)
    for factor, busy in ((1.0, True), (1.3, False)):
        box = Box(switch, Incast(1, 1_000), factor * longest_s, control)
        settings = box.settings()
        peak = (1e9 * box.rtt_s / 8 + switch.held(1)) / 1538
        settings["flow"] = [
            {
                "name": "session",
                "from": "host2",  # behind a faster port, so that the queue is in the switch
                "to": "host0",
                "workload": {"kind": "bulk"},
                "peak_window": f"{round(peak)}p",
            }
        ]
        # Many round trips, with a loss among them.
        settings |= {"duration": "4s", "warmup": "500ms"}
        run = goodqueue.run(scenario_of(settings, "session").resolved_toml())
        used = run["port0"].utilization
        assert (used >= USUAL_UTILIZATION) == busy, (factor, used)


def test_the_box_has_its_ports_and_its_memory(tmp_path: Path) -> None:
    box, _ = Question("6x10Gbps,2x100Gbps", "12MB", alpha=0.5, reserved="9kB").box()
    made = scenario_of(box.settings(), "box")
    assert [one for one in made.links if "." not in one] == [f"port{k}" for k in range(8)]
    links = settings_of(made)["topology"]["link"]
    assert [one["rate"] for one in links] == 6 * ["10Gbps"] + 2 * ["100Gbps"]
    assert {one["pool"] for one in links} == {"memory"}
    assert made.buffer("port0")["base_rtt_s"] == pytest.approx(100e-6)
    file = tmp_path / "box.toml"
    file.write_text(box.toml())
    assert goodqueue.load(file).resolved_toml() == made.resolved_toml()
    run = goodqueue.run(file, set={SENDERS: "4", "duration": "60ms"})
    assert run.summary["pools"]["memory"]["capacity_bytes"] == 12_000_000


def test_the_answer_names_memory_alpha_and_senders_with_both_errors() -> None:
    answer = answered(*SMALL, "--keep", "query.p99<=10ms")
    found = answer["searches"]
    assert set(found) == {"memory", "alpha", "degree", "busy"}
    for one in found.values():
        best = one["recommended"]
        low, high = best["interval"]
        assert low <= best["value"] <= high
        assert best["shown"]
    for name in ("memory", "alpha", "degree"):
        assert found[name]["world"]["hosts"].keys() >= {"paced senders", "Reno senders"}
    # The searches agree: with this alpha the port holds about what the memory's search asks for.
    alpha = found["alpha"]["recommended"]["value"]
    held = alpha / (1 + alpha) * 400_000
    needed = found["memory"]["recommended"]["value"] / 2
    assert needed / 2 < held < 4 * needed
    assert found["degree"]["recommended"]["value"] >= 8
    fields = ("ports", "memory_bytes", "sessions", "busy_by_theory", "budget", "keep", "shown")
    assert set(fields) <= set(answer)
    assert answer["budget"]["used"] <= answer["budget"]["packets"]


def test_the_largest_incast_is_exact_where_nothing_can_be_lost() -> None:
    """A memory for all answers loses nothing, so the port's rate alone bounds their number.

    The last byte of n answers of 46 frames arrives n times 46 frames after the first one.
    """
    frame_s = 1538 * 8 / 1e9
    bound = 0.5e-3 + 12 * 46 * frame_s
    keep = f"query.max<={1e3 * bound:.3f}ms"
    arguments = ("--ports", "40x1Gbps", "--memory", "40MB", "--incast", "4x64kB", "--rtt", "50us")
    answer = answered(*arguments, "--keep", keep, "--replicates", "8")
    degree = answer["searches"]["degree"]["recommended"]
    assert 12 <= degree["value"] <= 13


def test_a_bound_that_no_memory_keeps_is_impossible() -> None:
    # 128 kB take more than a millisecond of the port, and half of the answers end after half of it.
    answer = answered(*SMALL, "--keep", "query.p99<=500us", code=3)
    assert answer["searches"]["memory"]["impossible"]
    assert answer["searches"]["memory"]["recommended"] is None
    done = command("box", *SMALL, "--keep", "query.p99<=500us")
    assert done.returncode == 3
    assert done.stdout.startswith("No memory up to 1.6 MB keeps query.p99<=500us with alpha 1: at ")


def test_a_budget_that_is_too_small_leaves_an_estimate() -> None:
    answer = answered(*SMALL, "--keep", "query.p99<=10ms", "--budget", "100k", code=6)
    assert not answer["shown"]
    assert answer["budget"]["used"] <= 100_000


def test_the_answer_does_not_depend_on_the_number_of_threads(tmp_path: Path) -> None:
    alike = [
        answered(*SMALL, "--keep", "query.p99<=10ms", "--jobs", jobs, "--store", tmp_path / jobs)
        for jobs in ("1", "2")
    ]
    assert alike[0] == alike[1]


def test_the_answer_fits_a_screen_of_24_lines() -> None:
    done = command("box", *SMALL, "--keep", "query.p99<=10ms")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 24
    text = " ".join(lines)
    for part in ("suffice", "Set alpha to", "Incasts of up to", "CUBIC session", "Assumed:"):
        assert part in text


def test_marks_keep_the_queue_of_dctcp_short() -> None:
    drops = answered(*SMALL, "--keep", "query.p99<=10ms")
    marks = answered(*SMALL, "--keep", "query.p99<=10ms", "--control", "dctcp", "--mark-at", "20p")
    assert marks["control"] == "dctcp"
    assert drops["control"] == "cubic"
    assert marks["searches"]["degree"]["recommended"]["value"] >= 8


def test_a_switch_under_sonic_is_read(tmp_path: Path) -> None:
    config = json.loads((ROOT / "crates/tc/tests/config_db.json").read_text())
    config["PORT"] = {
        **{f"Ethernet{k}": {"speed": "10000"} for k in range(48)},
        **{f"Ethernet{k}": {"speed": "100000"} for k in range(48, 52)},
    }
    file = tmp_path / "config_db.json"
    file.write_text(json.dumps(config))
    box, notes = Question(config=f"{file}:Ethernet4|3").box()
    assert box.switch.groups == (Ports(48, 10e9), Ports(4, 100e9))
    assert (box.switch.alpha, box.switch.memory_bytes) == (8.0, 9_000_000)
    assert box.switch.reserved_bytes == 1_518
    assert "Ethernet" in notes[0]
    other, _ = Question(config=str(file), alpha=1.0, memory="12MB", ports="8x1Gbps").box()
    assert (other.switch.alpha, other.switch.memory_bytes, other.switch.ports) == (1, 12_000_000, 8)
    assert "PORT" in refused(command("box", "--config", ROOT / "crates/tc/tests/devices.rs"))


MISTAKES = [
    (("--memory", "12MB"), "--ports: missing"),
    (("--ports", "8x1Gbps"), "--memory: missing"),
    ((), "--ports and --memory: missing"),
    (("--ports", "1x1Gbps", "--memory", "1MB"), "a switch has 2 to 1000 ports"),
    (("--ports", "1x1Gbps,4x10Gbps", "--memory", "1MB"), "a group of 2 ports or more first"),
    (("--ports", "8*1Gbps", "--memory", "1MB"), "--ports 8*1Gbps: write a number"),
    (("--ports", "8x1Gps", "--memory", "1MB"), "--ports"),
    (("--ports", "8x1Gbps", "--memory", "1kB"), "less than a frame of 1536 B"),
    (("--ports", "8x1Gbps", "--memory", "1MB", "--reserved", "1MB"), "8 ports reserve 8,000,000 B"),
    (("--ports", "8x1Gbps", "--memory", "1MB", "--incast", "0x1kB"), "--incast 0x1kB"),
    (("--ports", "8x1Gbps", "--memory", "1MB", "--rtt", "2s"), "--rtt 2s: write a time"),
    (("--ports", "8x1Gbps", "--memory", "1MB", "--alpha", "99"), "--alpha 99: write"),
    (("--ports", "8x1Gbps", "--memory", "1MB", "--control", "cubik"), "cubic"),
    (("--ports", "8x1Gbps", "--memory", "1MB", "--control", "dctcp"), "add --mark-at"),
    (("--ports", "8x1Gbps", "--memory", "1MB", "--mark-at", "5p"), "only flows of --control dctcp"),
    (("--ports", "8x1Gbps", "--memory", "1MB", "--keep", "quary.p99<=1ms"), "query"),
    (("--ports", "8x1Gbps", "--memory", "1MB", "--cell", "1MB"), "--cell 1MB: write"),
    (("--config", "missing.json"), "missing.json: cannot be read"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_wrong_questions_are_refused(arguments: tuple[str, ...], message: str) -> None:
    assert message in refused(command("box", *arguments))


def test_ctrl_c_ends_within_a_second(tmp_path: Path) -> None:
    ports = ("--ports", "48x10Gbps", "--memory", "12MB", "--budget", "100G")
    waited, words = interrupted(["box", *ports, "--jobs", "1"], 4.0, tmp_path)
    assert waited < 1.0
    assert "interrupted" in words


def test_mistakes_in_python_name_the_argument() -> None:
    with pytest.raises(goodqueue.RequestError, match=r"^ports and memory: missing") as mistake:
        goodqueue.box()
    assert "--" not in str(mistake.value)
    with pytest.raises(goodqueue.RequestError, match=r"^keep query\.p98: write a figure"):
        goodqueue.box("8x1Gbps", "200kB", keep="query.p98")
