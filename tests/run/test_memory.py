"""The memory of a run is predicted and limited, and threads are limited to a useful number."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest
from test_stops import large

from conftest import ROOT, SMALL, goodqueue, refused
from goodqueue import RequestError, load, run
from goodqueue.cli import run_command
from goodqueue.core.parallel import JOBS_PER_PROCESSOR, available_processors
from goodqueue.runs.memory import (
    Part,
    Room,
    check,
    limit_of,
    machine_bytes,
    needed,
    parts,
    resident_bytes,
)

if TYPE_CHECKING:
    from pathlib import Path

PEAK = """\
import json, pathlib, re, sys
import goodqueue, goodqueue.runs.results.result, polars
from goodqueue.runs.memory import needed, parts
def peak_kib():
    # ru_maxrss would be that of the process that started this one, if it had more.
    return int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1])
scenario = goodqueue.load(sys.argv[1])
before = peak_kib()
result = goodqueue.run(sys.argv[1], series=sys.argv[2] == "series")
if result.series is not None:
    result.series.backlog, result.series.windows, result.series.rtt
after = peak_kib()
foretold = needed(parts(scenario, series=sys.argv[2] == "series"))
print(json.dumps([foretold, 1024 * (after - before)]))
"""


@pytest.mark.parametrize(
    ("links", "flows", "duration"), [(1, 5000, "200ms"), (200, 500, "100ms")], ids=["flows", "hops"]
)
def test_the_memory_of_a_run_is_predicted(
    tmp_path: Path, links: int, flows: int, duration: str
) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text(large(links, flows).replace("2s", duration))
    foretold, taken = peak(scenario, "summary")
    assert taken <= 1.1 * foretold
    assert foretold <= 3 * taken


def test_the_memory_of_series_is_predicted(tmp_path: Path) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text(SMALL.replace("20s", "8000s"))
    foretold, taken = peak(scenario, "series")
    assert taken <= 1.5 * foretold
    assert foretold <= 4 * taken


def peak(scenario: Path, what: str) -> tuple[int, int]:
    """Returns the predicted memory of a run and its measured peak, in bytes."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK, scenario, what],
        capture_output=True,
        text=True,
        check=True,
        timeout=200,
    )
    foretold, taken = map(int, re.findall(r"\d+", done.stdout))
    return foretold, taken


def test_a_run_that_would_not_fit_is_refused_with_the_arithmetic(tmp_path: Path) -> None:
    scenario = tmp_path / "large.toml"
    scenario.write_text(large(1000, 100_000))
    message = refused(goodqueue("run", scenario, "--memory", "8GiB", timeout=30))
    assert "200,000,000 links of routes of " in message
    assert "the rest is " in message
    assert "may take 8.59 GB" in message
    fitting = re.search(r"help: reduce the flows \(to at most ([\d,]+)\)", message)
    assert fitting is not None, message
    raised = re.search(r"--memory (\d+)GiB", message)
    assert raised is not None, message
    # Both remedies in the message are sufficient.
    fewer = load(large(1000, int(fitting[1].replace(",", ""))))
    assert needed(parts(fewer)) <= 8 << 30
    assert needed(parts(load(large(1000, 100_000)))) <= int(raised[1]) << 30


def test_every_command_that_runs_keeps_to_the_limit(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = tmp_path / "study.toml"
    study.write_text('schema_version = 1\nscenario = "small.toml"\nseeds = [1]\n')
    for command in (
        ["run", str(small)],
        ["size", str(small), "--store", str(tmp_path / "store")],
        ["sweep", str(study), "--out", str(tmp_path / "runs")],
    ):
        assert run_command([*command, "--memory", "10kB"]) == 2, command
        assert "may take 10 kB" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("size", ["8", "8GBit", "-1GB", "0B"])
def test_a_memory_limit_that_is_no_size_is_refused(small: Path, size: str) -> None:
    assert "--memory" in refused(goodqueue("run", small, "--memory", size))


def test_a_run_that_records_too_much_is_stopped(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A prediction that is too low must not take the machine's memory, so the run is watched.
    monkeypatch.setattr("goodqueue.runs.memory.needed", lambda _: 0)
    text = small.read_text().replace("20s", "1000000s").replace("1Mbps", "100Mbps")
    text = text.replace("2Mbps", "200Mbps")
    session = '{ kind = "web", think = "1ms" }'
    text = text.replace('{ kind = "bulk" }', session).replace('"100ms"', '"1s"')
    room = (resident_bytes() or 0) + (250 << 20)
    with pytest.raises(RequestError, match=r"the run was stopped at .* recorded data") as raised:
        run(text, series=True, memory=f"{room}B")
    assert "help: shorten the duration" in str(raised.value)


def test_the_usual_limit_is_a_share_of_the_machine() -> None:
    assert limit_of(None) == int(0.75 * machine_bytes())
    assert limit_of("2GiB") == 2 << 30
    check([Part("flows", 3, 100)], 300)
    with pytest.raises(RequestError, match="3 flows of 100 B are 300 B"):
        check([Part("flows", 3, 100)], 299)


def test_runs_wait_until_there_is_room() -> None:
    scenario = load(SMALL)
    each = needed(parts(scenario, series=False, packets=False))
    room = Room(2 * each)
    inside, most = 0, 0
    lock = threading.Lock()

    def work() -> None:
        nonlocal inside, most
        for _ in range(20):
            with room.taken(each):
                with lock:
                    inside += 1
                    most = max(most, inside)
                threading.Event().wait(0.001)
                with lock:
                    inside -= 1

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert most == 2
    with Room(1).taken(each):
        pass  # A run starts if no other run is in progress; `check` has judged its size before.


@pytest.mark.usefixtures("small")
def test_no_more_threads_are_started_than_are_useful(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text('schema_version = 1\nscenario = "small.toml"\nseeds = [1]\n')
    done = goodqueue("sweep", study, "--jobs", 100_000, "--out", tmp_path / "runs")
    assert done.returncode == 0, done.stderr
    most = JOBS_PER_PROCESSOR * available_processors()
    assert f"note: {most} threads instead of 100,000" in done.stderr
    dry = goodqueue("sweep", study, "--jobs", 1, "--dry-run")
    assert "note" not in dry.stderr


@pytest.mark.parametrize("file", sorted((ROOT / "scenarios").glob("*.toml")), ids=lambda f: f.stem)
def test_every_ready_scenario_that_needs_too_much_memory_is_refused_with_a_remedy(
    file: Path,
) -> None:
    made = parts(load(str(file)), series=True, packets=True)
    for largest in made:
        ordered = sorted(made, key=lambda part: part != largest)
        with pytest.raises(RequestError, match=r"would take about .*\n  help: .*--memory"):
            check(ordered, 1)


def test_wifi_is_refused_with_a_remedy() -> None:
    message = refused(goodqueue("run", ROOT / "scenarios/wifi.toml", "--memory", "100kB"))
    assert "help: lower the queue limits or the receive windows" in message
