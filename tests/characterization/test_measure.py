"""Characterisations that are run: verdicts, queues in Python, and stored runs."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import pytest

import goodqueue
from goodqueue.errors import RequestError, ScenarioError

if TYPE_CHECKING:
    from pathlib import Path

    from goodqueue._core import Packet, QueueContext
    from goodqueue.characterization.measure import Characterization, Score

ONE_BDP = '{ kind = "drop_tail", limit = "1bdp" }'


class TwentyPackets:
    """Drop tail of twenty packets."""

    def __init__(self) -> None:
        self.waiting: deque[Packet] = deque()
        self.bytes = 0

    def enqueue(self, context: QueueContext, packet: Packet) -> None:
        if len(self.waiting) == 20:
            context.drop(packet)
        else:
            self.waiting.append(packet)
            self.bytes += context.frame_bytes(packet)

    def dequeue(self, context: QueueContext) -> Packet | None:
        if not self.waiting:
            return None
        packet = self.waiting.popleft()
        self.bytes -= context.frame_bytes(packet)
        return packet

    def backlog(self) -> tuple[int, int]:
        return len(self.waiting), self.bytes


def score(found: Characterization, metric: str) -> Score:
    return next(
        score for one in found.found for score in one.scores if score.measure.metric == metric
    )


def test_a_larger_fifo_fills_the_link_and_has_more_delay(tmp_path: Path) -> None:
    """A flow of Reno halves its window: below one BDP of buffer the link falls idle."""
    found = goodqueue.characterize(
        queue='{ kind = "drop_tail", limit = "0.1bdp" }',
        sections=["5.1.1"],
        seeds=3,
        store=tmp_path,
    )
    assert found.against is not None
    assert score(found, "bottleneck.utilization").verdict == "worse"
    delay = score(found, "bottleneck.p99_queueing_delay_s")
    assert delay.verdict == "better"
    assert delay.own is not None
    assert delay.own.interval.mean == pytest.approx(0.01, rel=0.2), "a tenth of 100 ms"
    assert sum(found.tally.values()) == len(found.found[0].scores)


def test_a_queue_in_python_has_the_figures_of_the_same_queue_in_rust(tmp_path: Path) -> None:
    found = goodqueue.characterize(
        queue=TwentyPackets,
        against='{ kind = "drop_tail", limit = "20p" }',
        sections=["5.3", "10.2"],
        seeds=2,
        store=tmp_path,
    )
    assert found.subject.name == "TwentyPackets"
    scores = [score for one in found.found for score in one.scores]
    assert len(scores) > 15
    for one in scores:
        assert one.own is not None
        assert one.other is not None
        assert one.own.values == one.other.values, one.measure.metric


def test_a_difference_below_one_per_cent_is_no_finding(tmp_path: Path) -> None:
    """A flow of CUBIC keeps the link busy behind one BDP and behind two, but for its start."""
    found = goodqueue.characterize(
        queue=ONE_BDP,
        against='{ kind = "drop_tail", limit = "2bdp" }',
        sections=["5.2"],
        seeds=3,
        store=tmp_path,
    )
    delay, use = (
        score(found, "bottleneck.mean_queueing_delay_s"),
        score(found, "flows.goodput_bps.sum"),
    )
    assert delay.verdict == "better"
    assert use.verdict == "no difference shown"


def test_a_second_call_needs_no_runs(tmp_path: Path) -> None:
    counts: list[int] = []
    for _ in range(2):
        goodqueue.characterize(
            queue="codel", sections=["5.1.1"], seeds=2, store=tmp_path, on_run=counts.append
        )
    assert counts == [1, 0, 1, 0], "two runs of each queue in the first call, none in the second"


def test_nothing_is_compared_with_itself_or_with_none(tmp_path: Path) -> None:
    for queue, against in ((ONE_BDP, None), ("codel", "none")):
        found = goodqueue.characterize(
            queue=queue, against=against, sections=["5.1.1"], seeds=2, store=tmp_path
        )
        assert found.against is None
        assert not sum(found.tally.values())


def test_bbr_beside_cubic_takes_more_than_half_behind_a_small_buffer(tmp_path: Path) -> None:
    """Ware et al. (IMC 2019): BBR takes most of a link from CUBIC behind a small buffer."""
    found = goodqueue.characterize(
        control="bbr", sections=["5.2.1"], seeds=3, store=tmp_path, against="none"
    )
    case = next(
        one
        for one in found.found
        if one.section.key == "beside-cubic" and one.case.name == "0.25 BDP"
    )
    ratio = next(score for score in case.scores if len(score.measure.parts) > 1)
    assert ratio.own is not None
    assert ratio.own.interval.low > 1


def test_a_mistake_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="and not both"):
        goodqueue.characterize(queue="codel", control="cubic")
    with pytest.raises(ScenarioError, match="codell"):
        goodqueue.characterize(queue="codell", store=tmp_path)
    with pytest.raises(ScenarioError, match="cubik"):
        goodqueue.characterize(control="cubik", store=tmp_path)
    with pytest.raises(ScenarioError, match="a line of tc"):
        goodqueue.characterize(queue="{ kind = codel }", store=tmp_path)
