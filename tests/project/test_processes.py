"""Every process that a test starts can be interrupted, and ends with its test."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, tracked
from helpers.emulation import within
from helpers.processes import ENDING, started

SLEEP = ["sleep", "300"]

OF_A_KILLED_TEST = """
from helpers.processes import started
with started(["sleep", "300"]) as process:
    print(process.pid, flush=True)
    process.wait()
"""


def exists(process: int) -> bool:
    """Returns true unless a process has ended, also if its end was not waited for."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return False


def line(process: subprocess.Popen[str]) -> str:
    """Returns the next line that a process prints."""
    assert process.stdout is not None
    return process.stdout.readline()


def test_only_the_helper_starts_processes_that_go_on() -> None:
    for path in tracked("tests/*.py"):
        if path.name not in {"processes.py", Path(__file__).name}:
            calls = re.search(r"Popen\(|create_subprocess|os\.(fork|posix_spawn)", path.read_text())
            assert calls is None, f"{path}: helpers.processes.started ends it with its test"


@pytest.mark.parametrize("number", ENDING)
def test_a_process_of_a_test_in_the_background_can_be_interrupted(number: signal.Signals) -> None:
    before = signal.signal(number, signal.SIG_IGN)
    try:
        with started(SLEEP) as process:
            assert signal.getsignal(number) is signal.SIG_IGN
            process.send_signal(number)
            assert process.wait(10) == -number
    finally:
        signal.signal(number, before)


def test_a_failed_test_leaves_no_process() -> None:
    pipeline = ["sh", "-c", "sleep 300 & echo $!; wait"]
    found: list[int] = []

    def fails() -> None:
        with started(pipeline, stdout=subprocess.PIPE, text=True) as process:
            found.extend((process.pid, int(line(process))))
            assert all(map(exists, found))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert within(5, lambda: not any(map(exists, found)))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_a_killed_test_leaves_no_process() -> None:
    command = [sys.executable, "-c", OF_A_KILLED_TEST]
    with started(command, stdout=subprocess.PIPE, text=True, cwd=ROOT / "tests") as test:
        child = int(line(test))
        assert within(5, lambda: Path(f"/proc/{child}/comm").read_text().strip() == "sleep")
        test.kill()
        test.wait()
        assert within(5, lambda: not exists(child))
