"""The time of a small page that is fetched beside the long flows, behind the answer's buffer."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from goodqueue.errors import ScenarioError
from goodqueue.sizing.search.trials import COARSE_REPLICATES, Trials
from goodqueue.sizing.trials.pages import PAGE_BYTES, PageTrial

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodqueue.sizing.link import Link
    from goodqueue.sizing.search.laboratory import Laboratory

SLOW = 3.0
"""Ratio to the time on the idle link from which on an answer warns. A full queue of one
bandwidth-delay product doubles the round trip, and so the time."""

MUCH_LOSS = 0.05
"""Loss of the pages' packets from which on an answer warns: most pages of 70 packets then wait for
several losses."""


@dataclass(frozen=True, slots=True)
class Page:
    """Times of a small page behind the answer's buffer, means over a few runs.

    Attributes:
        bytes: size of the page.
        idle_s: median time in seconds while the long flows are silent.
        median_s: median time in seconds beside them.
        p99_s: 99th percentile of this time.
        loss_rate: share of the pages' packets that were lost.
        twice_median_s: median time in seconds beside them behind twice the buffer.
    """

    bytes: int
    idle_s: float
    median_s: float
    p99_s: float
    loss_rate: float
    twice_median_s: float

    @property
    def slowdown(self) -> float:
        """Median time over that on the idle link."""
        return self.median_s / self.idle_s

    @property
    def is_bad(self) -> bool:
        """True if the answer must not hide what it does to a page."""
        return self.slowdown >= SLOW or self.loss_rate >= MUCH_LOSS

    def as_dict(self) -> dict[str, Any]:
        """Returns plain values."""
        return asdict(self) | {"slowdown": self.slowdown}


def page_of(link: Link, laboratory: Laboratory, packets: int) -> Page | None:
    """Returns the times of a page behind a buffer; None if no long flow fills the link.

    The hybrid engine has no short flows, so its answers have none.
    """
    if laboratory.engine != "packets" or not link.flows:
        return None
    try:
        beside = _replicates(link, laboratory, packets, alone=False)
        twice = _replicates(link, laboratory, 2 * packets, alone=False)
        never_full = max(packets, math.ceil(link.bdp_packets) + 2 * PAGE_BYTES // link.packet_bytes)
        idle = _replicates(link, laboratory, never_full, alone=True)
    except ScenarioError:  # The file's topology has no place for another flow.
        return None
    sent = math.fsum(one["sent"] for one in beside)
    idle_s, median_s, twice_s = (
        _mean([one["median_s"] for one in of]) for of in (idle, beside, twice)
    )
    p99_s = _mean([one["p99_s"] for one in beside])
    if math.isnan(idle_s + median_s + twice_s + p99_s):
        return None
    lost = math.fsum(one["lost"] for one in beside) / max(sent, 1.0)
    return Page(PAGE_BYTES, idle_s, median_s, p99_s, lost, twice_s)


def _replicates(
    link: Link, laboratory: Laboratory, packets: int, *, alone: bool
) -> Sequence[Mapping[str, float]]:
    trials = Trials(laboratory.sampler(link, trial=PageTrial(laboratory.trial, alone)))
    trials.ensure([packets], COARSE_REPLICATES)
    return trials.replicates[packets]


def _mean(values: Sequence[float]) -> float:
    """Returns the mean of the values of runs with pages; NaN without any."""
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan
