"""Sizing the buffer of one link of a scenario, from request to recommendation."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodqueue.errors import RequestError
from goodqueue.parallel import Workers, workers
from goodqueue.sizing.curve import Curve, Point, Replicate
from goodqueue.sizing.search import Answer, search
from goodqueue.sizing.tc import bfifo_limit_bytes, command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from goodqueue._core import Buffer, Cancel, Scenario
    from goodqueue.intervals import Interval
    from goodqueue.sizing.requirements import Requirements


@dataclass(frozen=True, slots=True)
class Sizing:
    """A sized buffer: the answer and the curve it came from.

    Attributes:
        scenario: what was run, jitter included.
        link: the link whose buffer was sized.
        requirements: the bounds.
        seeds: one per replicate.
        jitter_s: by how much flows that say nothing of it start later, at most.
        answer: what the search found; None if it was interrupted.
        points: every limit that was finished, by rising limit.
    """

    scenario: Scenario
    link: str
    requirements: Requirements
    seeds: range
    jitter_s: float
    answer: Answer | None
    points: list[Point]

    def buffer(self, point: Point) -> Buffer:
        """A limit in every unit."""
        return self.scenario.buffer(self.link, point.limit_packets)

    @property
    def all_replicates_equal(self) -> bool:
        """Whether no figure depended on the seed."""
        return all(
            interval.half_width == 0
            for point in self.points
            for interval in (point.utilization, point.loss_rate, point.p99_delay_s)
        )

    @property
    def tc(self) -> str | None:
        """The line that gives a Linux device the recommended buffer."""
        if self.answer is None or self.answer.recommended is None:
            return None
        return command(self.scenario, self.link, self.answer.recommended.limit_packets)

    @property
    def ip_packet_bytes(self) -> int:
        """The largest IP packet on the link."""
        return self.scenario.buffer(self.link, 1)["packet_bytes"]

    def as_dict(self) -> dict[str, Any]:
        """Everything for machines; docs/results.md describes each key."""
        answer, requirements = self.answer, self.requirements
        return {
            "schema_version": 1,
            "title": self.scenario.title,
            "link": self.link,
            "target_utilization": requirements.target_utilization,
            "max_loss_rate": requirements.max_loss_rate,
            "max_p99_queueing_delay_s": requirements.max_delay_s,
            "replicates": len(self.seeds),
            "first_seed": self.seeds[0],
            "start_jitter_s": self.jitter_s,
            "interrupted": answer is None,
            "feasible": None if answer is None else answer.feasible,
            "binding": [] if answer is None else list(answer.binding),
            "monotone": None if answer is None else answer.monotone,
            "smaller_passing_packets": [] if answer is None else list(answer.smaller_passing),
            "recommended": self._recommended(),
            "least_for_utilization_and_loss": self._optional(answer.least if answer else None),
            "most_for_delay": self._optional(answer.most if answer else None),
            "curve": [self._point(point) for point in self.points],
        }

    def _recommended(self) -> dict[str, Any] | None:
        if self.answer is None or self.answer.recommended is None:
            return None
        point = self.answer.recommended
        return {
            **self._point(point),
            "tc": self.tc,
            "tc_limit_bytes": bfifo_limit_bytes(point.limit_packets, self.ip_packet_bytes),
        }

    def _optional(self, point: Point | None) -> dict[str, Any] | None:
        return None if point is None else self._point(point)

    def _point(self, point: Point) -> dict[str, Any]:
        buffer = self.buffer(point)
        return {
            "limit_packets": point.limit_packets,
            "limit_bytes": buffer["limit_bytes"],
            "limit_ms": buffer["limit_ms"],
            "limit_bdp": buffer["limit_bdp"],
            **_figures("utilization", point.utilization),
            **_figures("loss_rate", point.loss_rate),
            **_figures("p99_queueing_delay_s", point.p99_delay_s),
        }


def size(  # noqa: PLR0913
    scenario: Scenario,
    link: str,
    requirements: Requirements,
    *,
    replicates: int = 10,
    jitter_s: float | None = None,
    jobs: int | None = None,
    on_run: Callable[[int], None] = lambda _planned: None,
) -> Sizing:
    """Finds the smallest buffer of a link that keeps the requirements.

    Replicate i of every limit runs under the scenario's seed plus i, so that limits are compared
    under the same random numbers. Ctrl-C ends the search and keeps what is finished.

    Args:
        scenario: what is run; its own limit of the link says only how far to look at least.
        link: the link to size, such as `bottleneck`.
        requirements: the bounds.
        replicates: runs per limit, at least 2.
        jitter_s: by how much flows that say nothing of it start later, at most; None for one base
            round-trip time of the link.
        jobs: threads, or None for one per processor.
        on_run: called after every run with how many more there are known to be.
    """
    if replicates < 2:
        raise RequestError("an interval needs at least 2 replicates")
    first = scenario.seed
    seeds = range(first, first + replicates)
    if jitter_s is None:
        jitter_s = default_jitter_s(scenario, link)
    scenario = scenario.with_default_jitter(jitter_s)
    first_reach = _first_reach(scenario, link)
    with workers(jobs) as threads:
        evaluate = _Replicates(scenario, link, seeds, threads, on_run)
        curve = Curve(evaluate)
        try:
            answer = search(curve, requirements, first_reach)
        except KeyboardInterrupt:
            threads.cancel.set()
            answer = None
    return Sizing(scenario, link, requirements, seeds, jitter_s, answer, curve.points)


def default_jitter_s(scenario: Scenario, link: str) -> float:
    """Seconds by which starts differ between replicates unless the scenario says otherwise.

    One base round-trip time of the link: enough to shift every phase, too little to matter to a
    share of the time. Without one, the time of ten frames.
    """
    one = scenario.buffer(link, 1)
    return one["base_rtt_s"] or 10 * 8 * one["frame_bytes"] / one["rate_bps"]


def _first_reach(scenario: Scenario, link: str) -> int:
    """Packets up to which the curve is drawn at least: two BDPs, and what the scenario has."""
    own = scenario.buffer(link)["limit_packets"] or 0
    bdps = scenario.buffer(link, 1)["limit_bdp"]
    return max(own, round(2 / bdps) if bdps else 100)


class _Replicates:
    """Runs every replicate of some limits on threads."""

    def __init__(
        self,
        scenario: Scenario,
        link: str,
        seeds: range,
        threads: Workers,
        on_run: Callable[[int], None],
    ) -> None:
        self._scenario = scenario
        self._link = link
        self._seeds = seeds
        self._threads = threads
        self._on_run = on_run

    def __call__(self, limits: Sequence[int]) -> Iterator[Point]:
        pending = {
            limit: [self._threads.submit(self._task(limit, seed)) for seed in self._seeds]
            for limit in limits
        }
        left = len(limits) * len(self._seeds)
        for limit, futures in pending.items():
            replicates = []
            for future in futures:
                replicates.append(future.result())
                left -= 1
                self._on_run(left)
            yield Point.of(limit, replicates)

    def _task(self, limit: int, seed: int) -> Callable[[Cancel], Replicate]:
        def run(cancel: Cancel) -> Replicate:
            scenario = self._scenario.with_limit(self._link, limit).with_seed(seed)
            figures = json.loads(
                scenario.run(series=False, packets=False, cancel=cancel).summary_json()
            )["links"][self._link]
            return Replicate(
                utilization=figures["utilization"],
                loss_rate=figures["loss_rate"],
                p99_delay_s=figures["p99_queueing_delay_s"] or 0.0,
                overlimit_drops=figures["drops_overlimit"],
            )

        return run


def _figures(name: str, interval: Interval) -> dict[str, float]:
    return {
        name: interval.mean,
        f"{name}_low": max(interval.low, 0.0),
        f"{name}_high": interval.high,
    }
