"""Links whose queue is in a shared memory: the memory is sized, and the times of queries said."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import goodqueue
from conftest import ROOT, refused
from conftest import goodqueue as command
from goodqueue.cli import run_command
from goodqueue.sizing.link import Asked
from goodqueue.sizing.shared.pool import Pool, pool_of, with_memory
from goodqueue.sizing.trials.file import FileTrial
from goodqueue.sizing.trials.queries import times_of
from goodqueue.tuning.axis import axis_of
from goodqueue.tuning.bounds import keep_of
from goodqueue.tuning.subject import Subject

if TYPE_CHECKING:
    from pathlib import Path

INCAST = ROOT / "scenarios" / "incast.toml"
FRAME = 1538


def pool(policy: str = "dynamic", alpha: float | None = 1.0, headroom: int = 0) -> Pool:
    return Pool("memory", "topology.pool.0", policy, alpha, headroom, 10, 1_000_000, FRAME)


@pytest.mark.parametrize(
    ("of", "share"),
    [
        (pool(), 1 / 2),
        (pool(alpha=8.0), 8 / 9),
        (pool("static", None), 1 / 10),
        (pool("complete", None), 1.0),
    ],
)
def test_one_busy_link_holds_its_share(of: Pool, share: float) -> None:
    """Choudhury and Hahne (1998): one queue alone holds alpha / (1 + alpha) of the memory."""
    assert of.packets == int(share * 1_000_000 / FRAME)
    assert of.capacity_for(1000) == pytest.approx(1000 * FRAME / share, abs=2)
    assert of.capacity_for(of.packets) == 1_000_000


def test_headroom_is_held_beside_the_share() -> None:
    # 10 links reserve 20 kB each; half of the other 800 kB and its own 20 kB are 420 kB.
    assert pool(headroom=20_000).packets == 420_000 // FRAME
    assert pool(headroom=20_000).capacity_for(273) == pytest.approx(1_000_000, abs=3000)


@pytest.mark.parametrize("packets", [100, 400, 600])
def test_alpha_gives_the_memory_of_today_the_share(packets: int) -> None:
    alpha = pool().alpha_for(packets)
    assert alpha is not None
    assert abs(pool(alpha=1.0001 * alpha).packets - packets) <= 1


def test_no_alpha_gives_more_than_the_memory() -> None:
    assert pool().alpha_for(651) is None
    assert pool("static", None).alpha_for(100) is None


@pytest.mark.parametrize("packets", [50, 200])
def test_the_memory_lets_the_link_hold_so_many_packets(packets: int) -> None:
    scenario = goodqueue.load(INCAST, set={"flow.ping.workload.interval": "10s"})
    found = pool_of(scenario, "port0")
    assert found is not None
    summary = json.loads(with_memory(scenario, "port0", found, packets).run().summary_json())
    assert summary["links"]["port0"]["max_backlog_packets"] == packets


def test_a_smaller_limit_of_the_link_decides_in_place_of_the_memory() -> None:
    scenario = goodqueue.load(INCAST, set={"topology.port.queue.limit": "50p"})
    assert pool_of(scenario, "port0") is None
    trial = FileTrial(scenario, "port0", Asked())
    assert trial.scenario(trial.link, 20).buffer("port0")["limit_packets"] == 20


def test_queries_are_flows_that_end() -> None:
    scenario = goodqueue.load(INCAST)
    assert times_of(scenario) == {"answer": "answer.completion_time_s"}
    at_home = goodqueue.load(ROOT / "scenarios" / "home-web.toml")
    assert times_of(at_home) == {"downloads": "downloads.p99_transfer_time_s"}


@pytest.fixture(scope="module")
def sized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with the runs of a sized incast."""
    return tmp_path_factory.mktemp("runs")


def asked(
    capsys: pytest.CaptureFixture[str], store: Path, *flags: str
) -> tuple[int, dict[str, Any]]:
    only = ["--link", "port0", "--only", "answer", "--store", str(store)]
    code = run_command(["size", str(INCAST), *only, "--json", *flags])
    return code, json.loads(capsys.readouterr().out)


def test_the_memory_of_an_incast_is_sized(capsys: pytest.CaptureFixture[str], sized: Path) -> None:
    """Sixteen initial windows of ten arrive at once, and slow start ends within two round trips."""
    code, answer = asked(capsys, sized)
    decision = answer["decision"]
    assert code == 0
    assert answer["link"]["for_bursts"]
    assert 16 * 10 < decision["packets"] < 16 * 40
    memory = decision["memory"]
    assert (memory["pool"], memory["alpha"], memory["today_packets"]) == ("memory", 1.0, 325)
    assert memory["needed_bytes"] == pytest.approx(2 * decision["packets"] * FRAME, abs=2)
    assert any("the memory decides" in note for note in answer["notes"])
    (export,) = answer["exports"]
    assert f"{memory['needed_bytes']} B of shared memory" in export["lines"][0]
    (times,) = memory["queries"].values()
    # 16 x 256 kB take 34 ms of the port.
    assert 0.034 < times["with_it_s"] < 0.2
    assert times["lossless_s"] == pytest.approx(times["with_it_s"], rel=0.1)


def test_the_screen_tells_of_the_memory(capsys: pytest.CaptureFixture[str], sized: Path) -> None:
    only = ["--link", "port0", "--only", "answer", "--store", str(sized)]
    run_command(["size", str(INCAST), *only])
    out = " ".join(capsys.readouterr().out.split())
    assert "so the memory decides" in out
    assert "shared memory: 3" in out
    assert "a query of answer takes" in out
    assert "raise the rate" not in out


@pytest.mark.parametrize(
    ("name", "bound", "path"),
    [
        ("incast.toml", "answer.completion<=10ms", "topology.pool.memory.capacity"),
        ("partition-aggregate.toml", "worker.p99<=10ms", "topology.pool.switch.capacity"),
    ],
)
def test_a_switch_whose_flows_end_is_sized_by_their_times(name: str, bound: str, path: str) -> None:
    """Without a link the message has the command, and `tune` takes its range and its bound."""
    message = refused(command("size", ROOT / "scenarios" / name))
    vary = f"{path}=125000B..8000000B"
    assert f"--vary {vary} --keep '{bound.replace('10ms', 'TIME')}' --least {path}" in message
    subject = Subject(ROOT / "scenarios" / name)
    assert axis_of(vary, subject).ends == (125_000, 8_000_000)
    assert keep_of(bound, subject.scenario().metric_names()).bound.bound == 0.010
