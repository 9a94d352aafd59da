"""The cost of a run, estimated from a trial of its beginning."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

TRIAL_S = 0.4
"""Seconds of computing that a trial of a run takes."""

STEADY_SHARE = 0.5
"""Share of a trial, at its end, whose pace is assumed for the rest of the run. Before it flows
start, and their windows grow."""


def cost_of(fixed_s: float, points: Sequence[tuple[float, float]]) -> float:
    """Returns the seconds that a whole run takes.

    Args:
        fixed_s: seconds that building the network and summarising take.
        points: seconds of computing, and the share of the run that was done by then.
    """
    took, share = points[-1]
    if share >= 1:
        return fixed_s + took
    # From the first point at or after the middle of the trial on, or from the last that is
    # earlier in the run than its end.
    steady = (point for point in points if point[0] >= (1 - STEADY_SHARE) * took)
    since, from_share = next((point for point in steady if point[1] < share), points[0])
    pace = (took - since) / (share - from_share) if share > from_share else took / max(share, 1e-9)
    return fixed_s + took + (1 - share) * pace
