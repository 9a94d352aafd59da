"""Queue disciplines written in Python."""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING

import pytest

import goodqueue

if TYPE_CHECKING:
    from goodqueue._core import Packet, QueueContext

SCENARIO = """
schema_version = 1
duration = "5s"
[topology]
shape = "dumbbell"
bottleneck = { rate = "2Mbps", delay = "10ms", queue = { limit = "10p" } }
[[flow]]
name = "bulk"
workload = { kind = "bulk" }
tcp = { profile = "rfc" }
"""


class DropTail:
    """A FIFO of ten packets."""

    limit = 10

    def __init__(self) -> None:
        self.waiting: deque[Packet] = deque()
        self.bytes = 0

    def enqueue(self, context: QueueContext, packet: Packet) -> None:
        if len(self.waiting) == self.limit:
            context.drop(packet)
            return
        self.waiting.append(packet)
        self.bytes += context.frame_bytes(packet)

    def dequeue(self, context: QueueContext) -> Packet | None:
        if not self.waiting:
            return None
        packet = self.next()
        self.bytes -= context.frame_bytes(packet)
        return packet

    def next(self) -> Packet:
        return self.waiting.popleft()

    def backlog(self) -> tuple[int, int]:
        return len(self.waiting), self.bytes


class Stack(DropTail):
    """A last-in, first-out queue, which breaks the order of a flow."""

    def next(self) -> Packet:
        return self.waiting.pop()


class Marker(DropTail):
    """A queue that marks an arrival if packets wait, or drops it at random."""

    def enqueue(self, context: QueueContext, packet: Packet) -> None:
        marked = bool(self.waiting) and context.mark(packet)
        if self.waiting and not marked and context.random() < 0.01:
            context.drop(packet, "early")
        else:
            super().enqueue(context, packet)


class Greedy(DropTail):
    """A queue that reports no bytes."""

    def backlog(self) -> tuple[int, int]:
        return len(self.waiting), 0


class Broken(DropTail):
    """A queue that raises an exception."""

    def next(self) -> Packet:
        raise ZeroDivisionError("a mistake of its author")


class Lazy(DropTail):
    """A queue that pauses a millisecond after each packet, and announces when it is ready."""

    def __init__(self) -> None:
        super().__init__()
        self.rests_until = 0.0

    def dequeue(self, context: QueueContext) -> Packet | None:
        if context.now_s < self.rests_until:
            return None
        self.rests_until = context.now_s + 0.001
        return super().dequeue(context)

    def next_ready(self, now_s: float) -> float | None:
        return max(now_s, self.rests_until) if self.waiting else None


class Timeless(Lazy):
    """A queue that pauses, but never announces when it is ready."""

    def next_ready(self, now_s: float) -> float | None:
        return math.nan if super().next_ready(now_s) else None


def test_a_sound_queue_passes() -> None:
    report = goodqueue.check_queue(DropTail)
    assert report.offered > 10_000
    assert report.offered == report.sent + report.dropped
    assert goodqueue.check_queue(Marker).marked > 1_000


def test_a_broken_rule_is_named() -> None:
    with pytest.raises(goodqueue.RuleError, match="left after packet") as caught:
        goodqueue.check_queue(Stack)
    assert caught.value.rule == "FlowOrder"
    with pytest.raises(goodqueue.RuleError) as caught:
        goodqueue.check_queue(Greedy)
    assert caught.value.rule == "Backlog"


def test_a_queue_that_pauses_breaks_the_rule_of_work_conservation() -> None:
    with pytest.raises(goodqueue.RuleError) as caught:
        goodqueue.check_queue(Lazy)
    assert caught.value.rule == "WorkConservation"
    assert goodqueue.check_queue(Lazy, work_conserving=False).sent > 0


def test_an_exception_reaches_the_caller() -> None:
    with pytest.raises(ZeroDivisionError, match="its author"):
        goodqueue.check_queue(Broken)
    with pytest.raises(ZeroDivisionError, match="its author"):
        goodqueue.run(SCENARIO, queues={"bottleneck": Broken})
    with pytest.raises(ValueError, match="next_ready gave NaN"):
        goodqueue.run(SCENARIO, queues={"bottleneck": Timeless})
    with pytest.raises(ValueError, match="40 to 65535"):
        goodqueue.check_queue(DropTail, largest_packet=39)


def test_drop_tail_in_python_gives_the_same_run_as_the_built_in_one() -> None:
    ours = goodqueue.run(SCENARIO).summary

    theirs = goodqueue.run(SCENARIO, queues={"bottleneck": DropTail}).summary
    (mine, other) = (summary["links"]["bottleneck"] for summary in (ours, theirs))
    assert (mine.pop("queue"), other.pop("queue")) == ("drop_tail", "custom")
    assert mine.pop("limit")["packets"] == 10
    assert other.pop("limit") is None
    assert theirs["links"] == ours["links"]
    assert theirs["flows"] == ours["flows"]


def test_a_queue_for_an_unknown_link_is_refused() -> None:
    with pytest.raises(goodqueue.ScenarioError, match="bottleneck"):
        goodqueue.run(SCENARIO, queues={"bottlneck": DropTail})
