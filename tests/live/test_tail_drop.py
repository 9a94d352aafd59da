"""The queue of the user-space bottleneck that recorded Linux, tested without devices."""

from __future__ import annotations

import importlib
import math
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT

if TYPE_CHECKING:
    from types import ModuleType

FULL = bytes(1500)
PING = bytes(9) + bytes([1]) + bytes(74)


@pytest.fixture
def tail_drop(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "tools" / "captures")
    return importlib.import_module("tail_drop")


def test_the_limit_counts_packets_beside_the_one_in_service(tail_drop: ModuleType) -> None:
    queue = tail_drop.Queue(rate_bps=10e6, limit=2, window=(0.0, 1.0))
    # A packet of 1500 bytes takes 1.2 ms.
    ends = [queue.arrive(0.0, FULL) for _ in range(3)]
    assert ends == pytest.approx([0.0012, 0.0024, 0.0036])
    assert queue.arrive(0.0011, FULL) is None
    assert queue.arrive(0.0011, PING) is None
    assert queue.arrive(0.00121, PING) == pytest.approx(0.0036 + 84 * 8 / 10e6)
    assert (queue.arrivals, queue.drops, queue.ping_drops) == (6, 2, 1)
    assert queue.busy_s == pytest.approx(0.0036 + 84 * 8 / 10e6)
    assert queue.waited_s == pytest.approx(0.0012 + 0.0024 + 0.0036 - 0.00121)


def test_an_idle_link_starts_at_once_and_nothing_counts_outside_the_window(
    tail_drop: ModuleType,
) -> None:
    queue = tail_drop.Queue(rate_bps=10e6, limit=1, window=(2.0, math.inf))
    assert queue.arrive(1.0, FULL) == pytest.approx(1.0012)
    assert (queue.arrivals, queue.busy_s) == (0, 0.0)
    assert queue.arrive(3.0, FULL) == pytest.approx(3.0012)
    assert (queue.arrivals, queue.waited_s) == (1, 0.0)
