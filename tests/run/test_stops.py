"""Events that end a run from outside (Ctrl-C, a full disk), and the progress shown before."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from conftest import COMMAND, SMALL
from goodqueue.runs.cost import cost_of
from goodqueue.runs.watch import Watch
from helpers.commands import ANSI, interrupted, on_terminal

if TYPE_CHECKING:
    from pathlib import Path

FAST = """\
schema_version = 1
duration = "3600s"

[topology]
shape = "dumbbell"
access = { rate = "2Tbps", delay = "1ms" }
bottleneck = { rate = "1Tbps", delay = "10ms", queue = { limit = "100p" } }

[[flow]]
name = "bulk"
count = 4
workload = { kind = "bulk" }
tcp = { receive_window = "1GB" }
"""
"""A scenario in which a simulated millisecond takes as long as a minute of an ordinary scenario."""

MAX_WAIT_S = 3.0
"""Longest wait in s. The documentation promises one second, but other load may delay the
machine."""


def large(links: int, flows: int) -> str:
    """Returns a chain that takes seconds to build, because every flow crosses every link."""
    link = '[[topology.link]]\nrate = "10Gbps"\ndelay = "10us"\nqueue = { limit = "100p" }\n'
    flow = f'[[flow]]\nname = "bulk"\ncount = {flows}\nworkload = {{ kind = "bulk" }}\n'
    head = 'schema_version = 1\nduration = "2s"\n[topology]\nshape = "chain"\n'
    return head + links * link + flow


@pytest.mark.parametrize("trace", [[], ["--pcap", "before=b.pcapng"]])
def test_ctrl_c_ends_a_run_of_a_fast_link_within_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trace: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    scenario = tmp_path / "fast.toml"
    scenario.write_text(FAST)
    took, words = interrupted(["run", scenario, *trace], 4, tmp_path)
    assert took < MAX_WAIT_S
    assert words.endswith("interrupted\n")
    assert [path.name for path in tmp_path.iterdir()] == ["fast.toml"], "no part of a trace is left"


def test_ctrl_c_ends_the_building_of_a_large_network(tmp_path: Path) -> None:
    scenario = tmp_path / "large.toml"
    # The routes have 40 million steps, which take far longer to build than the program takes to
    # start.
    scenario.write_text(large(400, 50_000))
    took, words = interrupted(["run", scenario, "--memory", "50GiB"], 2.5, tmp_path)
    assert took < MAX_WAIT_S
    assert words == "interrupted\n"


def test_ctrl_c_ends_a_sizing_of_a_fast_link(tmp_path: Path) -> None:
    scenario = tmp_path / "fast.toml"
    scenario.write_text(FAST)
    took, words = interrupted(["size", scenario, "--jobs", 1, "--budget", "1000000G"], 4, tmp_path)
    assert took < MAX_WAIT_S
    assert words == "interrupted\n"


def test_a_run_shows_its_progress_on_a_terminal_alone(tmp_path: Path) -> None:
    scenario = tmp_path / "long.toml"
    scenario.write_text(SMALL.replace("20s", "120000s"))
    shown = on_terminal("run", scenario)
    assert re.search(r"running, [\d.]+ s left", shown), shown[:500]
    assert "%" in shown
    plain = on_terminal("run", scenario, NO_COLOR="1")
    assert "running, " in plain
    assert not re.search(r"\x1b\[(3[0-7]|38|9[0-7])", plain)
    done = subprocess.run(
        [COMMAND, "run", scenario], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stderr == ""
    assert ANSI not in done.stdout


def test_a_run_of_less_than_a_second_shows_no_progress(tmp_path: Path) -> None:
    scenario = tmp_path / "short.toml"
    scenario.write_text(SMALL.replace("20s", "1s"))
    assert "s left" not in on_terminal("run", scenario)


def in_small_disk(folder: Path, size: str, command: str) -> subprocess.CompletedProcess[str]:
    """Runs a command with a file system of this size mounted on a folder, visible to it alone."""
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("no unshare(1) to mount a small disk with")
    mount = f"mount -t tmpfs -o size={size} none {folder}"
    prefix = [unshare, "-Urm", "sh", "-c"]
    if subprocess.run([*prefix, mount], capture_output=True, check=False).returncode:
        pytest.skip("user namespaces may not mount a small disk here")
    script = f"{mount} && {command}; code=$?; echo left: $(ls -A {folder}); exit $code"
    return subprocess.run(
        [*prefix, script], capture_output=True, text=True, check=False, timeout=120
    )


def test_a_capture_stops_before_the_disk_is_full(tmp_path: Path) -> None:
    scenario, disk = tmp_path / "s.toml", tmp_path / "disk"
    disk.mkdir()
    scenario.write_text(SMALL.replace("20s", "100000s"))
    done = in_small_disk(disk, "256m", f"{COMMAND} run {scenario} --pcap before={disk}/b.pcapng")
    assert done.returncode == 2, done
    assert done.stdout == "left:\n"
    # If the run has taken a second by then, the estimate is printed first.
    last = done.stderr[done.stderr.index("error: ") :]
    assert re.match(r"error: the run was stopped at \d+%, before the disk of ", last)
    assert "help: make room" in last
    assert last.count("error: ") == 1


def test_a_disk_that_is_already_full_gives_one_message(tmp_path: Path) -> None:
    scenario, disk = tmp_path / "s.toml", tmp_path / "disk"
    disk.mkdir()
    scenario.write_text(SMALL.replace("20s", "1000s"))
    done = in_small_disk(disk, "64k", f"{COMMAND} run {scenario} --pcap before={disk}/b.pcapng")
    assert done.returncode == 2, done
    assert done.stdout == "left:\n"
    assert done.stderr.count("error: ") == 1


def test_the_size_of_traces_is_estimated(tmp_path: Path) -> None:
    scenario, capture = tmp_path / "s.toml", tmp_path / "b.pcapng"
    scenario.write_text(SMALL.replace("20s", "15000s"))
    done = subprocess.run(
        [COMMAND, "run", scenario, "--pcap", f"before={capture}"],
        capture_output=True,
        text=True,
        check=True,
        timeout=200,
    )
    told = re.search(r"traces: about ([\d.]+) ([MG])B in all", done.stderr)
    assert told is not None, done.stderr
    estimate = float(told[1]) * {"M": 1e6, "G": 1e9}[told[2]]
    assert estimate == pytest.approx(capture.stat().st_size, rel=0.1)
    assert f"trace before: {capture} (" in done.stdout


def test_progress_is_reported_as_the_share_that_is_done() -> None:
    told: list[tuple[float, float]] = []
    watch = Watch(memory=1 << 60, progress=lambda share, seconds: told.append((share, seconds)))
    for share in (0.0, 0.5, 1.0):
        watch(share, 0)
    assert [share for share, _ in told] == [0.0, 0.5, 1.0]
    assert all(seconds >= 0 for _, seconds in told)


def test_the_cost_of_a_run_follows_the_pace_at_the_end_of_its_trial() -> None:
    # Nothing happens in the first half of the trial; after it 1 % of the run takes 0.1 s.
    points = [(0.0, 0.0), (0.1, 0.5), (0.2, 0.51), (0.3, 0.52), (0.4, 0.53)]
    assert cost_of(1.0, points) == pytest.approx(1.0 + 0.4 + 47 * 0.1)
    assert cost_of(1.0, [(0.0, 0.0), (0.2, 1.0)]) == pytest.approx(1.2)
