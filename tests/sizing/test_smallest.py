"""The search with noise, on curves whose answer is known."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from goodqueue.sizing.search.smallest import Answered, Target, Trials, grid, smallest

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


def test_limits_below_an_exception_are_not_recommended() -> None:
    """Flows synchronise at limits of 30 to 60 packets; smaller limits that pass are reported."""

    def holed(limit: int) -> float:
        return 0.97 if 30 <= limit <= 60 else 0.985

    trials = Trials(Noisy({"utilization": holed}, 1e-4))
    found = smallest(trials, [UTILIZATION], [], reach=(100, 1 << 20), most_replicates=50)
    assert found.limit is not None
    assert 60 < found.limit <= 64
    assert found.exceptions
    assert all(limit < 30 for limit in found.exceptions)


def test_an_interval_decides_a_target_if_it_excludes_the_bound() -> None:
    from goodqueue.core.intervals import Interval

    loss = Target("loss_rate", 0.01, at_least=False)
    assert loss.answer(Interval(0.005, 0.004)) is Answered.MEETS
    assert loss.answer(Interval(0.009, 0.004)) is Answered.OPEN
    assert loss.answer(Interval(0.02, 0.004)) is Answered.FAILS
    assert UTILIZATION.answer(Interval(0.99, 0.005)) is Answered.MEETS
    assert UTILIZATION.answer(Interval(0.97, 0.005)) is Answered.FAILS
