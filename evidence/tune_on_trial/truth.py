"""The best value of a problem by a dense grid, which takes nothing from the search of `tune`.

All values of a grid are run first. The values around the best one are then run again, closer to
each other and under many more seeds. If a bound ends the set there, the best value lies where a
straight line between the means of two neighbours crosses it.
"""

from __future__ import annotations

import math
import re
import struct
from dataclasses import dataclass
from functools import partial
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from goodqueue import _core, load
from goodqueue.core.parallel import workers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evidence.tune_on_trial.draw import Problem
    from goodqueue._core import Cancel

FIRST_SEED = 5_000_001
"""First seed of the dense runs, which no search reaches."""

POINTS, SEEDS = 33, 16
"""Values of the whole range, and seeds of each."""

FINE_STEPS, FINE_SEEDS = 4, 128
"""Steps of the fine grid in a step of the coarse one, and seeds of its values."""

KEYS = {
    "upload.goodput": "upload.goodput_bps.sum",
    "ping.p99": "ping.p99_rtt_s",
    "ping.p95": "ping.p95_rtt_s",
    "modem.p99": "modem.p99_queueing_delay_s",
    "bottleneck.p99": "bottleneck.p99_queueing_delay_s",
    "bottleneck.utilization": "bottleneck.utilization",
    "bottleneck.loss": "bottleneck.loss_rate",
    "short.mean": "short.mean_transfer_time_s",
}
"""Metrics of the figures of drawn problems."""

Runs = list[dict[str, float]]


@dataclass(frozen=True, slots=True)
class Truth:
    """The best value of a problem.

    Attributes:
        best: the value in the unit of the range; None if no value keeps the bounds.
        as_good: values that 128 seeds do not distinguish from it: their figure is worse by less
            than two standard errors.
    """

    best: float | None
    as_good: tuple[float, ...] = ()


class Dense:
    """Runs of one problem at any value, each made once."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._runs: dict[float, Runs] = {}
        flow = load(problem.text).with_seed(1).metric_names()
        goal = KEYS[problem.goal]
        self.goal = goal if goal in flow else goal.removesuffix(".sum")

    def at(self, value: float, seeds: int) -> Runs:
        """Returns the figures of a value by so many seeds or more."""
        done = self._runs.setdefault(value, [])
        wanted = range(FIRST_SEED + len(done), FIRST_SEED + seeds)
        if wanted:
            text = f"{value:.6g}{self.problem.unit}"
            scenario = load(self.problem.text, set={self.problem.path: text})
            with workers() as threads:
                some = [threads.submit(partial(_run, scenario, seed)) for seed in wanted]
                done += [one.result() for one in some]
        return done

    def miss(self, value: float, seeds: int) -> float:
        """Returns by how much the means miss the bound that they miss most; at most 0 on none."""
        runs, misses = self.at(value, seeds), []
        for text in self.problem.keep:
            figure, sign, bound = re.fullmatch(r"(.*)([<>]=)(.*)", text).groups()  # type: ignore[union-attr]
            measured = _core.measure(bound)
            assert measured is not None
            mean = fmean(run[KEYS[figure]] for run in runs)
            misses.append(mean / measured[0] - 1 if sign == "<=" else 1 - mean / measured[0])
        return max(misses)

    def worse(self, value: float, best: float, seeds: int) -> tuple[float, float]:
        """Returns by how much a value is worse than the best, and the standard error."""
        pairs = zip(self.at(value, seeds), self.at(best, seeds), strict=False)
        sign = 1 if self.problem.most else -1
        losses = [sign * (there[self.goal] - here[self.goal]) for here, there in pairs]
        return fmean(losses), stdev(losses) / math.sqrt(len(losses))


def _run(scenario: _core.Scenario, seed: int, _cancel: Cancel) -> dict[str, float]:
    names, data = scenario.with_seed(seed).run(series=False, packets=False).metrics()
    values = struct.unpack(f"<{len(data) // 8}d", data)
    return dict(zip(names.split("\n"), values, strict=True))


def grid(problem: Problem, low: float, high: float, steps: int) -> list[float]:
    """Returns values from one to another, whole numbers for packets, rising."""
    if problem.log:
        values = [low * (high / low) ** (step / steps) for step in range(steps + 1)]
    else:
        values = [low + (high - low) * step / steps for step in range(steps + 1)]
    whole = problem.unit in {"p", "kbps"}
    return sorted({float(round(value)) if whole else float(f"{value:.4g}") for value in values})


def truth(dense: Dense) -> Truth:
    """Returns the best value of a problem."""
    problem = dense.problem
    coarse = grid(problem, problem.low, problem.high, POINTS - 1)
    best = _best(dense, coarse, SEEDS)
    at = coarse.index(best if best is not None else _nearest(dense, coarse))
    around = coarse[max(at - 1, 0) : at + 2]
    fine = grid(problem, around[0], around[-1], FINE_STEPS * (len(around) - 1))
    best = _best(dense, fine, FINE_SEEDS)
    if best is None:
        return Truth(None)
    sought = _crossing(dense, fine, best)
    kept = [one for one in {*coarse, *fine} if dense.miss(one, SEEDS) <= 0]
    as_good = [one for one in kept if one == best or _is_as_good(dense, one, best)]
    return Truth(best if sought is None else sought, tuple(sorted(as_good)))


def _best(dense: Dense, values: Sequence[float], seeds: int) -> float | None:
    """Returns the value with the best mean among those whose means keep the bounds."""
    kept = [value for value in values if dense.miss(value, seeds) <= 0]
    sign = 1 if dense.problem.most else -1
    means = {
        one: sign * fmean(run[dense.goal] for run in dense.at(one, seeds)[:seeds]) for one in kept
    }
    return max(means, key=lambda one: means[one], default=None)


def _nearest(dense: Dense, values: Sequence[float]) -> float:
    return min(values, key=lambda value: dense.miss(value, SEEDS))


def _crossing(dense: Dense, fine: Sequence[float], best: float) -> float | None:
    """Returns the value at which a bound ends the set beside the best; None if none does."""
    at = fine.index(best)
    for beside in (at - 1, at + 1):
        if not 0 <= beside < len(fine):
            continue
        other = fine[beside]
        outside = dense.miss(other, FINE_SEEDS)
        if outside > 0 and dense.worse(other, best, FINE_SEEDS)[0] < 0:
            inside = dense.miss(best, FINE_SEEDS)
            return best + (other - best) * inside / (inside - outside)
    return None


def _is_as_good(dense: Dense, value: float, best: float) -> bool:
    mean, error = dense.worse(value, best, SEEDS)
    return mean <= 2 * error


def row(problem: Problem, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a problem with its answer and its truth as plain values.

    The bounds at the recommended value are judged by the dense runs, too.
    """
    dense = Dense(problem)
    found = truth(dense)
    value = answer["value"]
    miss = None if value is None else float(f"{dense.miss(value, FINE_SEEDS):.3g}")
    return {
        "kind": problem.kind,
        "vary": problem.vary,
        "keep": list(problem.keep),
        "goal": f"{'most' if problem.most else 'least'} {problem.goal}",
        **answer,
        "miss": miss,
        "best": None if found.best is None else float(f"{found.best:.5g}"),
        "as_good": list(found.as_good),
    }


def covered(one: Mapping[str, Any]) -> bool:
    """Returns True if the interval of an answer contains the best value, or one that is as good."""
    if one["value"] is None or one["best"] is None:
        return one["value"] is None and one["best"] is None
    low, high = one["interval"]
    tiny = 1e-4 * high  # values have five digits
    return any(low - tiny <= value <= high + tiny for value in (one["best"], *one["as_good"]))
