"""Means, standard errors and verdicts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from goodqueue.intervals import t_interval
from goodqueue.validation.cases import RELATIVE_TOLERANCE, UTILIZATION_TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.validation.cases import Case
    from goodqueue.validation.simulators import Figures


WIDER = 1.1
"""By how much the interval of ns-2's seeds is widened: a tenth."""


@dataclass(frozen=True)
class Estimate:
    """The mean of one figure over seeds, and its standard error."""

    mean: float
    error: float


def estimate(runs: Sequence[Figures], metric: str) -> Estimate:
    """One figure over seeds."""
    values = [run[metric] for run in runs]
    error = stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return Estimate(fmean(values), error)


@dataclass(frozen=True)
class SpreadCheck:
    """One figure of ours against where ns-2's seeds lie.

    Attributes:
        metric: its name.
        theirs: runs of ns-2, one per seed.
        ours: runs of ours.
    """

    metric: str
    theirs: Sequence[Figures]
    ours: Sequence[Figures]

    @property
    def difference(self) -> float:
        """The mean of ours less that of theirs."""
        return estimate(self.ours, self.metric).mean - estimate(self.theirs, self.metric).mean

    @property
    def allowed(self) -> float:
        """Half of the range in which 95 % of ns-2's seeds lie, and a tenth more."""
        values = [run[self.metric] for run in self.theirs]
        of_mean = t_interval(values).half_width
        return WIDER * of_mean * math.sqrt(len(values))

    @property
    def agrees(self) -> bool:
        """Whether the mean of our runs lies in that range of ns-2's mean."""
        # Where ns-2's seeds do not differ at all, equal but for rounding.
        return abs(self.difference) <= self.allowed + 1e-9


@dataclass(frozen=True)
class Check:
    """One figure of ours against ns-2's."""

    metric: str
    theirs: Estimate
    ours: Estimate

    @property
    def difference(self) -> float:
        """Ours less theirs."""
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
        """Whether the difference is allowed."""
        return abs(self.difference) <= self.allowed


@dataclass(frozen=True)
class Comparison:
    """All runs of one link under one of ns-2's agents.

    Attributes:
        case: the link.
        agent: ns-2's agent.
        ns2: runs of ns-2, one per seed.
        ours: runs under the `ns2` profile.
        rfc: runs under the `rfc` profile, where they were made.
    """

    case: Case
    agent: str
    ns2: Sequence[Figures]
    ours: Sequence[Figures]
    rfc: Sequence[Figures] = ()

    def check(self, metric: str) -> Check:
        """One figure of both."""
        return Check(metric, estimate(self.ns2, metric), estimate(self.ours, metric))

    def checks(self) -> list[Check]:
        """The figures that have to agree."""
        return [self.check(metric) for metric in self.case.judged]
