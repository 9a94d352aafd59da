"""The buffer that smooths a GAIMD stream with evenly spaced losses, against B = a (R T)^2 / 18.

Evenly spaced losses give the saw-tooth of that law, which is in the paper's related work.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from goodqueue.papers.cells import Cell, Reproduction, Spread
from goodqueue.papers.clustering_buffer.fit import fit
from goodqueue.papers.findings import finding
from goodqueue.sizing.smoothing.formula import smoothing_packets
from goodqueue.sizing.smoothing.stream import Stream, friendly_decrease, smoothed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.core.intervals import Interval
    from goodqueue.papers.clustering_buffer.fit import Array
    from goodqueue.plots.style import Picture
    from goodqueue.sizing.smoothing.stream import Smoothed
    from goodqueue.study.runner import Runner

INCREASES = (1.0, 0.5, 0.25, 0.125)
RATES = (400, 800, 1600)
"""Rates in packets of 1000 bytes a second."""

RTTS_S = (0.1, 0.2, 0.4)
TEETH = 5
LAW = 1 / 18

WITH_TIMEOUTS = (320, 0.1)
"""Mean window in packets and round-trip time in seconds for the TCP-friendly pairs with
timeouts."""

SMALL_WINDOWS = (4, 8, 16, 32, 64)
SMALL_INCREASES = (1.0, 0.25)
SMALL_TEETH = 40

FITTED = (
    "Losses are a list, the same under every seed; intervals of what is fitted are 95 % by the "
    "scatter about the fit B = k a^x R^y T^z + c R T, whose last term is for repair in order"
)
NEAR = 0.05
"""Largest relative distance of a fitted figure, with its interval, from the claimed one."""

CLAIMED = (
    "The paper prints no formula: proportional and quadratic are exponents of 1 and 2. A claim "
    f"holds if the whole interval lies within {NEAR:.0%} of what is claimed, and is undecided if "
    "it straddles that bound"
)


@dataclass(frozen=True)
class SawTooth:
    """The saw-tooth that the law assumes: losses a fixed number of packets apart."""

    increases: Sequence[float] = INCREASES
    rates: Sequence[int] = RATES
    rtts_s: Sequence[float] = RTTS_S
    paper: str = "clustering-buffer"
    name: str = "smoothing"
    title: str = "The smoothing buffer of GAIMD: proportional to a, quadratic in rate and RTT"
    seconds: float = 3.0

    def reproduce(self, runner: Runner) -> Reproduction:
        """Returns exponents over a grid, the pairs that allow for timeouts, and small windows."""
        grid = [
            Stream(one, friendly_decrease(one), rate * rtt, rtt, TEETH)
            for one, rate, rtt in product(self.increases, self.rates, self.rtts_s)
        ]
        found = smoothed(runner, [(stream, 1) for stream in grid])
        cells, repair = _exponents(grid, found)
        cells += _with_timeouts(runner, repair)
        cells += _small_windows(runner)
        return Reproduction(cells, (FITTED, CLAIMED), partial(_pictures, grid, found, repair))


def _exponents(grid: Sequence[Stream], found: Sequence[Smoothed]) -> tuple[list[Cell], float]:
    """Returns the cells of the fit, and the buffer needed beyond the law, in units of R T."""
    points = np.array(
        [
            [stream.increase for stream in grid],
            [one.window / stream.rtt_s for stream, one in zip(grid, found, strict=True)],
            [stream.rtt_s for stream in grid],
        ]
    )
    # Rate and RTT are divided by their middle values, so that k does not depend on the exponents.
    rate, rtt = np.exp(np.log(points[1:]).mean(axis=1))

    def law(at: Array, *parameters: float) -> Array:
        k, x, y, z, repair = parameters
        grown = at[0] ** x * (at[1] / rate) ** y * (at[2] / rtt) ** z
        sizes: Array = k * grown * (rate * rtt) ** 2 + repair * at[1] * at[2]
        return sizes

    k, x, y, z, repair = fit(law, points, [one.buffer for one in found], (LAW, 1, 2, 2, 1))
    cells = [
        claimed({"of": "increase a"}, "proportional: exponent", x, 1),
        claimed({"of": "rate R"}, "quadratic: exponent", y, 2),
        claimed({"of": "round-trip time T"}, "quadratic: exponent", z, 2),
        claimed({"of": "a (R T)²"}, "ours: the coefficient is 1/18", k, LAW, digits=4),
        Cell({"of": "R T"}, "coefficient", "", 2, None, _spread(repair)),
    ]
    return cells, repair.mean


def _with_timeouts(runner: Runner, repair: float) -> list[Cell]:
    """Returns cells for a = 4 (1 - (1 - b)^2) / 3, as friendly as a Reno that suffers timeouts.

    The relation is Yang and Lam's (ICNP 2000). The law gives B = 3 b (R T)^2 / (8 (2 - b)^3) for
    these pairs, which is not proportional to a.
    """
    streams = [
        Stream(increase, 1 - math.sqrt(1 - 0.75 * increase), *WITH_TIMEOUTS, TEETH)
        for increase in INCREASES
    ]
    found = smoothed(runner, [(stream, 1) for stream in streams])
    return [
        Cell(
            {"of": f"a = {stream.increase:g}, friendly with timeouts"},
            "B / (a (R T)²), less the repair",
            "",
            4,
            None,
            Spread.exact((one.buffer / one.window - repair) / (stream.increase * one.window)),
            variants={
                "by the formula": Spread.exact(_law(stream, one) / one.window**2 / stream.increase)
            },
        )
        for stream, one in zip(streams, found, strict=True)
    ]


def _small_windows(runner: Runner) -> list[Cell]:
    """Returns the buffers of streams with small windows, as multiples of the law's buffer."""
    streams = [
        Stream(increase, friendly_decrease(increase), window, 0.1, SMALL_TEETH)
        for window, increase in product(SMALL_WINDOWS, SMALL_INCREASES)
    ]
    found = smoothed(runner, [(stream, 1) for stream in streams])
    return [
        Cell(
            {"of": f"{stream.window:g} packets, a = {stream.increase:g}"},
            "needed over the law's",
            "",
            1,
            None,
            Spread.exact(one.buffer / _law(stream, one)),
        )
        for stream, one in zip(streams, found, strict=True)
    ]


def _law(stream: Stream, found: Smoothed) -> float:
    return smoothing_packets(found.window, stream.increase, stream.decrease)


def claimed(row: dict[str, str], says: str, found: Interval, value: float, digits: int = 3) -> Cell:
    """Returns the cell of a claim about a fitted figure, judged by its 95 % interval."""
    bound = (value * (1 - NEAR), value * (1 + NEAR))
    return Cell(
        row,
        f'"{says}"',
        "",
        digits,
        None,
        Spread(found.mean, found.low, found.high),
        finding=finding(found, bound),
        asked=f"{bound[0]:.{digits}f} to {bound[1]:.{digits}f}",
    )


def _spread(found: Interval) -> Spread:
    return Spread(found.mean, found.low, found.high)


def _pictures(
    grid: Sequence[Stream], found: Sequence[Smoothed], repair: float
) -> Sequence[Picture]:
    from goodqueue.papers.clustering_buffer.pictures import saw_tooth

    return [saw_tooth(grid, found, repair)]
