"""Recordings of Linux 6.18 on a link of 10 Mb/s and 40 ms: criteria, and part of the report."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from evidence.validation.linux.reading import (
    LINUX_DEEP,
    LINUX_DEEP_READING,
    LINUX_READING,
    LINUX_RIG,
    LINUX_TRIED,
)
from evidence.validation.linux.recording import Criteria, Figure, Recording, read, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evidence.validation.linux.recording import Comparison
    from evidence.validation.simulators import Figures

BDP_PACKETS = 33.3
"""BDP of 10 Mbit/s times 40 ms, in packets of 1500 bytes."""


def _allowed(recording: Recording, _ours: Sequence[Figures], metric: str) -> float:
    """Returns a tolerance plus two standard deviations of Linux's repeats."""
    values = [repeat[metric] for repeat in recording.repeats]
    mean = fmean(values)
    small = recording.limit < 0.5 * BDP_PACKETS
    tolerance = {
        "utilization": 0.02 if small else 0.01,
        "mean_queue_packets": max(0.10 * mean, 0.5),
        "drops": max(0.25 * mean, 2.0),
    }[metric]
    # BBR's gain cycle begins at a random phase.
    share = 2.0 if recording.control == "bbr" else 1.0
    spread = stdev(values) if len(values) > 1 else 0.0
    return share * tolerance + 2 * spread


CRITERIA = Criteria(
    figures=(
        Figure("utilization", "utilisation, %", 100.0, 2),
        Figure("mean_queue_packets", "mean queue, packets", 1.0, 2),
        Figure("drops", "drops", 1.0, 1),
    ),
    allowed=_allowed,
)


def recordings() -> list[Recording]:
    """Returns all recordings."""
    return read(Path(__file__).with_name("6.18.csv"), CRITERIA.figures)


def section(comparisons: Sequence[Comparison], seeds: range, deep: Sequence[Comparison]) -> str:
    """Returns the part of the report.

    Args:
        comparisons: one per recording on the link of 10 Mb/s.
        seeds: the seeds of our runs.
        deep: one per recording behind deep buffers.
    """
    return (
        f"{LINUX_RIG}\nSeeds {seeds[0]} to {seeds[-1]}; {table(comparisons)}\n\n"
        f"{LINUX_READING}\n{LINUX_DEEP}\n{table(deep)}\n\n{LINUX_DEEP_READING}\n{LINUX_TRIED}"
    )
