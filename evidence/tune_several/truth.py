"""The best point of a problem by a dense grid, which takes nothing from the search of `tune`.

All points of the grid are run under the same seeds. The points that are best by these runs are run
again under other and more seeds, because the best of many means is better than its true mean.
"""

from __future__ import annotations

import math
import re
import struct
from functools import partial
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from evidence.tune_on_trial.truth import KEYS
from goodqueue import _core, load
from goodqueue.core.parallel import workers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evidence.tune_several.draw import Problem
    from goodqueue._core import Cancel

POINTS, SEEDS = 33, 10
"""Values of each parameter in the grid, and seeds of each point."""

FIRST_SEED, FINE_SEEDS = 5_000_001, 128
"""First seed of the grid, which no search reaches, and seeds under which points are judged."""

JUDGED_SEED = 6_000_001
"""First seed of the runs that judge points."""

FINALISTS = 12
"""Points of the grid that are judged together, the best by the grid's means first."""

Point = tuple[str, ...]
Runs = list[dict[str, float]]


class Dense:
    """Runs of one problem at any point."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._judged: dict[Point, Runs] = {}
        names = load(problem.text).with_seed(1).metric_names()
        goal = KEYS[problem.goal]
        self.goal = goal if goal in names else goal.removesuffix(".sum")
        figures = (re.split("[<>]=", text)[0] for text in problem.keep)
        self._wanted = {self.goal, *(KEYS[figure] for figure in figures)}

    def grid(self) -> dict[Point, Runs]:
        """Returns the runs of every point of the grid."""
        first, second = (one.values(POINTS) for one in self.problem.vary)
        points = [(one, other) for one in first for other in second]
        return self._runs(points, range(FIRST_SEED, FIRST_SEED + SEEDS))

    def judged(self, points: Sequence[Point]) -> dict[Point, Runs]:
        """Returns the runs of points under the seeds that judge."""
        missing = [one for one in points if one not in self._judged]
        seeds = range(JUDGED_SEED, JUDGED_SEED + FINE_SEEDS)
        self._judged |= self._runs(missing, seeds)
        return {one: self._judged[one] for one in points}

    def _runs(self, points: Sequence[Point], seeds: Sequence[int]) -> dict[Point, Runs]:
        paths = [one.path for one in self.problem.vary]
        found: dict[Point, Runs] = {}
        with workers() as threads:
            jobs = {}
            for point in points:
                values = dict(zip(paths, point, strict=True))
                scenario = load(self.problem.text, set=values)
                jobs[point] = threads.submit(partial(_run, scenario, seeds, self._wanted))
            for point, job in jobs.items():
                found[point] = job.result()
        return found

    def value(self, runs: Runs) -> float:
        """Returns the mean of the goal, larger ones better."""
        sign = 1 if self.problem.most else -1
        return sign * fmean(run[self.goal] for run in runs)

    def broken(self, runs: Runs, errors: float = 0.0) -> bool:
        """Returns True if a mean misses its bound by more than so many standard errors."""
        return any(miss > errors * error for miss, error in self._misses(runs))

    def _misses(self, runs: Runs) -> list[tuple[float, float]]:
        """Returns by how much each mean misses its bound, and the standard error."""
        found = []
        for text in self.problem.keep:
            figure, sign, bound = re.fullmatch(r"(.*)([<>]=)(.*)", text).groups()  # type: ignore[union-attr]
            measured = _core.measure(bound)
            assert measured is not None
            values = [run[KEYS[figure]] for run in runs]
            miss = fmean(values) - measured[0]
            error = stdev(values) / math.sqrt(len(values))
            found.append((miss if sign == "<=" else -miss, error))
        return found


def _run(scenario: _core.Scenario, seeds: Sequence[int], wanted: set[str], _cancel: Cancel) -> Runs:
    """Returns the wanted figures of a scenario under each seed."""
    found = []
    for seed in seeds:
        names, data = scenario.with_seed(seed).run(series=False, packets=False).metrics()
        values = struct.unpack(f"<{len(data) // 8}d", data)
        every = dict(zip(names.split("\n"), values, strict=True))
        # A time without a sample counts as the measured part of the run, as in `tune`.
        length = scenario.duration_s - scenario.warmup_s
        named = {name: every[name] for name in wanted}
        found.append({name: length if math.isnan(one) else one for name, one in named.items()})
    return found


def best(dense: Dense) -> Point | None:
    """Returns the best point of the grid that keeps the bounds; None if none does."""
    grid = dense.grid()
    kept = [point for point, runs in grid.items() if not dense.broken(runs)]
    kept.sort(key=lambda point: -dense.value(grid[point]))
    for first in range(0, len(kept), FINALISTS):
        some = dense.judged(kept[first : first + FINALISTS])
        still = [point for point, runs in some.items() if not dense.broken(runs)]
        if still:
            return max(still, key=lambda point: dense.value(some[point]))
    return None


def row(problem: Problem, answer: dict[str, Any]) -> dict[str, Any]:
    """Returns a problem with its answer and its truth as plain values.

    `gap` is the share by which the recommended point's goal is worse than that of the grid's best
    point, negative if it is better, and `broken` is true if the recommended point was shown to
    break a bound: a mean misses it by more than two standard errors.
    """
    dense = Dense(problem)
    found = best(dense)
    gap = broken = None
    if answer["point"] is not None:
        point = tuple(answer["point"])
        runs = dense.judged([point])[point]
        broken = dense.broken(runs, errors=2.0)
        if found is not None:
            whole = dense.value(dense.judged([found])[found])
            gap = float(f"{(whole - dense.value(runs)) / abs(whole):.3g}")
    return {
        "kind": problem.kind,
        "vary": [str(one) for one in problem.vary],
        "keep": list(problem.keep),
        "goal": f"{'most' if problem.most else 'least'} {problem.goal}",
        **answer,
        "best": None if found is None else list(found),
        "gap": gap,
        "broken": broken,
    }
