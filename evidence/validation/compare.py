"""Means, standard errors and verdicts of a comparison with ns-2."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from evidence.validation.ns2.cases import RELATIVE_TOLERANCE, UTILIZATION_TOLERANCE
from goodqueue.core.intervals import t_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evidence.validation.ns2.cases import Case
    from evidence.validation.simulators import Figures


WIDER = 1.1
"""Factor by which the interval of ns-2's seeds is widened."""


@dataclass(frozen=True)
class Estimate:
    """The mean of one figure over seeds, and its standard error."""

    mean: float
    error: float


def estimate(runs: Sequence[Figures], metric: str) -> Estimate:
    """Returns the mean and standard error of one figure over runs with different seeds."""
    values = [run[metric] for run in runs]
    error = stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return Estimate(fmean(values), error)


@dataclass(frozen=True)
class SpreadCheck:
    """The comparison of our mean with the range of ns-2's runs, for one figure.

    Attributes:
        metric: name of the figure.
        theirs: figures of ns-2's runs, one per seed.
        ours: figures of our runs, one per seed.
    """

    metric: str
    theirs: Sequence[Figures]
    ours: Sequence[Figures]

    @property
    def difference(self) -> float:
        """Our mean minus ns-2's."""
        return estimate(self.ours, self.metric).mean - estimate(self.theirs, self.metric).mean

    @property
    def allowed(self) -> float:
        """Half of the range that holds 95 % of ns-2's runs, widened by a tenth."""
        values = [run[self.metric] for run in self.theirs]
        of_mean = t_interval(values).half_width
        return WIDER * of_mean * math.sqrt(len(values))

    @property
    def agrees(self) -> bool:
        """True if our mean differs from ns-2's by no more than `allowed`."""
        # If ns-2's seeds do not differ at all, only a rounding error is allowed.
        return abs(self.difference) <= self.allowed + 1e-9


@dataclass(frozen=True)
class Check:
    """The comparison of our mean with ns-2's, for one figure."""

    metric: str
    theirs: Estimate
    ours: Estimate

    @property
    def difference(self) -> float:
        """Our mean minus ns-2's."""
        return self.ours.mean - self.theirs.mean

    @property
    def allowed(self) -> float:
        """The largest difference that counts as agreement, in the unit of the figure."""
        if self.metric == "utilization":
            return UTILIZATION_TOLERANCE
        share = RELATIVE_TOLERANCE[self.metric] * self.theirs.mean
        return share + 3 * math.hypot(self.theirs.error, self.ours.error)

    @property
    def agrees(self) -> bool:
        """True if the difference is no more than `allowed`."""
        return abs(self.difference) <= self.allowed


@dataclass(frozen=True)
class Comparison:
    """All runs of one link under one of ns-2's agents.

    Attributes:
        case: the link.
        agent: ns-2's agent.
        ns2: figures of ns-2's runs, one per seed.
        ours: figures of our runs under the `ns2` profile.
        rfc: figures of our runs under the `rfc` profile; empty if there were none.
    """

    case: Case
    agent: str
    ns2: Sequence[Figures]
    ours: Sequence[Figures]
    rfc: Sequence[Figures] = ()

    def check(self, metric: str) -> Check:
        """Returns the comparison of one figure."""
        return Check(metric, estimate(self.ns2, metric), estimate(self.ours, metric))

    def checks(self) -> list[Check]:
        """Returns the comparisons of the figures that have to agree."""
        return [self.check(metric) for metric in self.case.judged]
