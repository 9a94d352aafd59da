"""The replicates of a search, as runs.

A `Trial` says what is simulated of a link: of one that is only described (`trial.LinkTrial`), or of
one in a scenario file (`file.FileTrial`). A `Laboratory` runs it under as many seeds as are asked
for.
"""

from __future__ import annotations

from bisect import bisect_left
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from goodqueue.errors import RequestError
from goodqueue.runs.engines import unable, unproved
from goodqueue.runs.memory import check_runs, limit_of
from goodqueue.sizing.search.budget import Budget, BudgetSpent, Plan
from goodqueue.sizing.search.smallest import Ended, Trials, grid
from goodqueue.sizing.trials.described import EPOCHS, WHOLE, Extent, LinkTrial
from goodqueue.study.plan import run_of, seed_after, variant_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from goodqueue._core import Scenario
    from goodqueue.runs.engines import Choice, Engine
    from goodqueue.sizing.export import Export
    from goodqueue.sizing.link import Link
    from goodqueue.sizing.search.smallest import Sampler, Smallest
    from goodqueue.sizing.trials.meter import Meter
    from goodqueue.study.model import Parameter, Variant
    from goodqueue.study.runner import Runner

MOST_STRETCH = 4.0
"""A link whose losses are rarer than that holds fewer than 20 epochs, and the answer says so."""


LEAST_SHARE = 0.005
"""Of a bandwidth-delay product: the hybrid engine, whose steps of time are shorter the smaller the
buffer is, is run behind no smaller one."""


class Trial(Protocol):
    """What is simulated of a link."""

    @property
    def name(self) -> str:
        """What the scenario calls the link."""
        ...

    @property
    def elastic(self) -> bool:
        """Whether a replicate may be made longer until it holds enough loss epochs.

        Larger buffers then cost longer runs; a search of a trial that is not elastic may go far.
        """
        ...

    def scenario(
        self, link: Link, packets: int, queue: str | None = None, extent: Extent = WHOLE
    ) -> Scenario:
        """One replicate behind so many packets; or behind another queue, with its defaults.

        What is not elastic heeds the share of the extent alone.
        """
        ...

    def meter(self, link: Link) -> Meter:
        """What is read of a run."""
        ...

    def others(self, link: Link) -> Mapping[str, Link]:
        """Links that differ in one thing, by what differs, to see what the answer hangs on."""
        ...

    def exports(self, link: Link, packets: int) -> tuple[Export, ...]:
        """The buffer as lines to paste into devices."""
        ...


class Laboratory:
    """Replicates of a trial's links.

    Attributes:
        budget: the time that all of them may take; None for as long as they do.
        plan: how the link is searched; that of a search in full until `calibrate` has made one.
        engine: what runs replicates. By `auto` that is the packet engine unless it does not fit
            into the budget and the hybrid engine answers.
        packets_s: seconds of wall-clock time that the packet engine's search was expected to take
            where that is more than the budget; None where it fits or was not looked at.
        why_not_hybrid: why the hybrid engine was not taken in its place; None if it was.
        trial: what is run.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what is run, by what, and how long
        self,
        runner: Runner,
        trial: Trial,
        first_seed: int = 1,
        memory: int | None = None,
        budget: Budget | None = None,
        choice: Choice = "packets",
    ) -> None:
        """Takes what runs, what is run, and the seed of the first replicate of every limit.

        A replicate that takes more bytes of memory than `memory` is refused. Without a budget every
        replicate has its full length, however long it takes, and `auto` means packets.
        """
        self.budget = budget
        self.plan = Plan()
        self.engine: Engine = "hybrid" if choice == "hybrid" else "packets"
        self.packets_s: float | None = None
        self.why_not_hybrid: str | None = None
        self._choice = choice
        self._why_not: dict[tuple[Link, int, str | None], str | None] = {}
        self._memory = limit_of(None) if memory is None else memory
        self.trial = trial
        self._runner = runner
        self._first_seed = first_seed
        self._stretches: dict[Link, float] = {}

    def calibrate(self, link: Link, packets: int) -> None:
        """Sets the length of replicates: by the losses of one, and by what the budget allows.

        The loss epochs of one replicate of full length are counted, and all others are as much
        longer as it needed. Where the budget does not last for replicates of full length they are
        cut instead. Where it does not last for the packet engine at all, `auto` takes the other.

        Raises:
            RequestError: if the hybrid engine is asked for and cannot run the link.
        """
        if self._choice == "hybrid":
            why = unable(self._whole(link, packets))
            if why is not None:
                raise RequestError(f"--engine hybrid: {why}\n  help: leave --engine out")
        self._fit(link, packets)
        if not self.trial.elastic or self.plan.share < 1:
            return
        trials = Trials(self.sampler(link))
        trials.ensure([packets], 1)
        held = trials.replicates[packets][0]["epochs"] or 1.0
        # A tenth more, because the next replicate may hold fewer.
        self._stretches[link] = min(max(1.1 * EPOCHS / held, 1.0), MOST_STRETCH)
        if self._stretches[link] > 1:
            self._fit(link, packets)

    def _fit(self, link: Link, packets: int) -> None:
        """Plans by the cost of a replicate as it would be now; nothing without a budget."""
        if self.budget is None:
            return

        def scenario(share: float) -> Scenario:
            made = self._whole(link, packets, share)
            check_runs([made], self._memory, engine=self.engine)
            return made

        self.plan = self.budget.plan(scenario, packets, self._runner.workers, self.engine)
        if self._choice != "auto" or self.engine == "hybrid" or self.plan.fits:
            return
        self.packets_s = self.plan.search_s
        self.why_not_hybrid = unproved(self._whole(link, packets))
        if self.why_not_hybrid is None:
            self.engine = "hybrid"
            self._fit(link, packets)

    def _whole(self, link: Link, packets: int, share: float = 1.0) -> Scenario:
        extent = Extent(self._stretches.get(link, 1.0), share)
        return self.trial.scenario(link, packets, None, extent)

    def least(self, link: Link, most: int) -> int:
        """The least limit of the grid that its engine is run behind, at most about `most`."""
        if self.engine == "packets":
            return 1
        scenario, points = self._whole(link, most), grid(most)

        def is_run(limit: int) -> bool:
            of_limit = scenario.with_limit(self.trial.name, limit)
            return self._too_small(link, limit) is None and self._why_not_run(of_limit) is None

        return points[min(bisect_left(points, True, key=is_run), len(points) - 1)]

    def why_not(self, link: Link, limit: int, queue: str | None = None) -> str | None:
        """Why its engine is not run with this buffer or queue; None if it is.

        The packet engine runs everything. The hybrid engine runs what it was compared on, or what
        it can if it was asked for, but not behind buffers that would take it too long.
        """
        if self.engine == "packets":
            return None
        case = (link, limit, queue)
        if case not in self._why_not:
            why = None if queue else self._too_small(link, limit)
            if why is None:
                why = self._why_not_run(self.trial.scenario(*case, self._extent(link)))
            self._why_not[case] = why
        return self._why_not[case]

    def _why_not_run(self, scenario: Scenario) -> str | None:
        return unable(scenario) if self._choice == "hybrid" else unproved(scenario)

    def _too_small(self, link: Link, limit: int) -> str | None:
        """Why a buffer takes the hybrid engine too long, if it does."""
        if limit >= LEAST_SHARE * link.bdp_packets:
            return None
        return (
            f"a buffer below {LEAST_SHARE:.1%} of a bandwidth-delay product takes the hybrid "
            "engine too long"
        )

    def doubt(self, link: Link, found: Smallest) -> str | None:
        """Why the hybrid engine's answer is not to be relied on; None if it is."""
        if self.engine == "packets":
            return None
        limit = found.limit or found.floor or found.reached
        why = unproved(self._whole(link, limit))
        if why is not None:
            return f"not compared with packets on such links: {why}"
        smaller = None
        if found.floor is not None and found.floor > 1 and not found.low:
            smaller = self.why_not(link, found.floor - 1)
        return smaller and f"smaller buffers were not tried: {smaller}"

    @property
    def workers(self) -> int:
        """How many runs run side by side."""
        return self._runner.workers

    def take_length_of(self, other: Laboratory) -> None:
        """Makes replicates as long as another laboratory has found that they must be."""
        self._stretches |= other._stretches

    def scenario(self, link: Link, packets: int) -> Scenario:
        """What a replicate with this buffer is."""
        return self.trial.scenario(link, packets, None, self._extent(link))

    @contextmanager
    def within_budget(self) -> Iterator[None]:
        """Ends runs when the budget is over: then `BudgetSpent` is raised."""
        if self.budget is None:
            yield
            return
        with self.budget.enforced(self._runner.stop):
            yield

    def sampler(self, link: Link, queue: str | None = None) -> Sampler:
        """Runs a link behind any limit of its queue, or behind another queue as it is."""
        meter = self.trial.meter(link)
        variants: dict[int, Variant] = {}

        def sample(wanted: Mapping[int, range]) -> dict[int, list[Mapping[str, float]]]:
            for limit in wanted:
                if limit not in variants:
                    variants[limit] = self._variant(link, limit, queue)
            # The largest buffers have the longest runs: none of them is left for the end.
            places = [
                (limit, index) for limit in sorted(wanted, reverse=True) for index in wanted[limit]
            ]
            runs = [
                run_of(variants[limit], seed_after(self._first_seed, index))
                for limit, index in places
            ]
            values: Sequence[Sequence[float] | None]
            stopped: BaseException | None = None
            try:
                values = self._runner.figures(runs, meter.metrics)
            except KeyboardInterrupt as interrupt:
                values = self._runner.finished(runs, meter.metrics)
                stopped = self._why(interrupt)
            found: dict[int, list[Mapping[str, float]]] = {limit: [] for limit in wanted}
            gaps = set()
            for (limit, _), one in zip(places, values, strict=True):
                if one is None:
                    gaps.add(limit)
                elif limit not in gaps:  # what comes after a gap is in the store, and waits
                    found[limit].append(meter.figures(one))
            if stopped is not None:
                raise Ended(found, stopped)
            return found

        return sample

    def _why(self, interrupt: KeyboardInterrupt) -> BaseException:
        """What stopped runs: the clock of the budget, or Ctrl-C."""
        spent = self.budget is not None and self.budget.spent
        return BudgetSpent() if spent else interrupt

    def _extent(self, link: Link) -> Extent:
        return Extent(self._stretches.get(link, 1.0), self.plan.share)

    def _variant(self, link: Link, limit: int, queue: str | None) -> Variant:
        scenario = self.trial.scenario(link, limit, queue, self._extent(link))
        check_runs([scenario], self._memory, engine=self.engine)
        parameters: dict[str, Parameter] = {f"{self.trial.name}.limit_packets": limit}
        if queue is not None:
            parameters = {f"{self.trial.name}.queue": queue}
        return variant_of(scenario, parameters, limit, self.engine)


class LinkLaboratory(Laboratory):
    """Replicates of links that are only described, long enough for their losses."""

    def __init__(self, runner: Runner, first_seed: int = 1) -> None:
        """Takes what runs, and the seed of the first replicate of every limit."""
        super().__init__(runner, LinkTrial(), first_seed)
