"""Recommendations on random links: five of those of docs/validation.md, shorter replicates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from evidence.validation.sizing.recommendations import check_links, describe, random_links
from evidence.validation.sizing.scan import FIRST_REPLICATES, MOST_REPLICATES, NEAR, around, scan
from goodqueue._core import grid
from goodqueue.sizing.search.trials import Target

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

HELPED = [Target("utilization", 0.98, at_least=True)]
HURT = [Target("p99_delay_s", 0.1, at_least=False)]


def test_five_links_are_confirmed_by_other_seeds(tmp_path: Path) -> None:
    """Four of five recommendations or more must be confirmed.

    If the required 45 of 50 are right, this holds for 92 % of all choices of five links (binomial),
    and if only half are right, for 19 %. Links and seeds are fixed, so the test has the same
    outcome each time.
    """
    checked = check_links(5, most_packets=15_000, folder=tmp_path)
    print(describe(checked, 15_000))
    assert sum(one.confirmed for one in checked) >= 4
    assert not any(one.refuted for one in checked)
    assert len({one.link for one in checked}) == 5


def test_random_links_depend_on_the_seed_alone() -> None:
    first, second = random_links(), random_links()
    assert [next(first) for _ in range(20)] == [next(second) for _ in range(20)]
    assert next(random_links(1)) != next(random_links(2))


class Straight:
    """A sampler of utilisation and delay that rise with the limit, with noise."""

    def __init__(
        self, serves_from: int, late_above: float = math.inf, spread: float = 0.001
    ) -> None:
        self.serves_from = serves_from
        self.late_above = late_above
        self.spread = spread
        self.runs: dict[int, int] = {}

    def __call__(self, wanted: Mapping[int, range]) -> Mapping[int, Sequence[Mapping[str, float]]]:
        return {limit: [self._run(limit, index) for index in wanted[limit]] for limit in wanted}

    def _run(self, limit: int, index: int) -> dict[str, float]:
        self.runs[limit] = self.runs.get(limit, 0) + 1
        noise = self.spread * np.random.default_rng([limit, index]).normal()
        return {
            "utilization": 0.98 + 0.02 * (limit - self.serves_from + 0.5) / limit + noise,
            "p99_delay_s": 0.1 * limit / self.late_above,
            "drops": 1.0,
        }


def test_a_scan_finds_where_a_curve_crosses_its_bound() -> None:
    straight = Straight(102, spread=0.0005)
    points = around(94, 400)
    found = scan(straight, points, HELPED, HURT)
    assert found.least == 104
    assert set(found.refuted) == {point for point in points if point < 102}
    assert set(found.shown) == {point for point in points if point > 102}
    assert found.runs == sum(straight.runs.values())


def test_only_undecided_limits_get_more_replicates() -> None:
    straight = Straight(104, spread=0.02)
    points = around(104, 400)
    scan(straight, points, HELPED, HURT)
    assert straight.runs[points[0]] == FIRST_REPLICATES
    assert straight.runs[104] == MOST_REPLICATES


def test_a_limit_beyond_the_bound_on_delay_does_not_meet_the_targets() -> None:
    found = scan(Straight(104, late_above=50), around(104, 400), HELPED, HURT)
    assert found.least is None
    assert not found.shown


def test_a_scan_has_no_gaps_near_an_answer_and_covers_all_limits_if_there_is_none() -> None:
    everything = grid(400)
    at = everything.index(104)
    points = around(104, 50)
    assert set(everything[at - NEAR : at + NEAR + 1]) <= set(points)
    assert points[0] == 1
    assert around(None, 200)[0] == 1
    assert around(None, 200)[-1] >= 200
