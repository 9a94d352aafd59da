"""The buffer that smooths a GAIMD stream when losses come at random, as in networks."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from goodqueue.core.intervals import t_interval
from goodqueue.papers.cells import Cell, Remark, Reproduction, Spread
from goodqueue.papers.clustering_buffer.fit import fit
from goodqueue.papers.clustering_buffer.saw_tooth import claimed
from goodqueue.sizing.smoothing.formula import wandering_packets
from goodqueue.sizing.smoothing.stream import Stream, friendly_decrease, smoothed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.core.intervals import Interval
    from goodqueue.papers.clustering_buffer.fit import Array
    from goodqueue.plots.style import Picture
    from goodqueue.sizing.smoothing.stream import Smoothed
    from goodqueue.study.runner import Runner

LOSSES = (10, 30, 100, 300, 1000)
LONG = 300
"""Number of losses from which a stream counts as long."""

INCREASES = (1.0, 0.25)
WINDOW = 20
REPLICATES = 40

BY_CHANCE = wandering_packets(1, 1 / 1.5)
"""B / ((R T)^2 sqrt(M)) of a long TCP-friendly stream with M random losses, for every increase. Its
losses are (R T)^2 / 1.5 packets apart on average."""

REMARK = Remark(
    "What has been delivered wanders with the losses, and about as far for every increase: the "
    "longer the stream, the more must be stored"
)


@dataclass(frozen=True)
class Chance:
    """Smoothing with random losses, where no saw-tooth bounds the buffer."""

    losses: Sequence[int] = LOSSES
    replicates: int = REPLICATES
    paper: str = "clustering-buffer"
    name: str = "smoothing-random"
    title: str = "The smoothing buffer of GAIMD where losses come at random"
    seconds: float = 12.0

    def reproduce(self, runner: Runner) -> Reproduction:
        """Returns B / (R T)^2 for ever longer streams, and the exponent of the increase."""
        sizes = self.sizes(runner)
        cells = [
            Cell(
                {"losses": f"{stream.losses}", "increase": f"{stream.increase:g}"},
                "B / (R T)²",
                "",
                2,
                None,
                Spread.of_range(values),
                variants={
                    "by chance": Spread.exact(BY_CHANCE * math.sqrt(stream.losses)),
                    "of one tooth": Spread.exact(stream.increase / 18),
                },
            )
            for stream, values in sizes.items()
        ]
        cells.append(_exponent(sizes))
        seeds = (
            f"{self.replicates} seeds each, none used twice: the range over them holds one run "
            "more in 95 of 100. The exponent and its interval, of 95 %, are of the fit to all runs "
            f"with {LONG} losses or more"
        )
        chance = "By chance: sqrt(pi/8)/3 sqrt(M), the Brownian bridge of a stream of M losses"
        means = {stream: t_interval(values) for stream, values in sizes.items()}
        return Reproduction(cells, (seeds, chance), partial(_pictures, means))

    def sizes(self, runner: Runner) -> dict[Stream, list[float]]:
        """Returns B / (R T)^2 of each run, where R is the mean rate over all runs of the stream."""
        streams = [
            Stream(one, friendly_decrease(one), WINDOW, 0.1, losses, at_random=True)
            for one, losses in product(INCREASES, self.losses)
        ]
        # No two streams share a seed, so their losses are independent.
        wanted = [
            (stream, 1 + place * self.replicates + index)
            for place, stream in enumerate(streams)
            for index in range(self.replicates)
        ]
        found: dict[Stream, list[Smoothed]] = {stream: [] for stream in streams}
        for (stream, _), one in zip(wanted, smoothed(runner, wanted), strict=True):
            found[stream].append(one)
        windows = {stream: fmean(one.window for one in runs) for stream, runs in found.items()}
        return {
            stream: [one.buffer / windows[stream] ** 2 for one in runs]
            for stream, runs in found.items()
        }


def _exponent(sizes: dict[Stream, list[float]]) -> Cell:
    """Fits the exponent of the increase to all runs of long streams; their length is given."""
    runs = [
        (stream.increase, stream.losses, value)
        for stream, values in sizes.items()
        if stream.losses >= LONG
        for value in values
    ]

    def power(at: Array, size: float, x: float) -> Array:
        sizes: Array = np.exp(size) * at[0] ** x * np.sqrt(at[1])
        return sizes

    points = np.array([[run[0] for run in runs], [run[1] for run in runs]])
    _, found = fit(power, points, [run[2] for run in runs], (0.0, 0.0))
    row = {"losses": f"{LONG} and more", "increase": "all"}
    cell = claimed(row, "ours: proportional with random losses, too: exponent of a", found, 1, 2)
    return replace(cell, remark=REMARK)


def _pictures(means: dict[Stream, Interval]) -> Sequence[Picture]:
    from goodqueue.papers.clustering_buffer.pictures import wandering

    return [wandering(means, BY_CHANCE)]
