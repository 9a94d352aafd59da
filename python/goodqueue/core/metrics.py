"""Properties of metrics that follow from their names: shares, and ranges of values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SHARES = ("utilization", "loss_rate", "_share", "_fraction", "_synchronization")
"""Endings of the names of shares."""

LOSSES = ("up_loss", "down_loss", "voice_loss")
"""Further shares: the losses of games and calls. The name `drops_link_loss` is a count and not one
of them."""


MAIN = (
    *("rate_bps", "utilization", "goodput_bps", "throughput_bps", "loss_rate"),
    *("mean_queueing_delay_s", "p99_queueing_delay_s", "mean_rtt_s", "p99_rtt_s"),
    *("mean_backlog_packets", "max_backlog_packets", "arrivals", "drops", "marks", "jain_index"),
    *("packets_sent", "packets_lost", "retransmissions", "timeouts", "completion_time_s"),
    *("limited_by", "bottleneck", "class"),
)
"""Figures that come first, in this order: a dozen of a link, and a dozen of a flow."""

OF_STUDIES = ("utilization", "loss_rate", "p99_queueing_delay_s", "goodput_bps", "p99_rtt_s")
"""Figures of links and flows that come first among the metrics of a study."""

DOZEN = 12


def main_first(keys: Iterable[str]) -> list[str]:
    """Returns the keys of figures, the main ones first."""
    known = list(keys)
    return [*(key for key in MAIN if key in known), *(key for key in known if key not in MAIN)]


def chosen_first(metrics: Sequence[str]) -> list[str]:
    """Returns the metrics of a study, first a dozen of its links and flows.

    The other directions of links, which ACKs cross, are not among the dozen.
    """
    chosen = [
        name
        for name in metrics
        if name.rpartition(".")[2] in OF_STUDIES and ".reverse." not in name
    ][:DOZEN]
    first = set(chosen)
    return [*chosen, *(name for name in metrics if name not in first)]


def is_share(name: str) -> bool:
    """Returns True if the metric is a part of a whole, between 0 and 1."""
    return name.endswith(SHARES) or name.rpartition(".")[2] in LOSSES


def range_of(name: str) -> tuple[float, float]:
    """Returns the smallest and the largest value that a metric can have; none is negative."""
    if is_share(name) or "jain" in name.rpartition(".")[2]:
        return 0.0, 1.0
    return 0.0, math.inf
