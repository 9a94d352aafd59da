"""Utilisation, loss and delay as functions of the buffer, evaluated where asked and kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from goodqueue.intervals import Interval, t_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, slots=True)
class Replicate:
    """What one run with one seed said about the bottleneck.

    Attributes:
        utilization: share of the time the link was busy.
        loss_rate: drops over arrivals.
        p99_delay_s: 99th percentile of the queueing delay, 0 if nothing passed.
        overlimit_drops: packets lost to the queue's limit.
    """

    utilization: float
    loss_rate: float
    p99_delay_s: float
    overlimit_drops: int


@dataclass(frozen=True, slots=True)
class Point:
    """One limit on the curve, with 95 % intervals over replicates.

    Attributes:
        limit_packets: the most packets that may wait, each taken at the size of the largest.
        utilization: share of the time the link was busy.
        loss_rate: drops over arrivals.
        p99_delay_s: 99th percentile of the queueing delay.
        ever_full: whether any replicate lost a packet to the limit; if none did, no larger
            limit changes anything.
    """

    limit_packets: int
    utilization: Interval
    loss_rate: Interval
    p99_delay_s: Interval
    ever_full: bool

    @classmethod
    def of(cls, limit_packets: int, replicates: Sequence[Replicate]) -> Point:
        """Summarises the replicates run at one limit."""
        return cls(
            limit_packets,
            utilization=t_interval([run.utilization for run in replicates]),
            loss_rate=t_interval([run.loss_rate for run in replicates]),
            p99_delay_s=t_interval([run.p99_delay_s for run in replicates]),
            ever_full=any(run.overlimit_drops > 0 for run in replicates),
        )


class Evaluate(Protocol):
    """Runs every replicate at each limit."""

    def __call__(self, limits: Sequence[int]) -> Iterable[Point]:
        """Yields the point of each limit (in packets) as soon as it is finished."""


class Curve:
    """The points evaluated so far. What is there when a search is interrupted stays there."""

    def __init__(self, evaluate: Evaluate) -> None:
        self._evaluate = evaluate
        self._points: dict[int, Point] = {}

    def at(self, limit: int) -> Point:
        """The point at one limit, evaluated at most once."""
        return self.at_all([limit])[0]

    def at_all(self, limits: Sequence[int]) -> list[Point]:
        """The points at several limits; those not known yet are evaluated together."""
        unknown = [limit for limit in dict.fromkeys(limits) if limit not in self._points]
        if unknown:
            for point in self._evaluate(unknown):
                self._points[point.limit_packets] = point
        return [self._points[limit] for limit in limits]

    @property
    def points(self) -> list[Point]:
        """Everything evaluated, by rising limit."""
        return [self._points[limit] for limit in sorted(self._points)]
