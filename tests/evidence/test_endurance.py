"""A study that is killed again and again ends like one that runs undisturbed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evidence.studies.endurance import endure

if TYPE_CHECKING:
    from pathlib import Path


def test_a_killed_study_loses_and_repeats_no_recorded_run(tmp_path: Path) -> None:
    outcome = endure(tmp_path, runs=400, kills=3)
    assert outcome.runs == 400
    assert outcome.equal
    assert outcome.lost == 0
    assert outcome.repeated == 0
    assert list(outcome.recorded) == sorted(outcome.recorded)
    assert any(0 < count < 400 for count in outcome.recorded), "some kill met it at work"
