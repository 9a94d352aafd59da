"""The replicates of a search, as runs.

A `Trial` says what is simulated of a link: of one that is only described (`trial.LinkTrial`), or of
one in a scenario file (`file.FileTrial`). A `Laboratory` runs it under as many seeds as are asked
for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from goodqueue.memory import check_runs, limit_of
from goodqueue.sizing.trial import EPOCHS, LinkTrial
from goodqueue.study.plan import run_of, seed_after, variant_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodqueue._core import Scenario
    from goodqueue.sizing.export import Export
    from goodqueue.sizing.link import Link
    from goodqueue.sizing.meter import Meter
    from goodqueue.sizing.smallest import Sampler
    from goodqueue.study.model import Parameter, Variant
    from goodqueue.study.runner import Runner

MOST_STRETCH = 4.0
"""A link whose losses are rarer than that holds fewer than 20 epochs, and the answer says so."""


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
        self, link: Link, packets: int, queue: str | None = None, stretch: float = 1.0
    ) -> Scenario:
        """One replicate behind so many packets; or behind another queue, with its defaults.

        An elastic one is `stretch` times as long as the link's losses are expected to ask for.
        """
        ...

    def meter(self, link: Link) -> Meter:
        """What is read of a run."""
        ...

    def too_long(self, link: Link, packets: int, stretch: float = 1.0) -> str | None:
        """Why a replicate with this buffer is not run; None if it can be."""
        ...

    def others(self, link: Link) -> Mapping[str, Link]:
        """Links that differ in one thing, by what differs, to see what the answer hangs on."""
        ...

    def exports(self, link: Link, packets: int) -> tuple[Export, ...]:
        """The buffer as lines to paste into devices."""
        ...


class Laboratory:
    """Replicates of a trial's links."""

    def __init__(
        self, runner: Runner, trial: Trial, first_seed: int = 1, memory: int | None = None
    ) -> None:
        """Takes what runs, what is run, and the seed of the first replicate of every limit.

        A replicate that takes more bytes of memory than `memory` is refused.
        """
        self._memory = limit_of(None) if memory is None else memory
        self.trial = trial
        self._runner = runner
        self._first_seed = first_seed
        self._stretches: dict[Link, float] = {}

    def too_long(self, link: Link, packets: int) -> str | None:
        """Why a replicate with this buffer is not run; None if it can be."""
        return self.trial.too_long(link, packets, self._stretch(link))

    def calibrate(self, link: Link, packets: int) -> None:
        """Counts the loss epochs of one replicate; all others are as much longer as it needed."""
        if not self.trial.elastic:
            return
        figures = self.sampler(link)({packets: range(1)})[packets][0]
        held = figures["epochs"] or 1.0
        # A tenth more, because the next replicate may hold fewer.
        self._stretches[link] = min(max(1.1 * EPOCHS / held, 1.0), MOST_STRETCH)

    def take_length_of(self, other: Laboratory) -> None:
        """Makes replicates as long as another laboratory has found that they must be."""
        self._stretches |= other._stretches

    def scenario(self, link: Link, packets: int) -> Scenario:
        """What a replicate with this buffer is."""
        return self.trial.scenario(link, packets, None, self._stretch(link))

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
            found: dict[int, list[Mapping[str, float]]] = {limit: [] for limit in wanted}
            for (limit, _), values in zip(
                places, self._runner.figures(runs, meter.metrics), strict=True
            ):
                found[limit].append(meter.figures(values))
            return found

        return sample

    def _stretch(self, link: Link) -> float:
        return self._stretches.get(link, 1.0)

    def _variant(self, link: Link, limit: int, queue: str | None) -> Variant:
        scenario = self.trial.scenario(link, limit, queue, self._stretch(link))
        check_runs([scenario], self._memory)
        parameters: dict[str, Parameter] = {f"{self.trial.name}.limit_packets": limit}
        if queue is not None:
            parameters = {f"{self.trial.name}.queue": queue}
        return variant_of(scenario, parameters, limit)


class LinkLaboratory(Laboratory):
    """Replicates of links that are only described, long enough for their losses."""

    def __init__(self, runner: Runner, first_seed: int = 1) -> None:
        """Takes what runs, and the seed of the first replicate of every limit."""
        super().__init__(runner, LinkTrial(), first_seed)
