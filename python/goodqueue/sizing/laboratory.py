"""The replicates of a search, as runs of links that are only described."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.sizing.trial import EPOCHS, LINK, length, scenario_toml, too_long
from goodqueue.study.model import Variant
from goodqueue.study.plan import digest, run_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goodqueue.sizing.link import Link
    from goodqueue.sizing.smallest import Sampler
    from goodqueue.study.runner import Runner

LONG = "long"
"""The group of flows whose fairness and loss epochs are reported."""

MOST_STRETCH = 4.0
"""A link whose losses are rarer than that holds fewer than 20 epochs, and the answer says so."""

METRICS = {
    "utilization": f"{LINK}.utilization",
    "loss_rate": f"{LINK}.loss_rate",
    "p99_delay_s": f"{LINK}.p99_queueing_delay_s",
    "drops": f"{LINK}.drops_overlimit",
    "jain": f"{LONG}.goodput_bps.jain",
    "bursts": f"{LINK}.loss_bursts",
    "hit": f"{LINK}.mean_flows_hit",
}
"""What a search calls a figure, and what studies call it."""


class LinkLaboratory:
    """Replicates of links that are only described, long enough for their losses."""

    def __init__(self, runner: Runner, first_seed: int = 1) -> None:
        """Takes what runs, and the seed of the first replicate of every limit."""
        self._runner = runner
        self._first_seed = first_seed
        self._stretches: dict[Link, float] = {}

    def too_long(self, link: Link, packets: int) -> str | None:
        """Why a replicate with this buffer is not run; None if it can be."""
        return too_long(link, packets, self._stretches.get(link, 1.0))

    def calibrate(self, link: Link, packets: int) -> None:
        """Counts the loss epochs of one replicate; all others are as much longer as it needed."""
        figures = self.sampler(link)({packets: range(1)})[packets][0]
        held = figures["epochs"] or 1.0
        # A tenth more, because the next replicate may hold fewer.
        self._stretches[link] = min(max(1.1 * EPOCHS / held, 1.0), MOST_STRETCH)

    def take_length_of(self, other: LinkLaboratory) -> None:
        """Makes replicates as long as another laboratory has found that they must be."""
        self._stretches |= other._stretches

    def sampler(self, link: Link, queue: str | None = None) -> Sampler:
        """Runs a link behind a FIFO of any limit; or behind a queue, whatever the limit."""

        def variant(limit: int) -> Variant:
            packets = limit if queue is None else link.bdp_packets / 2
            reach = length(link, packets, self._stretches.get(link, 1.0))
            table = f'{{ limit = "{limit}p" }}' if queue is None else f'{{ kind = "{queue}" }}'
            text = scenario_toml(link, reach, table)
            scenario = _core.Scenario.parse(text.encode(), "the link", [])
            return Variant(limit, {"limit_packets": limit}, scenario, digest(scenario))

        return _sampler(self._runner, variant, link.flows, self._first_seed, METRICS)


def _sampler(
    runner: Runner,
    variant: Callable[[int], Variant],
    flows: int,
    first_seed: int,
    metrics: Mapping[str, str],
) -> Sampler:
    variants: dict[int, Variant] = {}

    def sample(wanted: Mapping[int, range]) -> dict[int, list[Mapping[str, float]]]:
        for limit in wanted:
            if limit not in variants:
                variants[limit] = variant(limit)
        # The largest buffers have the longest runs: none of them is left for the end.
        places = [
            (limit, index) for limit in sorted(wanted, reverse=True) for index in wanted[limit]
        ]
        runs = [run_of(variants[limit], first_seed + index) for limit, index in places]
        found: dict[int, list[Mapping[str, float]]] = {limit: [] for limit in wanted}
        for (limit, _), values in zip(
            places, runner.figures(runs, list(metrics.values())), strict=True
        ):
            found[limit].append(_figures(dict(zip(metrics, values, strict=True)), flows))
        return found

    return sample


def _figures(raw: dict[str, float], flows: int) -> dict[str, float]:
    """The figures of a replicate: without a sample a delay is 0, and so are losses."""
    figures = {name: 0.0 if math.isnan(value) else value for name, value in raw.items()}
    # Every burst hits so many of the flows: the loss epochs that a flow has seen on average.
    figures["epochs"] = figures.pop("bursts") * figures.pop("hit") / flows
    return figures
