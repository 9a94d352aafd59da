"""Recordings of Linux 6.18 behind deep buffers: criteria."""

from __future__ import annotations

from pathlib import Path
from statistics import stdev
from typing import TYPE_CHECKING

from evidence.validation.linux.recording import Criteria, Figure, Recording, read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evidence.validation.simulators import Figures

UTILIZATION_TOLERANCE = 0.02
RELATIVE_TOLERANCE = {"loss": 0.10, "mean_queue_packets": 0.05}
STANDARD_DEVIATIONS = 2.0
"""Linux was run once; the variance of one run is assumed to be that of our runs."""


def _allowed(recording: Recording, ours: Sequence[Figures], metric: str) -> float:
    """Returns a tolerance, for losses plus two standard deviations of our runs."""
    if metric == "utilization":
        return UTILIZATION_TOLERANCE
    values = [run[metric] for run in ours]
    chance = stdev(values) if metric == "loss" and len(values) > 1 else 0.0
    share = RELATIVE_TOLERANCE[metric] * recording.figures[metric]
    return share + STANDARD_DEVIATIONS * chance


CRITERIA = Criteria(
    figures=(
        Figure("utilization", "utilisation, %", 100.0, 2),
        Figure("loss", "loss, %", 100.0, 2),
        Figure("mean_queue_packets", "mean queue, packets", 1.0, 1),
    ),
    allowed=_allowed,
)


def recordings() -> list[Recording]:
    """Returns all recordings, each once."""
    return read(Path(__file__).with_name("6.18-deep.csv"), CRITERIA.figures)
