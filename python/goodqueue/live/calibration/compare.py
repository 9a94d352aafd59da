"""Comparison of a cell's simulation with its emulation: intervals, and disagreements."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import stdev
from typing import TYPE_CHECKING, Literal

from goodqueue.core.intervals import t_interval, t_quantile
from goodqueue.core.metrics import range_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.core.intervals import Interval
    from goodqueue.live.calibration.cells import Cell, Path
    from goodqueue.live.calibration.ledger import Finished
    from goodqueue.live.calibration.theory import Theory

FIGURES = ("utilization", "delay_s", "drops")

UTILIZATION_POINTS = 0.02
"""Tolerated difference of the utilisation."""

DELAY_SHARE, BBR_DELAY_SHARE = 0.10, 0.20
"""Tolerated difference of the mean queueing delay, as a share of the kernel's."""

DROPS_SHARE, MIN_DROPS = 0.25, 2.0
"""Tolerated difference of drops: the larger of a share of the kernel's and a count."""

Judgement = Literal["agrees", "differs", "undecided", "not measured"]


@dataclass(frozen=True, slots=True)
class Compared:
    """One figure of a cell.

    Attributes:
        figure: its name, one of `FIGURES`.
        theory: prediction of theory; None without one.
        simulation: mean over seeds with its 95 % interval.
        kernel: mean over emulations with its 95 % interval; None without emulations.
        tolerance: tolerated difference between the two means.
        judgement: `agrees` if the means differ by no more than the tolerance; `differs` if the 95 %
            interval of their difference lies outside the tolerance; otherwise `undecided`, because
            more runs could show either. `not measured` without two emulations.
    """

    figure: str
    theory: float | None
    simulation: Interval
    kernel: Interval | None
    tolerance: float
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Row:
    """Everything about a cell.

    Attributes:
        cell: the cell.
        compared: the figures, in the order of `FIGURES`.
        verdicts: verdicts on the emulations that count.
        left_out: number of emulations that were not trusted and do not count.
    """

    cell: Cell
    compared: tuple[Compared, ...]
    verdicts: tuple[str, ...]
    left_out: int

    @property
    def differing(self) -> list[Compared]:
        """The figures that differ."""
        return [one for one in self.compared if one.judgement == "differs"]


def compare(
    cell: Cell,
    path: Path,
    predicted: Theory,
    simulations: Sequence[Finished],
    emulations: Sequence[Finished],
) -> Row:
    """Returns the comparison of a cell."""
    used = [one for one in emulations if one.verdict != "not trusted"]
    compared = []
    for figure in FIGURES:
        ours = [float(getattr(one, figure)) for one in simulations]
        theirs = [float(getattr(one, figure)) for one in used]
        kernel = t_interval(theirs).within(*range_of(figure)) if theirs else None
        tolerance = _tolerance(figure, cell, path, kernel)
        judgement = _judge(ours, theirs, tolerance)
        prediction = getattr(predicted, figure)
        simulation = t_interval(ours).within(*range_of(figure))
        made = Compared(figure, prediction, simulation, kernel, tolerance, judgement)
        compared.append(made)
    verdicts = tuple(one.verdict for one in used)
    return Row(cell, tuple(compared), verdicts, len(emulations) - len(used))


def _tolerance(figure: str, cell: Cell, path: Path, kernel: Interval | None) -> float:
    mean = kernel.mean if kernel else 0.0
    if figure == "utilization":
        return UTILIZATION_POINTS
    if figure == "delay_s":
        share = BBR_DELAY_SHARE if cell.control == "bbr" else DELAY_SHARE
        return max(share * mean, path.packet_s / 2)
    return max(DROPS_SHARE * mean, MIN_DROPS)


def _judge(ours: Sequence[float], theirs: Sequence[float], tolerance: float) -> Judgement:
    if len(theirs) < 2:
        return "not measured"
    beyond = abs(_mean(ours) - _mean(theirs)) - tolerance
    if beyond <= 0:
        return "agrees"
    return "differs" if beyond > _half_width(ours, theirs) else "undecided"


def _half_width(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Returns half the width of Welch's 95 % interval of the difference of two means."""
    parts = [stdev(values) ** 2 / len(values) for values in (ours, theirs)]
    if not sum(parts):
        return 0.0
    weights = [
        part**2 / (len(values) - 1) for part, values in zip(parts, (ours, theirs), strict=True)
    ]
    return t_quantile(sum(parts) ** 2 / sum(weights)) * math.sqrt(sum(parts))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
