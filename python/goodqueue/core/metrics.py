"""Properties of metrics that follow from their names: shares, and ranges of values."""

from __future__ import annotations

import math

SHARES = ("utilization", "loss_rate", "_share", "_fraction", "_synchronization")
"""Endings of the names of shares."""

LOSSES = ("up_loss", "down_loss", "voice_loss")
"""Further shares: the losses of games and calls. The name `drops_link_loss` is a count and not one
of them."""


def is_share(name: str) -> bool:
    """Returns True if the metric is a part of a whole, between 0 and 1."""
    return name.endswith(SHARES) or name.rpartition(".")[2] in LOSSES


def range_of(name: str) -> tuple[float, float]:
    """Returns the smallest and the largest value that a metric can have; none is negative."""
    if is_share(name) or "jain" in name.rpartition(".")[2]:
        return 0.0, 1.0
    return 0.0, math.inf
