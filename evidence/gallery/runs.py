"""Runs of a ready scenario, and the curves that pictures draw from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evidence.core.cells import RECORDER, Cell
from goodqueue.core.intervals import Interval, t_interval
from goodqueue.core.parallel import workers
from goodqueue.plots.panels import Line
from goodqueue.plots.thin import thin
from goodqueue.runs.api import load
from goodqueue.runs.results.result import Result

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodqueue._core import Cancel

SCENARIOS = Path("scenarios")

Take = Callable[[dict[str, Any]], float]
"""Function that returns one number of a summary."""


@dataclass(frozen=True)
class Shown:
    """A ready scenario, by the name of its file."""

    name: str

    def run(self, overrides: Mapping[str, str] | None = None, *, packets: bool = False) -> Result:
        """Runs the scenario once and returns the result with its series over time."""
        scenario = load(SCENARIOS / f"{self.name}.toml", set=overrides or {})
        self._record(overrides or {})
        return Result(scenario.run(series=True, packets=packets), scenario.resolved_toml())

    def replicates(
        self, settings: Sequence[Mapping[str, str]], seeds: int = 5
    ) -> list[list[dict[str, Any]]]:
        """Returns the summaries of every setting under seeds 1 to `seeds`."""
        for setting in settings:
            self._record(setting)
        with workers() as threads:
            futures = [
                [threads.submit(partial(self._summary, setting, seed)) for seed in seed_list(seeds)]
                for setting in settings
            ]
            return [[future.result() for future in row] for row in futures]

    def _record(self, setting: Mapping[str, str]) -> None:
        RECORDER.add(Cell.of(f"scenarios/{self.name}.toml", setting))

    def _summary(self, setting: Mapping[str, str], seed: int, cancel: Cancel) -> dict[str, Any]:
        outcome = load(SCENARIOS / f"{self.name}.toml", set=setting, seed=seed).run(cancel=cancel)
        return Result(outcome, "").summary


def seed_list(seeds: int) -> range:
    """Returns the seeds 1 to `seeds`."""
    return range(1, seeds + 1)


def swept(
    label: str,
    x: Sequence[float],
    runs: Sequence[Sequence[dict[str, Any]]],
    figure: Take,
) -> Line:
    """Returns a line of a figure's means with 95 % intervals, one point for each setting."""
    intervals = [of(summaries, figure) for summaries in runs]
    return Line(label, x, [i.mean for i in intervals], errors=[i.half_width for i in intervals])


def of(summaries: Sequence[dict[str, Any]], figure: Take) -> Interval:
    """Returns the mean of a figure over replicates, with its 95 % interval."""
    return t_interval([figure(summary) for summary in summaries])


def group(summary: dict[str, Any], prefix: str, key: str) -> list[float]:
    """Returns a figure of every flow whose name begins with `prefix`, if the flow has it."""
    flows = [flow for name, flow in summary["flows"].items() if name.startswith(prefix)]
    return [flow[key] for flow in flows if flow[key] is not None]


def window(result: Result, flow: str, label: str) -> Line:
    """Returns the congestion window of a flow over time, in kB."""
    assert result.series is not None
    own = thin(result.series.windows.filter(pl.col("flow") == flow), "cwnd_bytes")
    return Line(label, own["time_s"].to_list(), (own["cwnd_bytes"] / 1000).to_list(), form="steps")


def arrival_rate(result: Result, flow: str, label: str, bin_s: float = 0.5) -> Line:
    """Returns the payload of a flow that reaches its server's host, in Mb/s over time."""
    assert result.packets is not None
    got = result.packets.filter(
        (pl.col("flow") == flow)
        & (pl.col("event") == "delivered")
        & (pl.col("direction") == "forward")
    )
    place = (got["time_s"] / bin_s).floor().cast(pl.Int64).to_numpy()
    sums = np.bincount(place, weights=got["payload_bytes"].fill_null(0).to_numpy())
    times = ((np.arange(len(sums)) + 0.5) * bin_s).tolist()
    return Line(label, times, (sums * 8 / bin_s / 1e6).tolist())


def waited(result: Result, link: str, label: str) -> Line:
    """Returns the share of a link's packets, in percent, with at most each queueing delay in ms."""
    delays = result.delays.filter(pl.col("link") == link).sort("queueing_delay_s")
    share = delays["packets"].cum_sum() / delays["packets"].sum() * 100
    return Line(label, (delays["queueing_delay_s"] * 1000).to_list(), share.to_list())
