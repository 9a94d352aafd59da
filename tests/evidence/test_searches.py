"""The figures by which the constants of the search are judged."""

from __future__ import annotations

from typing import Any

import pytest

from evidence.answers_on_trial.page import Verdict
from evidence.studies.searches import Outcome


def outcome(least: int | None, **found: Any) -> Outcome:  # noqa: ANN401 - values of a record
    points = [{"packets": packets, "worst": 2.0, "bound": "idle"} for packets in (8, 9)]
    row = {"least": least, "points": points, "busy": 0.98}
    usual = {"packets": 13, "low": 9, "shown": True, "chance": [10, 13]}
    return Outcome(usual | found, Verdict(row))


def test_an_answer_two_limits_above_the_last_that_fails_is_beyond_a_step() -> None:
    assert outcome(12).beyond == pytest.approx(13 / 10)
    assert outcome(12).over_truth == pytest.approx(13 / 12)
    assert outcome(None).over_truth is None
    assert outcome(12, packets=11).beyond is None
    assert outcome(12, shown=False).beyond is None


@pytest.mark.parametrize(
    ("chance", "factor"), [([10, 13], 1.0), ([15, 20], 1.5), ([4, 5], 2.0), ([9, None], None)]
)
def test_an_interval_must_be_widened_until_it_meets_the_truth(
    chance: list[int | None], factor: float | None
) -> None:
    """Nine packets break the bound and ten keep it."""
    assert outcome(10, chance=chance).needed == factor


def test_no_interval_is_judged_where_no_buffer_suffices() -> None:
    assert outcome(None).needed is None
