"""The cost of a run, estimated from a trial of its beginning."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

TRIAL_S = 0.4
"""Seconds of computing that a trial of a run takes."""

STEADY_SHARE = 0.5
"""Last part of a trial whose speed is assumed for the rest of the run. Before it, flows start and
windows grow."""


def cost_of(fixed_s: float, points: Sequence[tuple[float, float]]) -> float:
    """Returns the seconds of a whole run, from a trial of its beginning.

    Args:
        fixed_s: seconds for building the network and the summary.
        points: seconds of computing, and the share of the run that was simulated by then.
    """
    took, share = points[-1]
    if share >= 1:
        return fixed_s + took
    # The first point is the first at or after the middle of the trial, or the last one before the
    # end of the run.
    steady = (point for point in points if point[0] >= (1 - STEADY_SHARE) * took)
    since, from_share = next((point for point in steady if point[1] < share), points[0])
    pace = (took - since) / (share - from_share) if share > from_share else took / max(share, 1e-9)
    return fixed_s + took + (1 - share) * pace
