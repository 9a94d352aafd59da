"""Stopping rules: that the intervals at which one stops hold the mean as often as they say."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import nct, norm, t

from goodqueue.intervals import Interval, t_interval
from goodqueue.study.coverage import coverage, textbook
from goodqueue.study.stopping import (
    LEAST_UNCHANGED,
    PRIOR_REPLICATES,
    Bound,
    StoppingRule,
    anytime_interval,
    paired_difference,
)

if TYPE_CHECKING:
    from random import Random


@pytest.mark.parametrize("count", [12, 20, 40])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_the_interval_ends_where_the_mixture_of_t_densities_says(
    count: int, confidence: float
) -> None:
    # The scale-invariant data of n normal values are one t statistic, noncentral with sqrt(n) δ.
    values = np.random.default_rng(count).normal(3, 2, count)
    interval = anytime_interval(values.tolist(), confidence)
    statistic = (values.mean() - interval.low) / (values.std(ddof=1) / math.sqrt(count))

    def mixed(effect: float) -> float:
        density = nct.pdf(statistic, count - 1, math.sqrt(count) * effect)
        return float(density * norm.pdf(effect, scale=1 / math.sqrt(PRIOR_REPLICATES)))

    ratio = quad(mixed, -6, 6, limit=200)[0] / t.pdf(statistic, count - 1)
    assert ratio == pytest.approx(1 / (1 - confidence), rel=1e-5)


def holds_zero(interval: Interval) -> bool:
    return interval.low <= 0 <= interval.high


def test_all_intervals_of_a_sequence_hold_the_mean_together() -> None:
    samples = np.random.default_rng(7).normal(0, 1, (400, 60)).tolist()
    ever_missed = sum(
        any(
            abs((seen := anytime_interval(sample[:n])).mean) > seen.half_width for n in range(7, 61)
        )
        for sample in samples
    )
    assert ever_missed <= 400 * 0.05 + 3 * math.sqrt(400 * 0.05 * 0.95)


@pytest.mark.parametrize("name", ["normal", "uniform", "exponential"])
@pytest.mark.parametrize("half_width", [1.0, 0.6])
def test_stopping_at_a_width_keeps_the_coverage(name: str, half_width: float) -> None:
    samples, mean, deviation = textbook(name, 400)
    seen = coverage(anytime_interval, samples, mean, half_width * deviation)
    assert seen.share >= 0.95
    assert seen.half_width <= half_width * deviation
    assert 10 < seen.replicates < 32


@pytest.mark.parametrize("name", ["uniform", "exponential"])
def test_students_t_does_not(name: str) -> None:
    samples, mean, deviation = textbook(name, 400)
    assert coverage(t_interval, samples, mean, 0.6 * deviation).share < 0.93


@given(st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=40), st.randoms(use_true_random=False))
def test_the_order_of_the_values_does_not_matter_to_a_bit(
    values: list[float], shuffle: Random
) -> None:
    shuffled = values.copy()
    shuffle.shuffle(shuffled)
    assert anytime_interval(shuffled) == anytime_interval(values)


def test_few_values_have_no_end_and_equal_ones_no_width() -> None:
    assert anytime_interval([1.0]).half_width == math.inf
    assert anytime_interval([1.0, 2.0, 3.0]).half_width == math.inf
    assert anytime_interval([0.1] * 10).half_width == 0, "though 10 x 0.1 / 10 rounds"


def noisy(seed: int, count: int) -> list[float]:
    return [float(value) for value in np.random.default_rng(seed).normal(100, 1, count)]


def test_a_rule_stops_when_all_bounds_are_met_and_not_before() -> None:
    columns = {"delay": noisy(1, 100), "loss": noisy(2, 100)}
    bounds = (Bound("delay", 1.0), Bound("loss", 0.005, relative=True))
    both = StoppingRule(bounds, budget=100).stops_at(columns)
    each = [StoppingRule((bound,), budget=100).stops_at(columns) for bound in bounds]
    assert both is not None
    assert each[0] is not None
    assert each[1] is not None
    assert each[0] < each[1] <= both < 100
    for bound in bounds:
        assert bound.met(columns[bound.metric][:both])
        assert not all(each.met(columns[each.metric][: both - 1]) for each in bounds)


@given(seed=st.integers(0, 999), cuts=st.lists(st.integers(0, 60), max_size=6))
def test_the_answer_does_not_depend_on_when_one_asks(seed: int, cuts: list[int]) -> None:
    values = noisy(seed, 60)
    rule = StoppingRule((Bound("delay", 0.6),), budget=60)
    whole = rule.stops_at({"delay": values})
    asked = 1
    for known in [*sorted(cuts), 60]:
        answer = rule.stops_at({"delay": values[:known]}, first=asked)
        if answer is not None:
            break
        asked = known + 1
    assert answer == whole


def test_the_budget_and_the_least_count_are_kept() -> None:
    columns = {"delay": noisy(3, 50)}
    never = (Bound("delay", 1e-9),)
    assert StoppingRule(never, budget=20).stops_at(columns) == 20
    assert StoppingRule(never, budget=20).stops_at({"delay": columns["delay"][:19]}) is None
    at_once = (Bound("delay", 1e9),)
    assert StoppingRule(at_once, budget=50, least=17).stops_at(columns) == 17
    assert StoppingRule(at_once, budget=3).stops_at(columns) == 3, "a budget below the least"


def test_values_that_do_not_differ_are_believed_late() -> None:
    # A loss in one run of twenty: the first replicates show none, and would end with ±0.
    columns = {"loss": [0.0] * 100}
    rule = StoppingRule((Bound("loss", 0.01),), budget=100)
    assert rule.stops_at(columns) == LEAST_UNCHANGED
    columns["loss"][LEAST_UNCHANGED - 1] = 1.0
    assert (rule.stops_at(columns) or 0) > LEAST_UNCHANGED


def test_pairs_under_common_random_numbers_tell_more_than_their_sides() -> None:
    seeds = range(20)
    common = noisy(5, 20)
    first = dict(zip(seeds, common, strict=True))
    second = {
        seed: first[seed] + 1 + noise / 1000 for seed, noise in zip(seeds, common, strict=True)
    }
    difference = paired_difference(first, dict(reversed(second.items())))
    assert difference.low < 1.1 < difference.high
    assert difference.half_width < anytime_interval(common).half_width / 100
    with pytest.raises(ValueError, match="seed 3 is on one side only"):
        paired_difference(first, {seed: value for seed, value in second.items() if seed != 3})
