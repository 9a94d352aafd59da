"""The paper's figures as experiments: our curves, and cells for the claims in `stated.toml`."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from goodqueue.papers.cells import Cell, Remark, Reproduction, Spread
from goodqueue.papers.dhamdhere2005.claims import Claim, claims, stated
from goodqueue.papers.dhamdhere2005.figures import FIGURES, Figure
from goodqueue.papers.dhamdhere2005.mix import Mix

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from goodqueue.core.intervals import Interval
    from goodqueue.papers.dhamdhere2005.claims import Points
    from goodqueue.plots.style import Picture
    from goodqueue.study.runner import Runner

DERIVED_DIGITS = 2

HOW_JUDGED = (
    "The paper prints no data. A claim of its text is judged by the 95 % interval of our mean over "
    "seeds. It holds if the interval lies within the bound asked. It is not reproduced if the "
    "interval lies outside, and undecided if an end of the bound lies within the interval."
)


class FigureExperiment:
    """A figure that is simulated."""

    paper = "dhamdhere2005"

    def __init__(self, name: str) -> None:
        self.name = name
        entry = stated()[name]
        self.title: str = entry["title"]
        self.seconds = float(entry["seconds"])
        self._claims = claims(entry.get("claim", ()))

    def reproduce(self, runner: Runner) -> Reproduction:
        """Runs what the store lacks and compares the curves with the claims of the text."""
        figure = FIGURES[self.name](Mix(runner))
        return Reproduction(
            list(cells(figure, self._claims)),
            [HOW_JUDGED, f"{figure.seeds} seeds, runs of 200 s."],
            partial(self._pictures, figure),
        )

    def _pictures(self, figure: Figure) -> Sequence[Picture]:
        from goodqueue.papers.dhamdhere2005.pictures import picture

        return [picture(figure, self._claims)]


def cells(figure: Figure, said: Sequence[Claim]) -> Iterator[Cell]:
    """Yields a cell for every simulated point, and one for every point that a claim concerns."""
    for curve, points in figure.curves.items():
        if curve not in figure.theory:
            for flows, value in points.items():
                seeds = 0 if flows in figure.bracketed else figure.seeds
                yield Cell(
                    {"curve": curve, "flows": str(flows)},
                    figure.title,
                    figure.unit,
                    figure.digits,
                    None,
                    possible(_one_run(value, seeds), figure.unit),
                )
    for claim in said:
        yield from claimed(claim, figure.curves, figure.unit, figure.digits)


def claimed(
    claim: Claim, curves: Mapping[str, Points], unit: str, digits: int = DERIVED_DIGITS
) -> Iterator[Cell]:
    """Yields a cell for every point that a claim concerns, with the unit of the curves."""
    derived = claim.over or claim.less or claim.slope
    for one in claim.judged(curves):
        made = Spread(one.value.mean, one.value.low, one.value.high)
        yield Cell(
            {"curve": one.curve, "flows": one.flows},
            f'"{claim.says}"',
            claim.unit(unit),
            DERIVED_DIGITS if derived else digits,
            claim.printed,
            made if derived else possible(made, unit),
            remark=Remark(one.why) if one.why else None,
            finding=one.finding,
            asked=claim.asked(unit),
        )


def possible(spread: Spread, unit: str) -> Spread:
    """Returns the interval without values that no figure can have.

    No loss rate, utilisation, buffer or burst is negative, and no share exceeds 100 %.
    """
    most = 100.0 if unit == "%" else math.inf
    return Spread(spread.mean, max(spread.low, 0.0), min(spread.high, most))


def _one_run(interval: Interval, seeds: int) -> Spread:
    """Returns the interval of one run from that of the mean; a bracket is left unchanged."""
    mean, half = interval.mean, interval.half_width
    if half == 0:
        return Spread.exact(mean)
    # The half width for one run, t s sqrt(1 + 1/n), is sqrt(n + 1) times t s / sqrt(n), that of the
    # mean.
    wide = half * math.sqrt(seeds + 1)
    return Spread(mean, mean - wide, mean + wide)
