"""Bands of RFC 9743's sections: which figures are inside, and which faults of a control are not."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

import goodqueue
from goodqueue.characterization.bands import Band, band_of
from goodqueue.characterization.guide import guide
from goodqueue.study.compare import sample

if TYPE_CHECKING:
    from pathlib import Path

    from goodqueue import Ack, Connection, Loss
    from goodqueue.characterization.measure import Characterization

CONTROLS = guide("rfc9743")


class Sound:
    """Slow start to a threshold, then a segment in a round trip; half after a loss or a mark."""

    def __init__(self, connection: Connection) -> None:
        self.mss = connection.mss_bytes
        self.window_bytes = float(connection.initial_window_bytes)
        self.ssthresh_bytes = math.inf

    def on_ack(self, ack: Ack) -> None:
        slow = self.window_bytes < self.ssthresh_bytes
        self.window_bytes += (1 if slow else self.mss / self.window_bytes) * ack.acked_bytes

    def on_loss(self, loss: Loss) -> None:
        self.ssthresh_bytes = max(loss.basis_bytes / 2, 2 * self.mss)
        self.window_bytes = self.ssthresh_bytes


class WithoutReduction(Sound):
    """Has the fault that no loss reduces the window."""

    def on_loss(self, loss: Loss) -> None:
        """Does nothing."""


class WithoutMarks(Sound):
    """Has the fault that no mark reduces the window."""

    def on_loss(self, loss: Loss) -> None:
        if not loss.is_mark:
            super().on_loss(loss)


def outside(found: Characterization) -> set[str]:
    """Returns the sections with a figure that is shown to be outside its band."""
    return {
        one.section.key
        for one in found.found
        for score in one.scores
        if score.standing == "outside"
    }


@pytest.mark.parametrize(
    ("control", "sections", "expected"),
    [
        (Sound, ["5.1.2", "5.1.3", "7.1"], set[str]()),
        (WithoutReduction, ["5.1.3"], {"loss"}),
        (WithoutMarks, ["5.1.3", "7.1"], {"ecn"}),
    ],
)
def test_a_fault_fails_the_band_of_its_section_and_no_other(
    control: type[Sound], sections: list[str], expected: set[str], tmp_path: Path
) -> None:
    found = goodqueue.characterize(
        control=control, sections=sections, seeds=3, store=tmp_path, against="none"
    )
    assert outside(found) == expected


def test_cubic_is_inside_every_band(tmp_path: Path) -> None:
    """RFC 9743 section 5.2.1 takes it as a standard, so a band that it fails would be wrong."""
    found = goodqueue.characterize(control="cubic", seeds=3, store=tmp_path, against="none")
    assert found.standings["outside"] == 0
    assert found.standings["not shown"] == 0
    assert found.standings["inside"] == 37, "docs/characterize.md names the number"


def test_every_band_names_a_figure_a_case_and_a_source() -> None:
    for section in CONTROLS.sections:
        metrics = {measure.metric for measure in section.measures}
        cases = {case.name for case in section.cases}
        for band in section.bands:
            assert band.metric in metrics, section.key
            assert set(band.cases) <= cases, section.key
            assert band.least < band.most, section.key
            assert "RFC " in band.source or "SIGCOMM" in band.source, section.key


def band(least: float = -math.inf, most: float = math.inf, metric: str = "a.b") -> Band:
    return Band(metric, least, most, "source")


@pytest.mark.parametrize(
    ("values", "limits", "side"),
    [
        ([1.0, 1.0, 1.0], band(most=1.0), "inside"),
        ([2.0, 2.1, 2.2], band(most=1.0), "outside"),
        ([0.9, 1.4, 1.0], band(most=1.0), "not shown"),
        ([0.1, 0.2, 0.15], band(least=0.5), "outside"),
        ([20.0, 200.0, 60.0], band(0.5, 2.0, "a.b / c.d"), "outside"),
        ([20.0, 200.0, 60.0], band(0.5, 2.0), "not shown"),
        ([0.4, 2.4], band(0.5, 2.0, "a.b / c.d"), "inside"),
    ],
)
def test_the_side_of_a_figure_follows_from_its_interval(
    values: list[float], limits: Band, side: str
) -> None:
    assert limits.standing(sample(values, 0.0)) == side


def test_a_figure_that_no_seed_has_is_outside() -> None:
    assert band(most=1.0).standing(None) == "outside"


def test_a_band_without_a_bound_has_no_end_there() -> None:
    made = band_of({"metric": "a.b", "most": 1, "source": "s"})
    assert (made.least, made.most) == (-math.inf, 1.0)
