"""Sizing the buffer of one link of a scenario, from request to recommendation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodqueue.errors import RequestError
from goodqueue.sizing.curve import Curve, Point, Replicate
from goodqueue.sizing.search import Answer, search
from goodqueue.sizing.tc import bfifo_limit_bytes, command
from goodqueue.study.model import Keep, Stop, Variant
from goodqueue.study.plan import digest, run_of
from goodqueue.study.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from goodqueue._core import Buffer, Scenario
    from goodqueue.intervals import Interval
    from goodqueue.sizing.requirements import Requirements
    from goodqueue.study.model import Executor, Run, RunResult
    from goodqueue.study.store import Store


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
    executor: Executor | None = None,
    store: Store | None = None,
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
        executor: where to run instead.
        store: where runs are kept, and found if they have been run before.
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
    evaluate = _Replicates(scenario, link, seeds, executor or Threads(jobs), store, on_run)
    curve = Curve(evaluate)
    try:
        answer = search(curve, requirements, first_reach)
    except KeyboardInterrupt:
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


METRICS = ("utilization", "loss_rate", "p99_queueing_delay_s", "drops_overlimit")
"""What a limit is judged by."""


class _Replicates:
    """Runs every replicate of some limits, or finds it in a store."""

    def __init__(  # noqa: PLR0913, PLR0917 - what a search runs, where, and who is told
        self,
        scenario: Scenario,
        link: str,
        seeds: range,
        executor: Executor,
        store: Store | None,
        on_run: Callable[[int], None],
    ) -> None:
        self._scenario = scenario
        self._seeds = seeds
        self._link = link
        self._executor = executor
        self._store = store
        self._on_run = on_run
        self._metrics = [f"{link}.{name}" for name in METRICS]
        self._known: dict[bytes, list[float]] = {}

    def __call__(self, limits: Sequence[int]) -> Iterator[Point]:
        runs = {limit: self._runs(limit) for limit in limits}
        pending = self._unknown([run for some in runs.values() for run in some])
        waiting, left = list(limits), len(pending)
        for results in self._executor.execute(pending, Keep(), Stop()):
            if self._store is not None:
                self._store.record(results)
            for result in results:
                self._take(result)
                # First what is finished, since whoever is told of a run may end the search.
                while waiting and all(run.identity in self._known for run in runs[waiting[0]]):
                    yield self._point(waiting[0], runs[waiting.pop(0)])
                left -= 1
                self._on_run(left)
        for limit in waiting:  # all of whose runs were known
            yield self._point(limit, runs[limit])

    def _runs(self, limit: int) -> list[Run]:
        scenario = self._scenario.with_limit(self._link, limit)
        parameters = {f"{self._link}.limit_packets": limit}
        variant = Variant(limit, parameters, scenario, digest(scenario))
        return [run_of(variant, seed) for seed in self._seeds]

    def _unknown(self, runs: list[Run]) -> list[Run]:
        if self._store is not None:
            recorded = [run.identity for run in runs if self._store.has(run.identity)]
            self._known.update(self._store.values(recorded, self._metrics))
        return [run for run in runs if run.identity not in self._known]

    def _take(self, result: RunResult) -> None:
        if result.error is not None:
            raise RuntimeError(f"a run under seed {result.run.seed} failed: {result.error}")
        metrics = result.metrics
        self._known[result.run.identity] = [metrics[name] for name in self._metrics]

    def _point(self, limit: int, runs: list[Run]) -> Point:
        return Point.of(limit, [_replicate(self._known[run.identity]) for run in runs])


def _replicate(figures: list[float]) -> Replicate:
    utilization, loss_rate, p99_delay_s, overlimit_drops = figures
    no_packet = math.isnan(p99_delay_s)
    return Replicate(
        utilization, loss_rate, 0.0 if no_packet else p99_delay_s, int(overlimit_drops)
    )


def _figures(name: str, interval: Interval) -> dict[str, float]:
    return {
        name: interval.mean,
        f"{name}_low": max(interval.low, 0.0),
        f"{name}_high": interval.high,
    }
