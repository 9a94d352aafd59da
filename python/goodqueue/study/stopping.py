"""When replicates suffice: intervals that stay honest however often one looks at them.

Who looks after every replicate and stops at the first narrow interval picks the samples whose
spread happens to be small. Student's t then covers the mean too rarely. What may be watched is a
confidence *sequence*: with 95 % probability all of its intervals, at every count of replicates,
hold the mean, so that any rule may choose where to stop.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import lru_cache
from typing import TYPE_CHECKING

from goodqueue.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PRIOR_REPLICATES = 4
"""c² of the sequence below: how firmly its mixture expects the mean near the hypothesis.

A normal mixture is narrowest near c² (1 - 2 ln alpha + ln(-2 ln alpha)) replicates (Waudby-Smith
et al., below), 35 for alpha = 0.05: the middle of what studies use.
"""

LEAST_REPLICATES = 5

LEAST_UNCHANGED = 30
"""Replicates before values that are all equal are believed to have no spread.

By the rule of three, other values then come in less than one replicate in ten (95 %).
"""


def anytime_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """The interval of a mean after these replicates, valid however their number was chosen.

    The t-test confidence sequence of Wang and Ramdas ("Anytime-valid t-tests and confidence
    sequences for Gaussian means with unknown variance", arXiv:2310.03722), after Lai (1976): exact
    at every count for normal values of unknown variance, and in the limit for others (Waudby-Smith
    et al., "Time-uniform central limit theory and asymptotic confidence sequences",
    arXiv:2103.06476). With fewer than 7 values it has no end.

    The result is the same to the last bit on every machine and in every order of the values: sums
    are rounded once (`math.fsum`), and what needs a logarithm is decimal arithmetic.

    Args:
        values: one per replicate, independent and of one distribution.
        confidence: the probability that the mean is in all of the intervals.
    """
    count = len(values)
    mean = math.fsum(values) / count
    factor = _factor(count, confidence)
    if count > 1 and min(values) == max(values):
        return Interval(mean, 0.0)
    if math.isinf(factor):
        return Interval(mean, factor)
    squares = math.fsum((value - mean) ** 2 for value in values)
    return Interval(mean, factor * math.sqrt(squares / count))


@lru_cache(maxsize=1 << 16)
def _factor(count: int, confidence: float) -> float:
    """The half width for values with standard deviation 1 (the one that divides by `count`).

    For X of unknown variance and an effect size mu / sigma mixed over N(0, 1 / c²), the likelihood
    ratio of the scale-invariant data against mu = 0 is

        sqrt(c² / (n + c²)) · (V / (V - S² / (n + c²)))^(n / 2),   V = Σ X², S = Σ X,

    a martingale from 1, which ever exceeds 1 / alpha with probability at most alpha (Ville). The
    interval is every mu for which that of X - mu does not exceed it; with d = (mean - mu)² that is
    d (1 - R c² / (n + c²)) < (R - 1) s², where R = ((n + c²) / (c² alpha²))^(1 / n).
    """
    with localcontext() as context:
        context.prec = 40
        prior, n = Decimal(PRIOR_REPLICATES), Decimal(count)
        alpha = 1 - Decimal(repr(confidence))
        ratio = (((n + prior) / (prior * alpha**2)).ln() / n).exp()
        left = 1 - ratio * prior / (n + prior)
        return float(((ratio - 1) / left).sqrt()) if left > 0 else math.inf


@dataclass(frozen=True, slots=True)
class Bound:
    """How narrow the interval of one metric must be.

    Attributes:
        metric: the metric's name.
        half_width: the largest half width: in the metric's unit, or as a share of the mean.
        relative: whether it is a share of the mean.
    """

    metric: str
    half_width: float
    relative: bool = False

    def met(self, values: Sequence[float], confidence: float = 0.95) -> bool:
        """Whether the interval after these replicates is narrow enough."""
        interval = anytime_interval(values, confidence)
        if interval.half_width == 0 and len(values) < LEAST_UNCHANGED:
            return False
        scale = abs(interval.mean) if self.relative else 1.0
        return interval.half_width <= self.half_width * scale


@dataclass(frozen=True, slots=True)
class StoppingRule:
    """Replicates until every bound is met, or the budget is spent.

    Attributes:
        bounds: what must be met, all after the same replicates.
        budget: the most replicates.
        least: the fewest replicates.
        confidence: of each metric's interval.
    """

    bounds: tuple[Bound, ...]
    budget: int
    least: int = LEAST_REPLICATES
    confidence: float = 0.95

    def stops_at(self, columns: Mapping[str, Sequence[float]], first: int = 1) -> int | None:
        """After how many replicates, in the order of their seeds, one stops; None to go on.

        Looks after each replicate in turn, whatever came back first: replicates beyond the answer
        were run ahead in vain and belong to no table.

        Args:
            columns: each bounded metric's values by rising seed, without a gap.
            first: the least answer possible, if earlier looks have said None.
        """
        known = min((len(columns[bound.metric]) for bound in self.bounds), default=0)
        start = max(first, min(self.least, self.budget))
        for count in range(start, min(known, self.budget) + 1):
            if count == self.budget or self._met(columns, count):
                return count
        return None

    def _met(self, columns: Mapping[str, Sequence[float]], count: int) -> bool:
        return all(
            bound.met(columns[bound.metric][:count], self.confidence) for bound in self.bounds
        )


def paired_difference(
    first: Mapping[int, float], second: Mapping[int, float], confidence: float = 0.95
) -> Interval:
    """The mean of `second` - `first` under common random numbers, with an interval for any stop.

    What a seed does to both cancels, so that the interval of the differences is narrower than the
    two intervals tell, if the seeds matter to both in the same way.

    Args:
        first: one value per seed.
        second: one value per seed, of the same seeds.
        confidence: as for `anytime_interval`.

    Raises:
        ValueError: if the seeds differ.
    """
    if first.keys() != second.keys():
        alone = min(first.keys() ^ second.keys())
        raise ValueError(f"seed {alone} is on one side only; a pair needs both")
    return anytime_interval([second[seed] - first[seed] for seed in sorted(first)], confidence)
