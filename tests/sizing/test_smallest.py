"""The search with noise, on curves whose answer is known."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from goodqueue._core import grid
from goodqueue.sizing.search.sets import by_chance, sets
from goodqueue.sizing.search.smallest import bracket, smallest
from goodqueue.sizing.search.trials import Answered, Target, Trials

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

UTILIZATION = Target("utilization", 0.98, at_least=True)


class Noisy:
    """Figures of a limit with noise, a part of which is common to all limits of a seed."""

    def __init__(
        self,
        curves: Mapping[str, Callable[[int], float]],
        spread: float,
        seed: int = 1,
        fills_below: float = math.inf,
    ) -> None:
        self.curves = curves
        self.spread = spread
        self.seed = seed
        self.fills_below = fills_below
        self.runs: list[tuple[int, int]] = []

    def __call__(self, wanted: Mapping[int, range]) -> Mapping[int, Sequence[Mapping[str, float]]]:
        return {limit: [self._run(limit, index) for index in wanted[limit]] for limit in wanted}

    def _run(self, limit: int, index: int) -> dict[str, float]:
        self.runs.append((limit, index))
        common = np.random.default_rng([self.seed, index]).normal()
        own = np.random.default_rng([self.seed, index, limit]).normal()
        noise = self.spread * (0.7 * common + 0.7 * own)
        figures = {name: curve(limit) + noise for name, curve in self.curves.items()}
        return figures | {"drops": float(limit < self.fills_below)}


def rising(needed: float) -> Callable[[int], float]:
    """Returns a utilisation of 98 % at `needed` packets and of 75 % at none."""
    scale = needed / math.log(0.25 / 0.02)
    return lambda limit: 1 - 0.25 * math.exp(-limit / scale)


def steps_apart(found: int, needed: float) -> int:
    """Returns the grid steps between an answer and the first grid point that suffices."""
    points = grid(1 << 20)
    truth = next(index for index, point in enumerate(points) if point >= needed)
    return abs(points.index(found) - truth)


def test_grid_steps_are_a_packet_or_five_per_cent() -> None:
    points = grid(1000)
    assert points[:25] == list(range(1, 26))
    assert points[-1] >= 1000
    for first, second in itertools.pairwise(points):
        assert second - first == max(1, round(first * 0.05)) or second - first == 1


def test_without_noise_the_answer_is_exact() -> None:
    for needed in [1, 2, 7.5, 40, 333, 2500]:
        trials = Trials(Noisy({"utilization": rising(needed)}, 0.0))
        found = smallest(trials, [UTILIZATION], [], reach=(100, 1 << 20), most_replicates=50)
        assert found.limit == next(point for point in grid(10_000) if point >= needed - 1e-9)
        assert found.settled


def test_under_noise_the_limit_is_within_one_step() -> None:
    rng = np.random.default_rng(7)
    right = 0
    for case in range(60):
        needed = float(np.exp(rng.uniform(math.log(3), math.log(2000))))
        noisy = Noisy({"utilization": rising(needed)}, 0.003, seed=case)
        trials = Trials(noisy)
        found = smallest(trials, [UTILIZATION], [], reach=(100, 1 << 20), most_replicates=200)
        assert found.limit is not None
        right += steps_apart(found.limit, needed) <= 1
        assert len(noisy.runs) == len(set(noisy.runs)) == trials.spent
    assert right >= 57


def test_the_range_contains_the_true_answer() -> None:
    held = 0
    for case in range(60):
        trials = Trials(Noisy({"utilization": rising(150)}, 0.01, seed=100 + case))
        found = smallest(trials, [UTILIZATION], [], reach=(100, 1 << 20), most_replicates=20)
        held += found.low < 150 and (found.high is None or found.high >= 150)
    assert held >= 57


def test_replicates_are_spent_on_limits_that_they_decide() -> None:
    noisy = Noisy({"utilization": rising(200)}, 0.003)
    trials = Trials(noisy)
    smallest(trials, [UTILIZATION], [], reach=(100, 1 << 20), most_replicates=200)
    counts = {limit: len(runs) for limit, runs in trials.replicates.items()}
    far = [count for limit, count in counts.items() if not 150 < limit < 260]
    assert set(far) <= {3, 8}
    assert 3 in far
    assert max(counts.values()) > 8


def test_no_buffer_suffices_if_the_queue_never_fills() -> None:
    curves: dict[str, Callable[[int], float]] = {"utilization": lambda _limit: 0.9}
    trials = Trials(Noisy(curves, 0.001, fills_below=300))
    found = smallest(trials, [UTILIZATION], [], reach=(50, 1 << 20), most_replicates=50)
    assert found.limit is None
    assert found.broken == ("utilization",)
    assert max(trials.limits) < 2000
    assert found.reached == max(trials.limits)
    trials.ensure([5000], 3)  # a rule's buffer, run after the search
    assert found.reached < 5000


@pytest.mark.parametrize(("most_delay", "feasible"), [(0.5, True), (0.05, False)])
def test_a_delay_bounds_from_above(most_delay: float, feasible: bool) -> None:
    curves = {"utilization": rising(100), "p99_delay_s": lambda limit: limit * 1e-3}
    delay = Target("p99_delay_s", most_delay, at_least=False)
    trials = Trials(Noisy(curves, 1e-4))
    found = smallest(trials, [UTILIZATION], [delay], reach=(100, 1 << 20), most_replicates=50)
    assert found.floor is not None
    assert steps_apart(found.floor, 100) <= 1
    if feasible:
        assert found.limit == found.floor
    else:
        assert found.limit is None
        assert found.broken == ("utilization", "p99_delay_s")
        assert found.ceiling is not None
        assert steps_apart(found.ceiling, 50) <= 1


def test_the_smallest_limit_of_several_sets_is_recommended() -> None:
    """Flows synchronise at limits of 30 to 60 packets."""

    def holed(limit: int) -> float:
        return 0.97 if limit < 12 or 30 <= limit <= 60 else 0.985

    trials = Trials(Noisy({"utilization": holed}, 1e-4))
    found = smallest(trials, [UTILIZATION], [], reach=(100, 1 << 20), most_replicates=50)
    assert found.limit == 12
    kept = sets(trials, [UTILIZATION])
    assert len(kept) == 2
    (first, last), (second, end) = kept
    assert (first, end) == (12, None)
    assert last is not None
    assert last < 30
    assert second > 60


def valley(limit: int) -> float:
    """Loss of CUBIC over the buffer: least near 200 packets, and more above."""
    return 0.00095 + 0.0006 * math.log(limit / 200) ** 2


LOSS = Target("loss_rate", 0.001, at_least=False)


@pytest.mark.parametrize("lean", [False, True])
def test_a_valley_between_the_coarse_limits_is_found(lean: bool) -> None:
    """The loss keeps its bound only between 150 and 267 packets."""
    trials = Trials(Noisy({"loss_rate": valley}, 1e-6))
    found = smallest(trials, [LOSS], [], reach=(1000, 4000), most_replicates=50, lean=lean, near=20)
    assert found.limit is not None
    assert 150 <= found.limit <= 165
    assert found.proved
    if not lean:
        ((low, high),) = sets(trials, [LOSS])
        assert low == found.limit
        assert high is not None
        assert high <= 267


def test_the_range_grows_while_a_larger_buffer_helps() -> None:
    def falling(limit: int) -> float:
        return min(5.0 / limit, 1.0)

    trials = Trials(Noisy({"loss_rate": falling}, 1e-6))
    found = smallest(trials, [LOSS], [], reach=(100, 1000), most_replicates=50, farthest=100_000)
    assert found.limit is not None
    assert 5000 <= found.limit <= 5300
    trials = Trials(Noisy({"loss_rate": falling}, 1e-6))
    found = smallest(trials, [LOSS], [], reach=(100, 1000), most_replicates=50)
    assert found.limit is None
    assert found.nearest == trials.limits[-1]


def test_the_range_does_not_grow_where_a_larger_buffer_hurts() -> None:
    trials = Trials(Noisy({"loss_rate": lambda limit: 2 * valley(limit)}, 1e-6))
    found = smallest(trials, [LOSS], [], reach=(100, 1000), most_replicates=50, farthest=1 << 20)
    assert found.limit is None
    assert found.excluded
    assert found.reached <= 2000
    assert 180 <= found.nearest <= 220


def test_no_replicates_are_spent_on_a_knife_edge() -> None:
    """All limits from 100 packets on keep the bound by a tenth of its margin."""

    def edge(limit: int) -> float:
        return 0.9 if limit < 100 else 0.98001 if limit < 300 else 0.99

    trials = Trials(Noisy({"utilization": edge}, 3e-4))
    found = smallest(trials, [UTILIZATION], [], reach=(1000, 1000), most_replicates=10_000)
    assert found.limit is not None
    assert 300 <= found.limit <= 315
    assert trials.spent < 1000


def test_limits_that_were_not_shown_to_fail_are_not_excluded() -> None:
    trials = Trials(Noisy({"utilization": lambda _limit: 0.979}, 0.01))
    found = smallest(trials, [UTILIZATION], [], reach=(100, 100), most_replicates=8)
    assert not found.excluded


def test_the_interval_by_chance_holds_the_true_answer() -> None:
    held, widths = 0, []
    for case in range(60):
        trials = Trials(Noisy({"utilization": rising(150)}, 0.004, seed=300 + case))
        found = smallest(trials, [UTILIZATION], [], reach=(100, 1 << 20), most_replicates=20)
        at = found.limit or found.nearest
        low, high = by_chance(trials, [UTILIZATION], at, bracket(trials, [UTILIZATION]))
        held += low <= 150 and (high is None or high >= 150)
        widths.append(math.inf if high is None else math.log(high / low) / 2)
    assert held >= 57
    assert np.median(widths) < 0.2


def test_an_interval_decides_a_target_if_it_excludes_the_bound() -> None:
    from goodqueue.core.intervals import Interval

    loss = Target("loss_rate", 0.01, at_least=False)
    assert loss.answer(Interval(0.005, 0.004)) is Answered.MEETS
    assert loss.answer(Interval(0.009, 0.004)) is Answered.OPEN
    assert loss.answer(Interval(0.02, 0.004)) is Answered.FAILS
    assert loss.answer(Interval(0.00995, 0.0001)) is Answered.CLOSE
    assert UTILIZATION.answer(Interval(0.99, 0.005)) is Answered.MEETS
    assert UTILIZATION.answer(Interval(0.97, 0.005)) is Answered.FAILS
