"""Tuning of two parameters on trial: drawn problems, their truth, and a smaller trial."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from conftest import ROOT
from evidence.core.pages import part
from evidence.tune_several import make, truth
from evidence.tune_several.draw import DRAWS, KINDS, problems
from evidence.tune_several.make import asked, hit
from evidence.tune_several.truth import Dense, Point, Runs, best, row

if TYPE_CHECKING:
    import pytest


class Surface(Dense):
    """Runs whose figures are functions of the point, with the noise of their seeds."""

    def _runs(self, points: list[Point], seeds: range) -> dict[Point, Runs]:  # type: ignore[override]
        return {
            point: [self._figures(point, 1 + 0.01 * (-1) ** seed) for seed in seeds]
            for point in points
        }

    def _figures(self, point: Point, noise: float) -> dict[str, float]:
        x, y = (float(text.rstrip("kbpsm")) for text in point)
        ping_s = noise * (x / 40_000 + y / 1000)
        return {
            "ping.p95_rtt_s": ping_s,
            "modem.p99_queueing_delay_s": 0.0,
            self.goal: noise * x * y,
        }


def test_problems_depend_on_the_seed_alone_and_are_of_every_kind() -> None:
    drawn = list(islice(problems(), DRAWS))
    assert drawn == list(islice(problems(), DRAWS))
    assert drawn != list(islice(problems(1), DRAWS))
    assert len({one.kind for one in drawn}) == len(KINDS)


def test_the_truth_is_the_best_point_of_the_grid_that_keeps_the_bounds() -> None:
    problem = next(problems())
    dense = Surface(problem)
    found = best(dense)
    assert found is not None
    grid = dense.grid()
    kept = {one: runs for one, runs in grid.items() if not dense.broken(runs)}
    assert 0 < len(kept) < len(grid)
    assert dense.value(kept[found]) == max(map(dense.value, kept.values()))


def test_a_point_counts_if_it_is_good_keeps_the_bounds_and_was_cheap() -> None:
    one = {"point": ["1", "2"], "best": ["1", "3"], "gap": 0.01, "broken": False, "runs": 500}
    assert hit(one)
    assert not hit(one | {"gap": 0.03})
    assert not hit(one | {"broken": True})
    assert not hit(one | {"runs": make.MOST_RUNS + 1})
    assert not hit(one | {"point": None, "gap": None, "broken": None})
    assert hit(one | {"point": None, "best": None, "gap": None, "broken": None})


def test_the_page_says_what_was_recorded() -> None:
    page = (ROOT / make.PAGE).read_text("utf-8")
    assert part(page, make.PART) == make.text(make.rows())


def test_the_recorded_trial_has_its_problems_and_keeps_bounds() -> None:
    """Chance breaks a bound that is kept exactly by two standard errors in one of 44 means."""
    found = make.rows()
    drawn = list(islice(problems(), DRAWS))
    assert [(one["vary"], one["keep"]) for one in found] == [
        ([str(axis) for axis in one.vary], list(one.keep)) for one in drawn
    ]
    assert sum(not one["broken"] for one in found) >= 0.9 * DRAWS


def test_a_smaller_trial_finds_good_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """The grid is so small that the share of its runs is not judged."""
    monkeypatch.setattr(truth, "POINTS", 9)
    monkeypatch.setattr(truth, "SEEDS", 8)
    monkeypatch.setattr(truth, "FINE_SEEDS", 48)
    monkeypatch.setattr(make, "MOST_RUNS", 2000)
    found = [row(one, asked(one)) for one in islice(problems(seed=7, seconds=5), 5)]
    assert sum(map(hit, found)) >= 4
