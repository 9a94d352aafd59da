"""The cost of a study, estimated from short trials of some of its runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue.runs.cost import TRIAL_S, cost_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodqueue.study.model import Variant

TRIALS = 8
"""Number of variants that are tried, evenly spread from the lightest to the heaviest."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Estimated cost.

    Attributes:
        seconds: processor time of all runs.
        shortest_s: processor time of one run of the lightest variant.
        longest_s: processor time of one run of the heaviest variant.
    """

    seconds: float
    shortest_s: float
    longest_s: float


def estimate(variants: Sequence[Variant], runs: Mapping[int, float]) -> Cost:
    """Returns the cost of a number of runs of each variant.

    The beginnings of some runs are simulated. Between them the cost is interpolated by the
    scenario's weight.

    Args:
        variants: all variants of a study.
        runs: number of runs of each, by index; on average, for a part of a study.
    """
    wanted = [variant for variant in variants if runs.get(variant.index)]
    if not wanted:
        return Cost(0.0, 0.0, 0.0)
    ranked = sorted(wanted, key=lambda variant: variant.scenario.weight())
    tried = _spread(ranked, TRIALS)
    ratios = [
        (variant.scenario.weight(), cost_of(*variant.scenario.calibrate(TRIAL_S)))
        for variant in tried
    ]
    total, each = 0.0, []
    for variant in ranked:
        weight = variant.scenario.weight()
        nearest, seconds = min(ratios, key=lambda pair: abs(pair[0] - weight))
        each.append(seconds * weight / nearest)
        total += each[-1] * runs[variant.index]
    return Cost(total, min(each), max(each))


def _spread(variants: list[Variant], count: int) -> list[Variant]:
    if len(variants) <= count:
        return variants
    step = (len(variants) - 1) / (count - 1)
    return [variants[round(index * step)] for index in range(count)]
