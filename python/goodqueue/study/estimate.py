"""What a study will cost, from short trials of some of its runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodqueue.study.model import Variant

TRIALS = 8
"""Variants that are tried, evenly spread from the lightest to the heaviest."""

TRIAL_S = 0.05
"""How long the beginning of a run must take to say something of the whole."""


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


def estimate(variants: Sequence[Variant], runs: Mapping[int, int]) -> Cost:
    """What so many runs of each variant cost.

    Beginnings of some runs are run; between them cost is taken to go as the scenario's weight.

    Args:
        variants: all of a study's.
        runs: how many of each are to be run, by index.
    """
    wanted = [variant for variant in variants if runs.get(variant.index)]
    if not wanted:
        return Cost(0.0, 0.0, 0.0)
    ranked = sorted(wanted, key=lambda variant: variant.scenario.weight())
    tried = _spread(ranked, TRIALS)
    ratios = []
    for variant in tried:
        took, share = variant.scenario.calibrate(TRIAL_S)
        ratios.append((variant.scenario.weight(), took / share))
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
