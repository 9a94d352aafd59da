"""Execution of runs, on a thread here or on another machine."""

from __future__ import annotations

import platform
import time
from functools import cache
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.study.model import Keep, Run, RunResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from goodqueue._core import Cancel, Outcome

HOST = platform.node()


def execute_runs(
    runs: Sequence[Run], keep: Keep, cancel: Cancel, seconds: float
) -> list[RunResult]:
    """Runs the first of some runs: as many as fit into `seconds`, but at least one.

    Short runs are run by one call of the core, because a call of its own takes as long as a run of
    some packets.

    Returns:
        The results of the runs that were run, in their order; none if the first was cancelled.
    """
    if len(runs) > 1 and keep == Keep():
        wanted = [(run.variant.scenario, run.seed, run.variant.engine) for run in runs]
        done = _core.run_batch(wanted, cancel, seconds)
        if done:
            return [
                RunResult(run, _split(names), values, wall_s, HOST)
                for run, (names, values, wall_s) in zip(runs, done, strict=False)
            ]
    result = execute_run(runs[0], keep, cancel)
    return [] if result is None else [result]


def execute_run(run: Run, keep: Keep, cancel: Cancel | None = None) -> RunResult | None:
    """Runs a run; returns None if it was cancelled.

    An error in a run is its result: the other runs of the study continue.
    """
    begun = time.perf_counter()
    try:
        scenario = run.variant.scenario.with_seed(run.seed)
        outcome = scenario.run(
            series=keep.series, packets=False, cancel=cancel, engine=run.variant.engine
        )
        wall_s = time.perf_counter() - begun
        names, values = outcome.metrics()
        tables = _tables(outcome, keep)
    except KeyboardInterrupt:  # a cancelled run raises it
        return None
    except BaseException as error:  # noqa: BLE001 - a panic of the engine is no Exception
        wall_s = time.perf_counter() - begun
        return RunResult(run, (), b"", wall_s, HOST, error=f"{type(error).__name__}: {error}")
    return RunResult(run, _split(names), values, wall_s, HOST, tables)


@cache
def _split(names: str) -> tuple[str, ...]:
    """Returns one shared tuple for equal names, however many runs have them."""
    return tuple(names.split("\n"))


def _tables(outcome: Outcome, keep: Keep) -> dict[str, pl.DataFrame]:
    if not (keep.series or keep.histograms or keep.flows):
        return {}
    from goodqueue.runs.results.result import Result

    result = Result(outcome, "")
    tables = {}
    if keep.histograms:
        tables["queueing-delays"] = result.delays
    if keep.flows:
        tables["flows"] = result.flows
    if result.series is not None:
        series = result.series
        tables |= {"backlog": series.backlog, "windows": series.windows, "rtt": series.rtt}
    return tables
