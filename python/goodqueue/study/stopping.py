"""Stopping of replicates: intervals that stay valid however often they are evaluated.

A user who evaluates Student's interval after every replicate and stops at the first narrow one
selects samples with a small spread by chance. The interval then contains the mean too rarely. A
confidence *sequence* may be watched: with 95 % probability all of its intervals, at every number of
replicates, contain the mean. So any rule may choose when to stop.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal, localcontext
from functools import lru_cache
from typing import TYPE_CHECKING

from goodqueue.core.intervals import Interval

if TYPE_CHECKING:
    from goodqueue.study.model import Bound, StopSpec

PRIOR_REPLICATES = 4
"""Parameter c² of `anytime_interval`; its choice determines where the intervals are narrowest.

A normal mixture is narrowest near c² (1 - 2 ln alpha + ln(-2 ln alpha)) replicates (Waudby-Smith et
al., below). For alpha = 0.05 these are 35, a usual number in studies.
"""

CONFIDENCE = 0.95

MIN_UNCHANGED = 30
"""Number of equal values from which on a metric is assumed constant.

By the rule of three, other values then occur in less than one replicate in ten (95 %).
"""


def anytime_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Returns the interval of a mean after these replicates, valid however their number was chosen.

    The t-test confidence sequence of Wang and Ramdas ("Anytime-valid t-tests and confidence
    sequences for Gaussian means with unknown variance", arXiv:2310.03722), after Lai (1976), is
    exact at every count for normal values of unknown variance. For other distributions it holds in
    the limit (Waudby-Smith et al., "Time-uniform central limit theory and asymptotic confidence
    sequences", arXiv:2103.06476). With fewer than 7 values it is unbounded.

    The result is the same to the last bit on every machine and in every order of the values: sums
    are rounded once (`math.fsum`), and logarithms are computed in decimal arithmetic.

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
    """Returns the half width for values with standard deviation 1 (with divisor `count`).

    For X of unknown variance and an effect size mu / sigma mixed over N(0, 1 / c²), the likelihood
    ratio of the scale-invariant data against mu = 0 is

        sqrt(c² / (n + c²)) · (V / (V - S² / (n + c²)))^(n / 2),   V = Σ X², S = Σ X.

    This ratio is a martingale that begins at 1. The probability that it ever exceeds 1 / alpha is
    at most alpha (Ville). The interval contains every mu for which the ratio of X - mu does not
    exceed 1 / alpha. With d = (mean - mu)² this condition is
    d (1 - R c² / (n + c²)) < (R - 1) s², where R = ((n + c²) / (c² alpha²))^(1 / n).
    """
    with localcontext() as context:
        context.prec = 40
        prior, n = Decimal(PRIOR_REPLICATES), Decimal(count)
        alpha = 1 - Decimal(repr(confidence))
        ratio = (((n + prior) / (prior * alpha**2)).ln() / n).exp()
        left = 1 - ratio * prior / (n + prior)
        return float(((ratio - 1) / left).sqrt()) if left > 0 else math.inf


Samples = Mapping[str, Sequence[float]]
"""Samples of one variant: the values of each metric in the order of the study's seeds, one for
every replicate that was run. NaN represents a failed run, so that equal positions are equal seeds.
"""


class SequentialRule:
    """Replicates until the interval of every named metric is narrow enough, or a budget is spent.

    After each round a variant gets about the number of replicates that its spread requires, but at
    most half as many as it has, because the first spreads are inaccurate. The number of replicates
    thus depends on the values, which the intervals allow. It does not depend on the speed of runs,
    because the rule is evaluated when every requested run has ended.
    """

    def __init__(self, spec: StopSpec) -> None:
        self._spec = spec

    def more(self, samples: Sequence[Samples]) -> list[int]:
        """Returns the number of replicates that each variant still needs; all 0 ends the study."""
        counts = [_replicates(columns) for columns in samples]
        targets = [self._target(samples, index) for index in range(len(samples))]
        for index, base in enumerate(self._spec.baseline or ()):
            targets[base] = max(targets[base], targets[index])
        wanted = [max(0, target - count) for target, count in zip(targets, counts, strict=True)]
        if self._spec.max_runs is None:
            return wanted
        return _share(wanted, max(0, self._spec.max_runs - sum(counts)))

    def worst(self, samples: Sequence[Samples]) -> str | None:
        """Returns a line on the interval that exceeds its bound most; None if none exceeds it."""
        excess, line = 1.0, None
        for index in range(len(samples)):
            for metric, bound in self._spec.width.items():
                values = self._values(samples, index, metric)
                if not values:
                    continue
                interval = anytime_interval(values)
                width, allowed = 2 * interval.half_width, _allowed(bound, interval)
                beyond = width / allowed if allowed else math.inf if width else 0.0
                if beyond > excess:
                    excess = beyond
                    line = f"variant {index}: {metric} {width:.3g} wide, {allowed:.3g} wanted"
        return line

    def _target(self, samples: Sequence[Samples], index: int) -> int:
        """Returns the number of replicates for the next evaluation of a variant."""
        spec = self._spec
        count = _replicates(samples[index])
        if count < spec.min_replicates:
            return min(spec.min_replicates, spec.max_replicates)
        if spec.baseline is not None and spec.baseline[index] == index:
            return count
        most = min(max(1, count // 2), spec.max_replicates - count)
        lacking = [0]
        for metric, bound in spec.width.items():
            values = self._values(samples, index, metric)
            if len(set(values)) > 1:
                lacking.append(_lacking(values, bound, most))
            else:
                lacking.append(MIN_UNCHANGED - count)
        return count + max(0, min(most, max(lacking)))

    def _values(self, samples: Sequence[Samples], index: int, metric: str) -> list[float]:
        """Returns the values to which a metric's bound applies, by seed, without missing ones."""
        own = samples[index].get(metric, ())
        if self._spec.baseline is None:
            return [value for value in own if not math.isnan(value)]
        base = samples[self._spec.baseline[index]].get(metric, ())
        differences = (value - other for value, other in zip(own, base, strict=False))
        return [value for value in differences if not math.isnan(value)]


def _replicates(columns: Samples) -> int:
    return max((len(column) for column in columns.values()), default=0)


def _allowed(bound: Bound, interval: Interval) -> float:
    return bound.width * (abs(interval.mean) if bound.relative else 1.0)


def _lacking(values: Sequence[float], bound: Bound, most: int) -> int:
    """Returns the number of values still needed if the spread stays as it is, at most `most`."""
    count = len(values)
    mean = math.fsum(values) / count
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / count)
    allowed = _allowed(bound, Interval(mean, 0.0))
    for more in range(most):
        if 2 * _factor(count + more, CONFIDENCE) * deviation <= allowed:
            return more
    return most


def _share(wanted: list[int], left: int) -> list[int]:
    """Returns the part of the requests within the budget: one replicate for each in turn."""
    given = [0] * len(wanted)
    while left and given != wanted:
        for index, want in enumerate(wanted):
            if left and given[index] < want:
                given[index] += 1
                left -= 1
    return given


def paired_difference(
    first: Mapping[int, float], second: Mapping[int, float], confidence: float = CONFIDENCE
) -> Interval:
    """Returns the mean of `second` - `first` under common random numbers, with an anytime interval.

    Effects of a seed on both cancel. The interval of the differences is then narrower than the two
    intervals suggest, if a seed affects both in the same way.

    Args:
        first: one value per seed.
        second: one value per seed, of the same seeds.
        confidence: the argument of `anytime_interval`.

    Raises:
        ValueError: if the seeds differ.
    """
    if first.keys() != second.keys():
        alone = min(first.keys() ^ second.keys())
        raise ValueError(f"seed {alone} is on one side only; a pair needs both")
    return anytime_interval([second[seed] - first[seed] for seed in sorted(first)], confidence)
