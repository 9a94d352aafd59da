"""Replicates of the values of a parameter, as runs."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Protocol

from goodqueue.runs.memory import check_runs, limit_of
from goodqueue.sizing.search.sampling import Sampling
from goodqueue.sizing.search.trials import Ended
from goodqueue.study.plan import variant_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodqueue._core import Scenario
    from goodqueue.sizing.search.budget import Budget
    from goodqueue.study.model import Variant
    from goodqueue.study.runner import Runner
    from goodqueue.tuning.figures import Figure
    from goodqueue.tuning.subject import Subject

SENT = "totals.sent"
"""Metric with the packets that all hosts send in a run, which is the work of the run."""


class Points(Protocol):
    """Values of one parameter or several, by whole numbers."""

    def settings(self, mark: int) -> Sequence[tuple[str, str]]:
        """Returns the paths and values of a mark, as `--set` takes them."""
        ...

    def numbers(self, mark: int) -> dict[str, float]:
        """Returns the numbers of a mark by their columns."""
        ...


class Meter:
    """Reader of a run's figures, and of its work."""

    def __init__(self, figures: Sequence[Figure], measured_s: float) -> None:
        """Takes the figures, and the length of the measured part of a run in seconds."""
        self._figures = {figure.key: figure for figure in figures}
        self._measured_s = measured_s
        of_figures = (metric for one in self._figures.values() for metric in one.metrics)
        self.metrics = list(dict.fromkeys([*of_figures, SENT]))
        self._sent: list[float] = []

    @property
    def work(self) -> float:
        """Mean packets of the runs so far; 0 before the first."""
        return sum(self._sent) / len(self._sent) if self._sent else 0.0

    def figures(self, values: Sequence[float]) -> dict[str, float]:
        """Returns the figures of a run by their keys."""
        known = dict(zip(self.metrics, values, strict=True))
        self._sent.append(known[SENT])
        return {
            key: figure.read([known[metric] for metric in figure.metrics], self._measured_s)
            for key, figure in self._figures.items()
            if figure.metrics
        }


class Replicates:
    """Source of the replicates of every value of an axis or a space, under common seeds.

    Attributes:
        runner: runner of the runs.
        budget: work of all replicates.
        meter: reader of the figures.
        jitter_s: largest random delay of the start of flows that do not set it: the longest base
            round-trip time of a link.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what is run, by what, and how long
        self,
        subject: Subject,
        points: Points,
        figures: Sequence[Figure],
        runner: Runner,
        budget: Budget,
        memory: int | None = None,
    ) -> None:
        """Takes the scenario, the values, the figures, and the means to run them."""
        self.runner = runner
        self.budget = budget
        own = subject.scenario()
        self.meter = Meter(figures, own.duration_s - own.warmup_s)
        self.jitter_s = max((_base_rtt_s(own, link) for link in own.links), default=0.0)
        self._subject = subject
        self._points = points
        self._memory = limit_of(None) if memory is None else memory
        self._sampling = Sampling(runner, self.meter, own.seed, budget)
        self._variant = cache(self._variant_of)

    def __call__(self, wanted: Mapping[int, range]) -> dict[int, list[Mapping[str, float]]]:
        """Returns the requested replicates, by mark; see `Sampling.sample`."""
        work = self.meter.work
        try:
            found = self._sampling.sample(wanted, self._variant, lambda _mark: work)
        except Ended as ended:
            raise Ended(self._with_values(ended.finished), ended.why) from None
        return self._with_values(found)

    def _with_values(
        self, found: Mapping[int, Sequence[Mapping[str, float]]]
    ) -> dict[int, list[Mapping[str, float]]]:
        """Returns replicates that have the values of the parameters as figures, too."""
        numbers = self._points.numbers
        return {mark: [{**one, **numbers(mark)} for one in some] for mark, some in found.items()}

    def scenario(self, mark: int) -> Scenario:
        """Returns the scenario with a value, as it is run under the first seed."""
        made = self._subject.scenario(self._points.settings(mark))
        return made.with_default_jitter(self.jitter_s)

    def _variant_of(self, mark: int) -> Variant:
        scenario = self.scenario(mark)
        check_runs([scenario], self._memory)
        return variant_of(scenario, self._points.numbers(mark), mark)


def _base_rtt_s(scenario: Scenario, link: str) -> float:
    """Returns the mean base round-trip time of the flows of a link; 0 if none crosses it."""
    return scenario.buffer(link)["base_rtt_s"] or 0.0
