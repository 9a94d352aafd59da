"""The cost of a study, estimated from short trials of some of its runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue.runs.cost import TRIAL_S, cost_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodqueue.study.model import Variant

TRIALS = 8
"""Variants that are tried, evenly spread from the lightest to the heaviest."""


@dataclass(frozen=True, slots=True)
class Cost:
    """An estimate.

    Attributes:
        seconds: of one processor, for all runs.
        shortest_s: of one run of the lightest variant.
        longest_s: of one run of the heaviest.
    """

    seconds: float
    shortest_s: float
    longest_s: float


def estimate(variants: Sequence[Variant], runs: Mapping[int, float]) -> Cost:
    """The cost of a number of runs of each variant.

    Beginnings of some runs are run; between them cost is taken to go as the scenario's weight.

    Args:
        variants: all of a study's.
        runs: how many of each are to be run, by index; of a part of a study, on average.
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
