"""Replicates of a search, as runs.

A `Trial` makes the scenarios of a link, which is described by flags (`described.LinkTrial`) or is
part of a scenario file (`file.FileTrial`). A `Laboratory` runs these scenarios under as many seeds
as needed.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from goodqueue._core import GRID_STEP, grid
from goodqueue.errors import RequestError
from goodqueue.runs.engines import unable, unproved
from goodqueue.runs.memory import check_runs, limit_of
from goodqueue.sizing.search.agreement import (
    AGREED_WINDOW,
    that_decides,
    why_older,
    widened,
)
from goodqueue.sizing.search.budget import (
    PACKETS_PER_S,
    Budget,
    Plan,
    hybrid_work,
    packet_work,
)
from goodqueue.sizing.search.sampling import Sampling
from goodqueue.sizing.search.trials import Trials
from goodqueue.sizing.trials.length import WHOLE, Extent, epochs_of
from goodqueue.study.plan import variant_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from goodqueue._core import Scenario
    from goodqueue.runs.engines import Choice, Engine
    from goodqueue.sizing.export import Export
    from goodqueue.sizing.link import Link
    from goodqueue.sizing.search.agreement import Widened
    from goodqueue.sizing.search.sampling import Figures
    from goodqueue.sizing.search.smallest import Smallest
    from goodqueue.sizing.search.trials import Sampler
    from goodqueue.sizing.shared.pool import Pool
    from goodqueue.study.model import Parameter, Variant
    from goodqueue.study.runner import Runner

MAX_STRETCH = 4.0
"""Largest factor on the length of a replicate. If losses are so rare that a replicate of this
length contains fewer than 20 loss epochs, the answer reports it.
"""


FREQUENT_LOSS = 0.05
"""Loss rate from which on losses are not rare: flows then wait for timeouts, and have few separate
loss epochs, however long a replicate is."""

MIN_SHARE = 0.005
"""Smallest buffer of the hybrid engine in bandwidth-delay products. Its time steps are shorter for
smaller buffers."""


NO_PACKETS = "this engine simulates no packets"
"""Reason why an answer of the hybrid engine is an estimate, if there is no other."""


class Measured(Protocol):
    """Source of scenarios with the reader of their figures."""

    def scenario(
        self, link: Link, packets: int, queue: str | None = None, extent: Extent = WHOLE
    ) -> Scenario:
        """Returns a replicate with this limit, or with another queue with its defaults.

        A trial that is not elastic uses only the share of the extent.
        """
        ...

    def meter(self, link: Link) -> Figures:
        """Returns the meter of a run."""
        ...


class Trial(Measured, Protocol):
    """Source of the scenarios of a link."""

    @property
    def name(self) -> str:
        """Name of the link in the scenario."""
        ...

    @property
    def pool(self) -> Pool | None:
        """Shared memory that is sized in place of the link's limit; None if there is none."""
        ...

    @property
    def elastic(self) -> bool:
        """True if a replicate may be lengthened until it contains enough loss epochs.

        Larger buffers then need longer runs. A search of a trial that is not elastic may try very
        large buffers.
        """
        ...

    def others(self, link: Link) -> Mapping[str, Link]:
        """Returns links that differ in one property, by its name, for the answer's sensitivity."""
        ...

    def hosts(self, link: Link) -> Mapping[str, Link]:
        """Returns the link with other hosts than described, by the property that differs."""
        ...

    def exports(self, link: Link, packets: int) -> tuple[Export, ...]:
        """Returns the buffer as lines to paste into devices."""
        ...


class Laboratory:
    """Replicates of a trial's links.

    Attributes:
        budget: work of all replicates; None for no limit.
        plan: plan of the search; the full search until `calibrate` has made a plan.
        engine: engine of replicates. `auto` uses the hybrid engine if packets do not fit into the
            budget and the hybrid engine applies, else the packet engine.
        packets_s: usual seconds of one processor for the packet engine's search if that exceeds
            the budget; None if it fits or is not known.
        why_not_hybrid: reason why the hybrid engine was not used instead; None if it was.
        trial: source of the scenarios.
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
        """Takes the runner, the trial, and the seed of the first replicate of every limit.

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
        self._times: dict[Link, float] = {}

    def calibrate(self, link: Link, packets: int) -> None:
        """Sets the length of replicates from the losses of one replicate and from the budget.

        The loss epochs of one replicate of full length are counted, and all others are lengthened
        by the factor that is missing to the required number of epochs. If the budget does not
        suffice for full length, they are shortened instead. If it does not suffice for the packet
        engine at all, `auto` uses the other engine.

        Raises:
            RequestError: if the hybrid engine is requested and cannot run the link.
        """
        if self._choice == "hybrid":
            why = unable(self._whole(link, packets))
            if why is not None:
                raise RequestError(f"--engine hybrid: {why}\n  help: omit --engine")
        self._fit(link, packets)
        if not self.trial.elastic or self.plan.share < 1 or link in self._times:
            return
        trials = Trials(self.sampler(link))
        trials.ensure([packets], 1)
        found = trials.replicates[packets][0]
        if found["loss_rate"] > FREQUENT_LOSS:
            return
        held = found["epochs"] or 1.0
        # A tenth is added because the next replicate may contain fewer loss epochs.
        self._stretches[link] = min(max(1.1 * epochs_of(link) / held, 1.0), MAX_STRETCH)
        if self._stretches[link] > 1:
            self._fit(link, packets)

    def at_full_length(self, link: Link) -> bool:
        """Returns True if the link's replicates have their full length, and may get a longer one.

        They are lengthened once at most.
        """
        is_full = self.engine == "packets" and self.plan.share >= 1
        return is_full and self.trial.elastic and link not in self._times

    def may_search_again(self, factor: float) -> bool:
        """Returns True if the budget suffices for a search like the last one, times a factor."""
        return self.budget is None or self.budget.left >= factor * self.budget.used

    def lengthen(self, link: Link, factor: float) -> None:
        """Makes the measured part of the link's replicates longer by this factor."""
        self._times[link] = factor

    def _fit(self, link: Link, packets: int) -> None:
        """Plans by the present cost of a replicate; does nothing without a budget."""
        if self.budget is None:
            return

        def work(share: float) -> float:
            made = self._whole(link, packets, share)
            check_runs([made], self._memory, engine=self.engine)
            return self._work(link, packets, made)

        self.plan = self.budget.plan(work, packets, self.engine)
        if self._choice != "auto" or self.engine == "hybrid" or self.plan.fits:
            return
        self.packets_s = self.plan.search / PACKETS_PER_S
        self.why_not_hybrid = unproved(self._whole(link, packets))
        if self.why_not_hybrid is None:
            self.engine = "hybrid"
            self._fit(link, packets)

    def _work(self, link: Link, limit: int, scenario: Scenario) -> float:
        """Returns the work of a replicate, in packets of a run with few flows."""
        duration_s = scenario.duration_s
        if self.engine == "packets" or not link.rtts_s:
            return packet_work(link.flows, duration_s / link.packet_time_s)
        steps = duration_s / link.seconds(max(limit, 1))
        return hybrid_work(link.flows, duration_s / link.mean_rtt_s, steps)

    def _whole(self, link: Link, packets: int, share: float = 1.0) -> Scenario:
        return self.trial.scenario(link, packets, None, self._extent(link, share))

    def least(self, link: Link, most: int) -> int:
        """Returns the smallest limit of the grid for its engine, at most about `most`."""
        if self.engine == "packets":
            return 1
        scenario, points = self._whole(link, most), grid(most)

        def is_run(limit: int) -> bool:
            of_limit = scenario.with_limit(self.trial.name, limit)
            return self._too_small(link, limit) is None and self._why_not_run(of_limit) is None

        return points[min(bisect_left(points, True, key=is_run), len(points) - 1)]

    def why_not(self, link: Link, limit: int, queue: str | None = None) -> str | None:
        """Returns the reason why its engine is not run with this buffer or queue; None if it is.

        The packet engine runs everything. The hybrid engine runs links in the range in which it was
        compared with the packet engine. If it was requested, it runs all links that it can. It does
        not run buffers whose simulation would take too long.
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
        """Returns the reason why a buffer takes the hybrid engine too long; None if it does not."""
        if limit >= MIN_SHARE * link.bdp_packets:
            return None
        return (
            f"a buffer below {MIN_SHARE:.1%} of a bandwidth-delay product takes the hybrid "
            "engine too long"
        )

    def doubt(
        self, link: Link, found: Smallest, loss_rate: float
    ) -> tuple[str | None, Widened | None]:
        """Returns why the hybrid engine's answer is not proved, and the range by its error.

        `loss_rate` is the largest likely loss behind the answer's buffer.
        Both are None for an answer of the packet engine.
        The range is None if these engines were not compared on links like this.
        """
        if self.engine == "packets":
            return None, None
        limit = found.limit or found.floor or found.reached
        why = unproved(self._whole(link, limit))
        if why is not None:
            return f"it was not compared with the packet engine on such links: {why}", None
        decisive = that_decides(link, loss_rate)
        cut_off = self._cut_off(link, found)
        if found.floor is not None:  # Its means suffice, because the error of the engine is larger.
            low = 0 if cut_off else max(found.low, found.floor - 1)
            found = replace(found, low=low, high=found.floor)
        weighty = "; ".join(why for why in (cut_off, why_older()) if why)
        return weighty or self._inexact(decisive) or NO_PACKETS, widened(decisive, found)

    def _cut_off(self, link: Link, found: Smallest) -> str | None:
        """Returns the reason why no smaller buffer was tried, if a smaller one may suffice."""
        if found.floor is None or found.floor <= 1 or found.low:
            return None
        smaller = self.why_not(link, math.floor(found.floor / (1 + GRID_STEP)))
        return None if smaller is None else f"smaller buffers were not tried: {smaller}"

    @staticmethod
    def _inexact(link: Link) -> str | None:
        """Returns the reason why the engines agree too little on links like this, or None."""
        if link.max_loss_rate is not None:
            return "the hybrid engine's buffers for a bound on the loss are rough estimates"
        if link.window_packets < AGREED_WINDOW:
            return (
                f"flows have {link.window_packets:.1f} packets in flight on average; the hybrid "
                f"engine's buffers agree less often with packets below {AGREED_WINDOW}"
            )
        return None

    @property
    def workers(self) -> int:
        """Number of concurrent runs."""
        return self._runner.workers

    def scenario(self, link: Link, packets: int) -> Scenario:
        """Returns the scenario of a replicate with this buffer."""
        return self.trial.scenario(link, packets, None, self._extent(link))

    def within_budget(self) -> AbstractContextManager[None]:
        """Ends runs when the budget's time is over, and then raises `BudgetSpent`."""
        return nullcontext() if self.budget is None else self.budget.enforced(self._runner.stop)

    def hold(self, share: float) -> None:
        """Keeps a share of the budget for later, if replicates are shortened."""
        if self.budget is not None and (share == 0 or self.plan.share < 1):
            self.budget.held = share * self.budget.packets

    def as_long_as(self, other: Link, link: Link) -> None:
        """Uses the measured factor on the length of a link's replicates for another link, too."""
        for factors in (self._stretches, self._times):
            if link in factors:
                factors[other] = factors[link]

    def sampler(
        self,
        link: Link,
        queue: str | None = None,
        share: float | None = None,
        trial: Measured | None = None,
    ) -> Sampler:
        """Returns a sampler of the link behind any limit of its queue, or behind another queue.

        Replicates have another share of their full length than the plan's if it is given, and
        other scenarios and figures if another trial is given.
        """
        trial = trial or self.trial
        meter = trial.meter(link)
        variants: dict[int, Variant] = {}
        work: dict[int, float] = {}

        sampling = Sampling(self._runner, meter, self._first_seed, self.budget)

        def sample(wanted: Mapping[int, range]) -> dict[int, list[Mapping[str, float]]]:
            for limit in wanted:
                if limit not in variants:
                    variants[limit] = self._variant(trial, link, limit, queue, share)
                    waits = limit if queue is None else round(link.bdp_packets)
                    work[limit] = self._work(link, waits, variants[limit].scenario)
            # The largest buffers have the longest runs.
            return sampling.sample(wanted, variants.__getitem__, work.__getitem__)

        return sample

    def _extent(self, link: Link, share: float | None = None) -> Extent:
        share = self.plan.share if share is None else share
        return Extent(self._stretches.get(link, 1.0), share * self._times.get(link, 1.0))

    def _variant(
        self, trial: Measured, link: Link, limit: int, queue: str | None, share: float | None
    ) -> Variant:
        scenario = trial.scenario(link, limit, queue, self._extent(link, share))
        check_runs([scenario], self._memory, engine=self.engine)
        parameters: dict[str, Parameter] = {f"{self.trial.name}.limit_packets": limit}
        if queue is not None:
            parameters = {f"{self.trial.name}.queue": queue}
        return variant_of(scenario, parameters, limit, self.engine)
