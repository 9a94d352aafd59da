"""Measures what queues and controls in Python cost: `python -m evidence.python_cost.experiment`.

Each figure is the processor time of a run with a class in Python, less that of the same run with
the built-in class of the same behaviour, over the number of calls. It is the least of several runs,
because other programs only ever add time.
"""

from __future__ import annotations

import argparse
import time
from collections import deque
from typing import TYPE_CHECKING, Any

import goodqueue

if TYPE_CHECKING:
    from goodqueue import _core

LINK = """
schema_version = 1
duration = "20s"
[topology]
shape = "dumbbell"
bottleneck = { rate = "20Mbps", delay = "15ms", queue = { limit = "50p" } }
[[flow]]
name = "mine"
workload = { kind = "bulk" }
tcp = { congestion_control = "reno" }
"""


class Fifo:
    """Drop tail of fifty packets, as in docs/queues/own.md."""

    calls = 0

    def __init__(self) -> None:
        """Makes an empty queue."""
        self.waiting: deque[_core.Packet] = deque()
        self.bytes = 0

    def enqueue(self, context: _core.QueueContext, packet: _core.Packet) -> None:
        """Appends a packet, or drops it if fifty wait."""
        Fifo.calls += 1
        if len(self.waiting) == 50:
            context.drop(packet)
        else:
            self.waiting.append(packet)
            self.bytes += context.frame_bytes(packet)

    def dequeue(self, context: _core.QueueContext) -> _core.Packet | None:
        """Returns the oldest packet."""
        Fifo.calls += 1
        if not self.waiting:
            return None
        packet = self.waiting.popleft()
        self.bytes -= context.frame_bytes(packet)
        return packet

    def backlog(self) -> tuple[int, int]:
        """Returns packets and bytes."""
        return len(self.waiting), self.bytes


class Constant:
    """A window of thirty segments, which each ACK sets again."""

    calls = 0

    def __init__(self, connection: _core.Connection) -> None:
        """Sets the window."""
        self.window_bytes = 30.0 * connection.mss_bytes

    def on_ack(self, _ack: _core.Ack) -> None:
        """Counts the call."""
        Constant.calls += 1


class Slow:
    """The same window, which is set once in an interval longer than the run."""

    calls = 0
    interval_s = 1_000.0

    def __init__(self, connection: _core.Connection) -> None:
        """Sets the window."""
        self.window_bytes = 30.0 * connection.mss_bytes

    def on_interval(self, _report: _core.IntervalReport) -> None:
        """Counts the call."""
        Slow.calls += 1


class Fast(Slow):
    """The same, once in 0.6 ms, which is about the time between two packets."""

    interval_s = 0.0006


def seconds(repeats: int, **options: Any) -> float:  # noqa: ANN401 - options of `run`
    """Returns the least processor time of a run."""
    found = []
    for _ in range(repeats):
        begun = time.process_time()
        goodqueue.run(LINK, **options)
        found.append(time.process_time() - begun)
    return min(found)


def calls_of(kind: Any, **options: Any) -> int:  # noqa: ANN401 - a class, options of `run`
    """Returns the number of calls of a run."""
    kind.calls = 0
    goodqueue.run(LINK, **options)
    found: int = kind.calls
    return found


def main() -> None:
    """Prints a line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15, help="runs of each kind")
    repeats = parser.parse_args().repeats
    few = seconds(repeats, controls={"mine": Slow})
    rows: list[tuple[str, Any, float, dict[str, Any]]] = [
        ("enqueue or dequeue", Fifo, seconds(repeats), {"queues": {"bottleneck": Fifo}}),
        ("on_ack", Constant, few, {"controls": {"mine": Constant}}),
        ("on_interval", Slow, few, {"controls": {"mine": Fast}}),
    ]
    for name, kind, without, options in rows:
        each = (seconds(repeats, **options) - without) / calls_of(kind, **options)
        print(f"{name}: {each * 1e6:.2f} µs of processor time a call")


if __name__ == "__main__":
    main()
