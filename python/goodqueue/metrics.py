"""What the name of a metric says of its values: whether they are shares, and where they can lie."""

from __future__ import annotations

import math

SHARES = ("utilization", "loss_rate", "_share", "_fraction", "_synchronization")
"""How the names of shares end."""

LOSSES = ("up_loss", "down_loss", "voice_loss")
"""Shares as well: what games and calls lose. The name `drops_link_loss` is of a count."""


def is_share(name: str) -> bool:
    """Returns True if the metric is a part of a whole, between 0 and 1."""
    return name.endswith(SHARES) or name.rpartition(".")[2] in LOSSES


def range_of(name: str) -> tuple[float, float]:
    """The least and the largest value that a metric can have: no metric is negative."""
    if is_share(name) or "jain" in name.rpartition(".")[2]:
        return 0.0, 1.0
    return 0.0, math.inf
