"""Helpers that tests share: a small scenario, and the command line as a user runs it."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections import defaultdict
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from hypothesis import settings

from helpers.slow import slow_tests

pytest_plugins = ["helpers.lab_page"]

ROOT = Path(__file__).resolve().parent.parent
COMMAND = Path(sys.executable).with_name("goodqueue")

# The duration of an example depends on other load of the machine, so it is not limited.
settings.register_profile("goodqueue", deadline=None)
settings.load_profile("goodqueue")

LONG = ("--set", "duration=1000000s")
"""Options of a run that would take hours."""

SMALL = """\
schema_version = 1
title = "One flow, one ping"
duration = "20s"

[topology]
shape = "dumbbell"
framing = "7B"
access = { rate = "2Mbps", delay = "1ms" }

[topology.bottleneck]
rate = "1Mbps"
delay = "10ms"
queue = { kind = "drop_tail", limit = "20p" }

[topology.queue]
limit = "unlimited"

[[flow]]
name = "upload"
workload = { kind = "bulk" }
tcp = { recovery = "newreno", mss = "536B", receive_window = "100kB", ack_every = 1, profile="rfc" }

[[flow]]
name = "probe"
workload = { kind = "ping", interval = "100ms" }
"""


def tracked(pattern: str) -> list[Path]:
    """Returns the files of the repository that match, new ones included."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", pattern]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for line in done.stdout.splitlines() if (path := ROOT / line).exists()]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests of `tests/slow.txt`, and puts the files that take longest first.

    Each worker takes the next file when it has finished one. A long file at the end would leave the
    other workers without work.
    """
    slow = slow_tests()
    file_s: defaultdict[Path, float] = defaultdict(float)
    for item in items:
        name = item.nodeid.partition("[")[0]
        if name in slow:
            item.add_marker(pytest.mark.slow)
    for name, item in {one.nodeid.partition("[")[0]: one for one in items}.items():
        file_s[item.path] += slow.get(name, 0.0)
    items.sort(key=lambda item: -file_s[item.path])


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Returns the path of a small scenario."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives a test its own cache, without runs of other tests or of the user."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def goodqueue(
    *arguments: object, timeout: float | None = None, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs the command line and captures its output, without a terminal.

    It runs in this process, which saves the start of another, unless it needs a time limit, a
    working directory or an environment of its own.
    """
    if timeout is None and cwd is None and not environment:
        return _in_this_process(list(map(str, arguments)))
    return subprocess.run(
        [COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout or 60,
        cwd=cwd,
        check=False,
        env={**os.environ, **environment},
    )


def _in_this_process(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    from goodqueue.cli import run_command
    from goodqueue.output import terminal

    out, err = io.StringIO(), io.StringIO()
    terminal.stdout.cache_clear()
    terminal.stderr.cache_clear()
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = run_command(arguments)
    finally:
        terminal.stdout.cache_clear()
        terminal.stderr.cache_clear()
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


def refused(done: subprocess.CompletedProcess[str]) -> str:
    """Asserts a refusal, with exit code 2 and one message, and returns the message."""
    assert done.returncode == 2, done
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("error: ")
    return done.stderr
