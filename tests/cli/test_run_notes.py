"""Notes of `run` on windows that limit flows, and on settings that change nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conftest import goodqueue
from goodqueue.runs.api import void_settings

if TYPE_CHECKING:
    from pathlib import Path

TWO = """schema_version = 1
duration = "20s"
warmup = "5s"
[topology]
shape = "dumbbell"
access = { rate = "1Gbps" }
bottleneck = { rate = "100Mbps", delay = "0s", queue = { limit = "2000p" } }
[tcp]
profile = "linux"
congestion_control = "bbr"
[[flow]]
name = "short"
rtt = "20ms"
workload = { kind = "bulk" }
[[flow]]
name = "long"
rtt = "100ms"
workload = { kind = "bulk" }
tcp = { receive_window = "629kB" }
"""


@pytest.fixture
def two(tmp_path: Path) -> Path:
    path = tmp_path / "two.toml"
    path.write_text(TWO, encoding="utf-8")
    return path


def test_a_window_below_the_path_is_named_as_the_limit(two: Path) -> None:
    done = goodqueue("run", two)
    assert "long: the receive window held data back for" in done.stdout
    assert "short: the receive window" not in done.stdout
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith("long ")]
    assert any("window" in line for line in lines), "the table says it, too"
    wide = goodqueue("run", two, "--set", "flow.long.tcp.receive_window=6MB")
    assert "the receive window held data back" not in wide.stdout


def test_a_setting_that_each_flow_has_of_its_own_is_said_to_be_void(two: Path) -> None:
    own = ("--set", "flow.short.tcp.receive_window=6MB", "--set", "tcp.receive_window=9MB")
    done = goodqueue("run", two, *own)
    assert "--set tcp.receive_window changed nothing" in done.stderr
    assert "--set flow.short" not in done.stderr
    assert "changed nothing" not in goodqueue("run", two, "--set", "duration=21s").stderr


def test_settings_that_need_each_other_are_not_void() -> None:
    both = {"duration": "4s", "warmup": "2s"}  # The file's warm-up of 5 s would exceed this.
    assert void_settings(TWO, both) == []
    assert void_settings(TWO, {"duration": "20s"}) == ["duration"]
