"""Figures of a link that a search needs, read from the metrics of studies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OF_LINK = {
    "utilization": "utilization",
    "loss_rate": "loss_rate",
    "p99_delay_s": "p99_queueing_delay_s",
    "drops": "drops_overlimit",
    "all_drops": "drops",
    "arrivals": "arrivals",
    "bursts": "loss_bursts",
    "hit": "mean_flows_hit",
}
"""Names of the link's figures in a search, and of their metrics in studies."""


OF_GROUP = ("goodput_bps.sum", "goodput_bps.jain", "loss_events")
"""Metrics of each group of long flows. Only the hybrid engine has the last one."""


@dataclass(frozen=True, slots=True)
class Meter:
    """Reader of a run's figures.

    Attributes:
        link: the link's name.
        groups: number of long flows of each group, by the stem of the group's metrics. With groups
            the figures include fairness and loss epochs.
        whole: utilisation of the link if its shaper always sends.
        of_overflow: True if the loss is the share of packets that the full queue drops, without
            early drops and loss on the link.
    """

    link: str
    groups: Mapping[str, int]
    whole: float = 1.0
    of_overflow: bool = False

    @property
    def metrics(self) -> list[str]:
        """Returns the metrics that a run must report."""
        own = [f"{self.link}.{metric}" for metric in OF_LINK.values()]
        return own + [f"{group}.{part}" for group in self.groups for part in OF_GROUP]

    def figures(self, values: Sequence[float]) -> dict[str, float]:
        """Returns the figures from the values of `metrics`.

        Metrics without samples count as 0.
        """
        known = [0.0 if math.isnan(value) else value for value in values]
        figures = dict(zip(OF_LINK, known, strict=False))
        # Frames may take a little more of the link than the shaper counts.
        figures["utilization"] = min(figures["utilization"] / self.whole, 1.0)
        bursts, hit = figures.pop("bursts"), figures.pop("hit")
        all_drops, arrivals = figures.pop("all_drops"), figures.pop("arrivals")
        if math.isnan(values[list(OF_LINK).index("drops")]):
            # The hybrid engine does not distinguish overflows from other drops of a queue
            # discipline.
            figures["drops"] = all_drops
        if self.of_overflow:
            figures["loss_rate"] = figures["drops"] / max(arrivals, 1.0)
        if self.groups:
            first, step = len(OF_LINK), len(OF_GROUP)
            events = values[first + 2 :: step]
            flows = sum(self.groups.values())
            # Loss epochs of a flow on average: number of bursts times the share of flows that a
            # burst hits.
            figures["epochs"] = bursts * hit / flows
            if not any(map(math.isnan, events)):  # the hybrid engine counts the epochs of each flow
                of_groups = zip(self.groups.values(), events, strict=True)
                figures["epochs"] = sum(count * mean for count, mean in of_groups) / flows
            figures["jain"] = self._jain(known[first::step], known[first + 1 :: step])
        return figures

    def _jain(self, sums: Sequence[float], jains: Sequence[float]) -> float:
        """Returns Jain's index over all groups: (sum x)^2 / (n sum x^2)."""
        total = squares = 0.0
        for count, its_sum, its_jain in zip(self.groups.values(), sums, jains, strict=True):
            total += its_sum
            squares += its_sum**2 / (count * its_jain) if its_jain else 0.0
        return total**2 / (sum(self.groups.values()) * squares) if squares else 0.0
