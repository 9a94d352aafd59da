"""Stopping rules: final intervals contain the mean with the stated probability."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import nct, norm, t

from evidence.studies.coverage import coverage, textbook
from goodqueue.core.intervals import t_interval
from goodqueue.study.model import Bound, StopSpec
from goodqueue.study.stopping import (
    MIN_UNCHANGED,
    PRIOR_REPLICATES,
    SequentialRule,
    anytime_interval,
    paired_difference,
)

if TYPE_CHECKING:
    from random import Random


@pytest.mark.parametrize("count", [12, 20, 40])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_the_interval_ends_where_the_mixture_of_t_densities_reaches_its_bound(
    count: int, confidence: float
) -> None:
    # The scale-invariant statistic of n normal values is one t statistic, noncentral with sqrt(n)
    # δ.
    values = np.random.default_rng(count).normal(3, 2, count)
    interval = anytime_interval(values.tolist(), confidence)
    statistic = (values.mean() - interval.low) / (values.std(ddof=1) / math.sqrt(count))

    def mixed(effect: float) -> float:
        density = nct.pdf(statistic, count - 1, math.sqrt(count) * effect)
        return float(density * norm.pdf(effect, scale=1 / math.sqrt(PRIOR_REPLICATES)))

    ratio = quad(mixed, -6, 6, limit=200)[0] / t.pdf(statistic, count - 1)
    assert ratio == pytest.approx(1 / (1 - confidence), rel=1e-5)


def test_all_intervals_of_a_sequence_hold_the_mean_with_the_confidence() -> None:
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
def test_stopping_at_a_width_of_students_t_loses_coverage(name: str) -> None:
    samples, mean, deviation = textbook(name, 400)
    assert coverage(t_interval, samples, mean, 0.6 * deviation).share < 0.93


@given(st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=40), st.randoms(use_true_random=False))
def test_the_order_of_the_values_does_not_matter_to_a_bit(
    values: list[float], shuffle: Random
) -> None:
    shuffled = values.copy()
    shuffle.shuffle(shuffled)
    assert anytime_interval(shuffled) == anytime_interval(values)


def test_few_values_have_an_infinite_interval_and_equal_ones_no_width() -> None:
    assert anytime_interval([1.0]).half_width == math.inf
    assert anytime_interval([1.0, 2.0, 3.0]).half_width == math.inf
    assert anytime_interval([0.1] * 10).half_width == 0, "though 10 x 0.1 / 10 rounds"


def noisy(seed: int, count: int, deviation: float = 1.0) -> list[float]:
    drawn = np.random.default_rng(seed).normal(100, deviation, count)
    return [float(value) for value in drawn]


Columns = list[dict[str, list[float]]]


def play(spec: StopSpec, columns: Columns) -> tuple[list[int], list[list[int]]]:
    """Returns the replicates that the rule requests for each variant: in total, and by round."""
    rule, counts = SequentialRule(spec), [0] * len(columns)
    rounds: list[list[int]] = []
    while True:
        assert len(rounds) < 100
        shown = [
            {name: values[:count] for name, values in column.items()}
            for column, count in zip(columns, counts, strict=True)
        ]
        more = rule.more(shown)
        if not any(more):
            return counts, rounds
        rounds.append(list(more))
        counts = [count + want for count, want in zip(counts, more, strict=True)]


def width(values: list[float]) -> float:
    return 2 * anytime_interval(values).half_width


def test_a_rule_requests_replicates_until_every_bound_is_met() -> None:
    column = {"delay": noisy(1, 300), "loss": noisy(2, 300)}
    spec = StopSpec({"delay": Bound(2.0, False), "loss": Bound(0.008, True)})
    (count,), rounds = play(spec, [column])
    assert width(column["delay"][:count]) <= 2.0
    assert width(column["loss"][:count]) <= 0.8 * 1.01
    assert 60 < count < 120, "1.2 standard deviations take some 65 values"
    assert rounds[0] == [5]
    assert 4 < len(rounds) < 12
    seen = {name: values[: count - rounds[-1][0]] for name, values in column.items()}
    assert width(seen["delay"]) > 2.0 or width(seen["loss"]) > 0.8
    assert SequentialRule(spec).worst([seen]) is not None
    kept = {name: values[:count] for name, values in column.items()}
    assert SequentialRule(spec).worst([kept]) is None


def test_noisier_variants_get_more_replicates_and_quiet_ones_stop() -> None:
    columns = [{"delay": noisy(1, 300, spread)} for spread in (0.1, 1.0, 2.0)]
    spec = StopSpec({"delay": Bound(2.0, False)})
    counts, _ = play(spec, columns)
    assert 5 < counts[0] < 10 < counts[1] < counts[2]
    worst = SequentialRule(spec).worst([{"delay": column["delay"][:10]} for column in columns])
    assert worst is not None
    assert worst.startswith("variant 2: delay ")
    assert worst.endswith(" wide, 2 wanted")


def test_a_rule_keeps_its_budgets_of_replicates_and_runs() -> None:
    columns = [{"delay": noisy(seed, 200)} for seed in range(3)]
    never = {"delay": Bound(1e-9, False)}
    counts, _ = play(StopSpec(never, min_replicates=4, max_replicates=20), columns)
    assert counts == [20, 20, 20]
    counts, _ = play(StopSpec(never, min_replicates=4, max_runs=50), columns)
    assert counts == [17, 17, 16]
    counts, _ = play(StopSpec({"delay": Bound(1e9, False)}, min_replicates=17), columns)
    assert counts == [17, 17, 17]


def test_equal_values_end_a_study_only_after_many_replicates() -> None:
    # One run in twenty has a loss. The first replicates have none, so their interval has the width
    # 0.
    columns: Columns = [{"loss": [0.0] * 100}]
    spec = StopSpec({"loss": Bound(0.01, False)}, max_replicates=100)
    assert play(spec, columns)[0] == [MIN_UNCHANGED]
    columns[0]["loss"][MIN_UNCHANGED - 1] = 1.0
    assert play(spec, columns)[0] == [100]


def test_missing_figures_are_left_out_and_replaced_by_more_replicates() -> None:
    values = noisy(4, 300)
    holed = [math.nan if place % 3 == 0 else value for place, value in enumerate(values)]
    spec = StopSpec({"delay": Bound(2.0, False)})
    (count,), _ = play(spec, [{"delay": holed}])
    present = [value for value in holed[:count] if not math.isnan(value)]
    assert width(present) <= 2.0
    assert len(present) < 1.5 * play(spec, [{"delay": values}])[0][0]
    assert play(spec, [{"delay": [math.nan] * 100}])[0] == [MIN_UNCHANGED]


def added(values: list[float], others: list[float]) -> list[float]:
    return [value + other for value, other in zip(values, others, strict=True)]


def test_a_rule_may_bound_the_differences_from_a_baseline() -> None:
    shared = noisy(5, 400, 10)
    columns: Columns = [
        {"delay": shared},
        {"delay": added(shared, noisy(6, 400, 0.01))},
        {"delay": added(shared, noisy(7, 400, 0.2))},
    ]
    spec = StopSpec({"delay": Bound(0.2, False)}, baseline=(0, 0, 0), max_replicates=400)
    counts, _ = play(spec, columns)
    assert counts[1] < counts[2] == counts[0] < 60
    alone = StopSpec({"delay": Bound(0.2, False)}, max_replicates=400)
    assert play(alone, columns)[0] == [400, 400, 400]


def test_differences_under_common_random_numbers_have_narrower_intervals() -> None:
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
