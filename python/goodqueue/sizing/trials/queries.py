"""Scenarios of a trial whose runs report how long queries take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue.runs.settings import settings_of
from goodqueue.sizing.trials.length import WHOLE, Extent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue._core import Scenario
    from goodqueue.sizing.link import Link
    from goodqueue.sizing.search.laboratory import Trial

TIMES = {
    "exchanges": "p99_exchange_time_s",
    "transfers": "p99_transfer_time_s",
    "bulk": "completion_time_s",
}
"""Metrics of how long the queries of a group take, by the kind of their workload."""


def times_of(scenario: Scenario) -> dict[str, str]:
    """Returns the metric of the time of queries for each group of flows that has one."""
    known = set(scenario.metric_names())
    found = {}
    for flow in settings_of(scenario)["flow"]:
        name, workload = flow["name"], flow["workload"]
        time = TIMES.get(workload["kind"])
        if time is None or workload.get("size") == "unlimited":
            continue
        for metric in (f"{name}.{time}", f"flow.{name}.{time}"):
            if metric in known:
                found[name] = metric
    return found


@dataclass(frozen=True, slots=True)
class QueryMeter:
    """Reader of the times of queries in seconds, by the name of their group."""

    names: tuple[str, ...]
    metrics: tuple[str, ...]

    def figures(self, values: Sequence[float]) -> dict[str, float]:
        """Returns the times from the values of `metrics`; a group without queries has NaN."""
        return dict(zip(self.names, values, strict=True))


@dataclass(frozen=True, slots=True)
class QueryTrial:
    """A trial whose runs report how long queries take.

    Attributes:
        trial: source of the scenarios.
    """

    trial: Trial

    def scenario(
        self, link: Link, packets: int, queue: str | None = None, extent: Extent = WHOLE
    ) -> Scenario:
        """Returns a replicate of the trial."""
        return self.trial.scenario(link, packets, queue, extent)

    def meter(self, link: Link) -> QueryMeter:
        """Returns the meter of a run."""
        found = times_of(self.trial.scenario(link, 1))
        return QueryMeter(tuple(found), tuple(found.values()))
