"""Scenarios in which small pages are fetched beside the long flows of a trial, or alone.

A page is one short TCP flow with the initial window of its profile, ten segments in Linux. Its
hosts are as fast as those of the trial: ten times the link's rate unless the rate is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue.runs.settings import scenario_of, settings_of
from goodqueue.sizing.trials.length import WHOLE, Extent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue._core import Scenario
    from goodqueue.runs.settings import Settings
    from goodqueue.sizing.link import Link
    from goodqueue.sizing.search.laboratory import Trial

PAGE = "page-of-size"
"""Name of the group of pages, which no other group of a trial has."""

PAGE_BYTES = 100_000
"""Bytes of a small page: 70 segments, four round trips on an idle path."""

MIN_LOAD, MAX_LOAD = 0.02, 0.1
"""Load of the pages as a share of the link's rate."""

PAGES = 30
"""Pages of a run for which the load is raised."""

OF_PAGE = ("p50_transfer_time_s", "p99_transfer_time_s", "packets_lost", "packets_sent")
"""Metrics of the group of pages."""

PLACES = ("from", "to", "route", "reverse_route")
"""Keys of a flow that say where it is."""


@dataclass(frozen=True, slots=True)
class PageMeter:
    """Reader of the pages' figures: median and 99th percentile of their times, and their loss."""

    metrics: tuple[str, ...] = tuple(f"{PAGE}.{metric}" for metric in OF_PAGE)

    def figures(self, values: Sequence[float]) -> dict[str, float]:
        """Returns the figures from the values of `metrics`; a time without pages is NaN."""
        median_s, p99_s, lost, sent = values
        return {"median_s": median_s, "p99_s": p99_s, "lost": lost, "sent": sent}


@dataclass(frozen=True, slots=True)
class PageTrial:
    """A trial with pages.

    Attributes:
        trial: source of the scenarios.
        alone: True if the pages are the only traffic.
    """

    trial: Trial
    alone: bool = False

    def scenario(
        self, link: Link, packets: int, queue: str | None = None, extent: Extent = WHOLE
    ) -> Scenario:
        """Returns a replicate of the trial with pages beside its flows, or in place of them.

        Raises:
            ScenarioError: if the trial's scenario cannot have such a flow.
        """
        made = self.trial.scenario(link, packets, queue, extent)
        settings = settings_of(made)
        long_flow = made.long_flows(self.trial.name)[0]
        page = _page(link, settings["flow"][long_flow["group"]], made.duration_s - made.warmup_s)
        settings["flow"] = [page] if self.alone else [*settings["flow"], page]
        return scenario_of(settings, "the link with pages").with_seed(made.seed)

    def meter(self, _link: Link) -> PageMeter:
        """Returns the meter of a run."""
        return PageMeter()


def _page(link: Link, beside: Settings, measured_s: float) -> Settings:
    """Returns a group of pages that crosses the link where a long flow does."""
    wanted_bps = PAGES * 8 * PAGE_BYTES / measured_s
    load_bps = min(max(wanted_bps, MIN_LOAD * link.rate_bps), MAX_LOAD * link.rate_bps)
    place = {key: _first(beside[key]) for key in PLACES[:2] if key in beside}
    place |= {key: beside[key] for key in PLACES[2:] if key in beside}
    if "rtt" in beside:
        place["rtt"] = f"{round(link.mean_rtt_s * 1e6)}us"
    load = f"{max(round(load_bps), 1)}bps"
    workload = {"kind": "transfers", "size": f"{PAGE_BYTES}B", "load": load}
    return {"name": PAGE, **place, "workload": workload}


def _first(value: object) -> object:
    return value[0] if isinstance(value, list) else value
