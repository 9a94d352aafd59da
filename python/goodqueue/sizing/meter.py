"""What a search reads of a run: the figures of a link, from the metrics that studies know."""

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
    "bursts": "loss_bursts",
    "hit": "mean_flows_hit",
}
"""What a search calls a figure of the link, and what studies call it."""


@dataclass(frozen=True, slots=True)
class Meter:
    """Where to read.

    Attributes:
        link: the link's name.
        groups: how many long flows each group has, by the stem of its metrics; their fairness and
            loss epochs are figures, too.
    """

    link: str
    groups: Mapping[str, int]

    @property
    def metrics(self) -> list[str]:
        """The metrics to ask a run for."""
        own = [f"{self.link}.{metric}" for metric in OF_LINK.values()]
        parts = ("sum", "jain")
        return own + [f"{group}.goodput_bps.{part}" for group in self.groups for part in parts]

    def figures(self, values: Sequence[float]) -> dict[str, float]:
        """The figures, of the values of `metrics`.

        Without a sample a delay is 0, and so are losses.
        """
        known = [0.0 if math.isnan(value) else value for value in values]
        figures = dict(zip(OF_LINK, known, strict=False))
        bursts, hit = figures.pop("bursts"), figures.pop("hit")
        if self.groups:
            # Every burst hits so many of the flows: the epochs that a flow has seen on average.
            figures["epochs"] = bursts * hit / sum(self.groups.values())
            figures["jain"] = self._jain(known[len(OF_LINK) :])
        return figures

    def _jain(self, values: Sequence[float]) -> float:
        """Jain's index over all groups: (sum x)^2 / (n sum x^2), which each group's tell."""
        total = squares = 0.0
        for count, its_sum, its_jain in zip(
            self.groups.values(), values[::2], values[1::2], strict=True
        ):
            total += its_sum
            squares += its_sum**2 / (count * its_jain) if its_jain else 0.0
        return total**2 / (sum(self.groups.values()) * squares) if squares else 0.0
