"""Figures 5 to 7 with BSCL's buffers from captures, as experiments, and their claims.

The code that runs them is in `captures.py`, which takes long to import.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from goodqueue.core.intervals import t_interval
from goodqueue.papers.cells import Reproduction
from goodqueue.papers.dhamdhere2005.claims import Sample, claims, stated
from goodqueue.papers.dhamdhere2005.figures import MANY_FLOWS, Figure
from goodqueue.papers.dhamdhere2005.mix import ESTIMATES, TRUTH, Mix, Traffic
from goodqueue.papers.dhamdhere2005.statements import HOW_JUDGED, cells

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goodqueue.papers.dhamdhere2005.captures import Estimate, Seconds
    from goodqueue.papers.dhamdhere2005.claims import Claim
    from goodqueue.plots.style import Picture
    from goodqueue.sizing.link import Link
    from goodqueue.study.runner import Runner

SHARES = {"fig5-captures": 0.95, "fig6-captures": 0.9, "fig7-captures": 0.8}
"""Share of the capacity that local flows have, by experiment."""

SEEDS = 5
"""Number of seeds: as many as the other figures have."""


class CapturesExperiment:
    """One of figures 5 to 7 with BSCL's buffers from captures."""

    paper = "dhamdhere2005"

    def __init__(self, name: str, flows: Sequence[int] = MANY_FLOWS, seeds: int = SEEDS) -> None:
        self.name = name
        self.title: str = stated()[name]["title"]
        self.seconds = float(stated()[name]["seconds"])
        self._flows, self._seeds = flows, seeds

    def reproduce(self, runner: Runner) -> Reproduction:
        """Runs what the store lacks and judges the second runs and the estimates."""
        found, second = self._passes(Mix(runner))
        made = figures(self.name, found, second)
        return Reproduction(
            [cell for key, figure in made.items() for cell in cells(figure, _claims(key))],
            [
                HOW_JUDGED,
                (
                    f"{self._seeds} seeds. A first run behind C T leaves captures before and after "
                    "the queue. BSCL gets N, T_e, C_e and the median burst that `goodqueue "
                    "analyze` finds in them, and the second run has its buffer and another seed."
                ),
            ],
            partial(_pictures, made),
        )

    def captures_took_s(self, runner: Runner) -> float:
        """Returns the core-seconds that the first runs and the analysis of their captures took."""
        found, _ = self._passes(Mix(runner))
        return math.fsum(one.took_s for of in found.values() for one in of)

    def _passes(self, mix: Mix) -> tuple[dict[Traffic, list[Estimate]], Seconds]:
        from goodqueue.papers.dhamdhere2005.captures import estimates, second_runs

        traffic = [Traffic(count, SHARES[self.name]) for count in self._flows]
        found = estimates(mix, traffic, self._seeds)
        return found, second_runs(mix, found)


def figures(
    name: str, found: Mapping[Traffic, Sequence[Estimate]], second: Seconds
) -> dict[str, Figure]:
    """Returns loss and utilisation of the second runs, and estimates over true values."""
    seeds = len(next(iter(found.values())))
    share = f"{100 * SHARES[name]:.0f} % local"
    made = {}
    for key, title in (("loss", "Loss with BSCL"), ("utilization", "Utilisation with BSCL")):
        figure = "loss_rate" if key == "loss" else key
        curves = {
            source: {one.flows: Sample.of(second[one, source].per_cent(figure)) for one in found}
            for source in (ESTIMATES, TRUTH)
        }
        made[key] = Figure(f"{name}-{key}", f"{title}, {share}", "%", curves, seeds)
    ratios: dict[str, Callable[[Link], float]] = {
        "N": lambda link: link.flows,
        "T_e": lambda link: link.harmonic_rtt_s,
        "C_e": lambda link: link.local_rate_bps,
    }
    made["estimates"] = Figure(
        f"{name}-estimates",
        f"Estimates from captures over the scenario's, {share}",
        "",
        {
            label: {
                one.flows: t_interval([of(each.link) / of(one.link) for each in found[one]])
                for one in found
            }
            for label, of in ratios.items()
        },
        seeds,
    )
    return made


def _pictures(made: Mapping[str, Figure]) -> Sequence[Picture]:
    from goodqueue.papers.dhamdhere2005.pictures import picture

    return [picture(figure, _claims(key)) for key, figure in made.items()]


def _claims(key: str) -> list[Claim]:
    return claims(stated()["captures"][key]["claim"])
