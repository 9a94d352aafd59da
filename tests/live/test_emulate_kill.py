"""A run of `emulate` leaves nothing behind, whichever of its processes is killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from conftest import COMMAND
from helpers.emulation import LINK, need_emulation, within
from helpers.processes import started

KILLS = int(os.environ.get("GOODQUEUE_KILLS", "8"))
"""Number of runs, each of which loses one process."""

PATIENCE_S = float(os.environ.get("GOODQUEUE_KILL_PATIENCE_S", "10"))
"""Time that the processes of a run have to end. On an idle machine they need less than a second."""

CLIENT = ("sleep", "876.5432")
SERVER = ("sleep", "765.4321")

Process = tuple[int, str]
"""Number of a process and the time of its start, which distinguish it from a later process of this
number.
"""


@pytest.fixture(scope="module", autouse=True)
def namespaces() -> None:
    """Skips the tests where the operating system refuses what an emulation needs."""
    need_emulation()


def processes() -> dict[Process, int]:
    """Returns the processes of this machine that have not ended, with their parents."""
    found = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            text = file.read_text(encoding="utf-8", errors="replace")
            state, parent, *rest = text.rpartition(")")[2].split()
            if state != "Z":
                found[int(file.parent.name), rest[17]] = int(parent)
    return found


def below(top: int) -> set[Process]:
    """Returns a process and all that it started, directly or not."""
    parents = processes()
    numbers = {top}
    while True:
        more = {number for (number, _), parent in parents.items() if parent in numbers} - numbers
        if not more:
            return {process for process in parents if process[0] in numbers}
        numbers |= more


def command_of(process: Process) -> str:
    """Returns the command of a process, an empty text if it has ended."""
    with suppress(OSError):
        text = Path(f"/proc/{process[0]}/cmdline").read_bytes()
        return text.decode(errors="replace").replace("\0", " ").strip()
    return ""


def spaces(process: int | str) -> set[str]:
    """Returns the namespaces of a process, empty if it has ended."""
    kinds = ("user", "net", "pid", "mnt", "ipc")
    with suppress(OSError):
        return {str(Path(f"/proc/{process}/ns/{kind}").readlink()) for kind in kinds}
    return set()


def ended(run: subprocess.Popen[bytes]) -> bool:
    """Returns true if a process that this one started has ended."""
    return run.poll() is not None


@pytest.mark.parametrize("seed", range(KILLS))
def test_nothing_is_left_of_a_run_of_which_a_process_was_killed(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)  # noqa: S311 - a choice, not a secret
    with started(
        [COMMAND, "emulate", *LINK, f"--server={' '.join(SERVER)}", "--", *CLIENT],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as run:
        wanted = " ".join(CLIENT)
        assert within(60, lambda: wanted in map(command_of, below(run.pid)))
        time.sleep(chance.random() * 0.2)
        before = processes()
        of_run = sorted(below(run.pid))
        # This process, one that makes namespaces, one that emulates the network, and two programs.
        assert len(of_run) == 5
        made = set().union(*(spaces(process[0]) for process in of_run)) - spaces("self")
        victim = chance.choice(of_run)
        is_server = command_of(victim) == " ".join(SERVER)
        os.kill(victim[0], signal.SIGKILL)
        if is_server:
            # Servers may end before the run does. It waits for its client.
            assert within(1, lambda: victim not in processes())
            run.kill()
        began = time.monotonic()
        gone = within(PATIENCE_S, lambda: not processes().keys() & set(of_run) and ended(run))
        print(f"gone after {time.monotonic() - began:.2f} s")
        assert gone
    # A later process may be in a new namespace that has the number of one that ended.
    left = [process for process in processes() if process in before and spaces(process[0]) & made]
    assert not left
    assert not list(tmp_path.iterdir())
