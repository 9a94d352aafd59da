"""The shared memory that an answer asks for, and how long queries take with it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from goodqueue.sizing.search.reach import FARTHEST
from goodqueue.sizing.search.trials import COARSE_REPLICATES, Trials
from goodqueue.sizing.trials.queries import QueryTrial, times_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodqueue.sizing.link import Link
    from goodqueue.sizing.search.laboratory import Laboratory
    from goodqueue.sizing.shared.pool import Pool


@dataclass(frozen=True, slots=True)
class Times:
    """Times of the queries of a group of flows, in seconds: means over a few runs.

    Attributes:
        metric: metric of a run.
        with_it_s: time with the memory of the answer.
        with_half_s: time with half as many frames.
        today_s: time with the memory of the file.
        lossless_s: time with a memory that is never full.
    """

    metric: str
    with_it_s: float
    with_half_s: float
    today_s: float
    lossless_s: float


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory behind an answer.

    Attributes:
        pool: the pool as the file states it.
        packets: frames that it must let one busy link hold.
        times: times of queries by group; empty if they were not run.
    """

    pool: Pool
    packets: int
    times: Mapping[str, Times] = field(default_factory=dict)

    @property
    def capacity_bytes(self) -> int:
        """Bytes of memory that are needed with the thresholds of the file."""
        return self.pool.capacity_for(self.packets)

    @property
    def alpha(self) -> float | None:
        """Factor of dynamic thresholds with which the memory of the file suffices; or None."""
        return self.pool.alpha_for(self.packets)

    def as_dict(self) -> dict[str, Any]:
        """Returns plain values; docs/cli.md lists the keys."""
        return {
            "pool": self.pool.name,
            "policy": self.pool.policy,
            "alpha": self.pool.alpha,
            "today_bytes": self.pool.capacity_bytes,
            "today_packets": self.pool.packets,
            "needed_bytes": self.capacity_bytes,
            "alpha_with_today": self.alpha,
            "queries": {name: asdict(one) for name, one in self.times.items()},
        }


def with_times(link: Link, laboratory: Laboratory, memory: Memory) -> Memory:
    """Returns the memory with the times of queries; groups without finished ones are left out."""
    trial = laboratory.trial
    limits = (memory.packets, max(memory.packets // 2, 1), memory.pool.packets, FARTHEST)
    trials = Trials(laboratory.sampler(link, trial=QueryTrial(trial)))
    trials.ensure(sorted(set(limits)), COARSE_REPLICATES)
    found = {}
    for name, metric in times_of(trial.scenario(link, memory.packets)).items():
        means = [_mean([run[name] for run in trials.replicates[limit]]) for limit in limits]
        if not any(map(math.isnan, means)):
            found[name] = Times(metric.rpartition(".")[2], *means)
    return replace(memory, times=found)


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)
