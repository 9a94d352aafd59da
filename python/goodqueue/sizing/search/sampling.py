"""Replicates as runs: those for which a budget suffices, and what had ended when they were stopped.

Every search takes its replicates here: that of the smallest buffer (`laboratory`), and that of the
values of any parameter (`goodqueue.tuning`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from goodqueue.sizing.search.budget import BudgetSpent
from goodqueue.sizing.search.trials import Ended
from goodqueue.study.plan import run_of, seed_after

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goodqueue.sizing.search.budget import Budget
    from goodqueue.study.model import Variant
    from goodqueue.study.runner import Runner


class Figures(Protocol):
    """Reader of the figures of a run from its metrics."""

    @property
    def metrics(self) -> Sequence[str]:
        """Metrics that a run must report."""
        ...

    def figures(self, values: Sequence[float]) -> dict[str, float]:
        """Returns the figures from the values of `metrics`."""
        ...


@dataclass(frozen=True, slots=True)
class Sampling:
    """Source of replicates.

    Attributes:
        runner: runner of the runs.
        meter: reader of their figures.
        first_seed: seed of the first replicate of every point.
        budget: work of all replicates; None for no limit.
    """

    runner: Runner
    meter: Figures
    first_seed: int
    budget: Budget | None

    def sample(
        self,
        wanted: Mapping[int, range],
        variant: Callable[[int], Variant],
        work: Callable[[int], float],
    ) -> dict[int, list[Mapping[str, float]]]:
        """Returns the figures of the requested replicates, by point, in the order of seeds.

        Args:
            wanted: indices of seeds, by point. The largest points are run first.
            variant: returns the variant of a point.
            work: returns the work of a replicate of a point, in packets.

        Raises:
            Ended: if they were stopped, with those that had ended.
        """
        asked = [
            (point, index) for point in sorted(wanted, reverse=True) for index in wanted[point]
        ]
        places = self._within(asked, work)
        runs = [run_of(variant(point), seed_after(self.first_seed, at)) for point, at in places]
        values: Sequence[Sequence[float] | None]
        stopped: BaseException | None = None
        try:
            values = self.runner.figures(runs, self.meter.metrics)
        except KeyboardInterrupt as interrupt:
            values = self.runner.finished(runs, self.meter.metrics)
            stopped = self._why(interrupt)
        found: dict[int, list[Mapping[str, float]]] = {point: [] for point in wanted}
        gaps = set()
        for (point, _), one in zip(places, values, strict=True):
            if one is None:
                gaps.add(point)
            # Results of later runs are used once the missing run has ended.
            elif point not in gaps:
                found[point].append(self.meter.figures(one))
        if stopped is None and len(places) < len(asked):
            stopped = BudgetSpent()
        if stopped is not None:
            raise Ended(found, stopped)
        return found

    def _within(
        self, places: Sequence[tuple[int, int]], work: Callable[[int], float]
    ) -> Sequence[tuple[int, int]]:
        """Returns the first of the replicates for which the budget suffices, and charges it.

        A replicate that is stored counts, too, so that a question has the same answer every time.
        """
        if self.budget is None:
            return places
        for count, (point, _) in enumerate(places):
            needed = work(point)
            if self.budget.left < needed:
                return places[:count]
            self.budget.charge(needed)
        return places

    def _why(self, interrupt: KeyboardInterrupt) -> BaseException:
        """Returns the cause that stopped runs: the clock of `--time`, or Ctrl-C."""
        over = self.budget is not None and self.budget.over_time
        return BudgetSpent() if over else interrupt
