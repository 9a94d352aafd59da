"""Links that no buffer fills: their traffic offers too little, so their buffer serves bursts.

Short flows, small windows, loss elsewhere, slower links or early drops may limit the traffic of a
scenario file, and small windows or slow hosts that of a described link. A larger buffer then cannot
raise the utilisation, and a bound on it says nothing about the buffer. Such a link is sized by the
packets that its full queue loses.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from goodqueue.sizing.link import USUAL_UTILIZATION
from goodqueue.sizing.search.reach import FARTHEST, first_reach
from goodqueue.sizing.search.trials import (
    COARSE_REPLICATES,
    DROPS,
    FIRST_REPLICATES,
    Answered,
    Target,
    Trials,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.sizing.link import Link
    from goodqueue.sizing.search.laboratory import Laboratory

BURST_LOSS = 0.001
"""Bound on the share of packets that the full queue drops, if none was asked."""

NEVER_FULL = 4
"""Buffer of a described link that cannot be filled, in units of the first reach of its search."""

MAX_REPLICATES = 32
"""Replicates of either buffer after which an undecided utilisation counts as kept."""


def for_bursts(link: Link, laboratory: Laboratory) -> tuple[Link, str] | None:
    """Returns the link with bounds for bursts and the reason, if no buffer fills it; or None.

    Two buffers are run, one near the usual answer and one that never overflows. The link counts as
    not filled if both are shown to miss the bound on the utilisation, and the larger one was never
    full. Long flows must then have 98 % of the utilisation behind the larger one. A bound that the
    user chose is kept, and so is that of a described link, unless the rates of its hosts or the
    windows of its flows do not suffice for the bound.
    """
    is_asked = link.min_utilization != USUAL_UTILIZATION
    may_fill = laboratory.trial.elastic and offered_share(link) >= link.min_utilization
    if link.for_bursts or is_asked or may_fill or laboratory.engine != "packets":
        return None
    trials = Trials(laboratory.sampler(link))
    limits = [min(first_reach(link), FARTHEST), FARTHEST]
    if laboratory.trial.elastic:  # Its runs are as long as the epochs behind such a buffer.
        limits[1] = NEVER_FULL * limits[0]
    busy = [Target("utilization", link.min_utilization, at_least=True)]
    for count in (COARSE_REPLICATES, FIRST_REPLICATES, MAX_REPLICATES):
        if len(trials.limits) == len(limits) and _fails(trials, limits, busy):
            break
        for limit in limits:
            trials.ensure([limit], count)
            if trials.passes(limit, busy):
                return None
        if any(one[DROPS] for one in trials.replicates[limits[1]]):
            return None
    if not _fails(trials, limits, busy):
        return None
    mean = trials.interval(limits[1], "utilization").mean
    why = (
        f"no buffer fills this link: it is busy for {100 * mean:.3g} % of the time behind a queue "
        f"that is never full, because {_limited_by(link)}; so its buffer serves bursts, and is "
        "sized by the share of packets that a full queue drops (--max-loss)"
    )
    bound = BURST_LOSS if link.max_loss_rate is None else link.max_loss_rate
    least = USUAL_UTILIZATION * mean
    return replace(link, for_bursts=True, min_utilization=least, max_loss_rate=bound), why


def _fails(trials: Trials, limits: Sequence[int], targets: Sequence[Target]) -> bool:
    return all(trials.answer(limit, targets) is Answered.FAILS for limit in limits)


def offered_share(link: Link) -> float:
    """Returns the largest rate of all long flows as a share of the link's, by hosts and windows."""
    by_hosts = link.flows * (link.access_rate_bps or math.inf) / link.rate_bps
    if link.max_window_packets is None or not link.bdp_packets:
        return by_hosts
    return min(by_hosts, link.flows * link.max_window_packets / link.bdp_packets)


def _limited_by(link: Link) -> str:
    """Returns what limits the traffic, as far as the link's description says it."""
    if not link.flows:
        return "its flows end, wait or have their own rates"
    if link.access_rate_bps and link.flows * link.access_rate_bps < link.rate_bps:
        return "its hosts have slower links"
    if link.max_window_packets is not None:
        return f"windows of at most {link.max_window_packets:.4g} packets limit its flows"
    return "loss or slower links elsewhere, or early drops of its own queue, limit its flows"
