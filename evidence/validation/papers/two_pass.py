"""BSCL sized from packet captures: run, estimate, size, run again.

Dhamdhere, Jiang and Dovrolis (INFOCOM 2005) run their mix behind a buffer of C T, measure it, and
run it again behind the buffer that follows. `goodqueue reproduce dhamdhere2005` does the same for
figures 5 to 7 (`papers/dhamdhere2005/captures.py`) and stores the estimates. This program adds
figures 8 and 9, the mean burst, and a comparison of the estimates with the true values for each
seed. It prints tables for docs/dhamdhere2005.md and draws the pictures of that page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.papers.dhamdhere2005 import captures
from goodqueue.papers.dhamdhere2005.captures import estimates, known_burst, second_runs
from goodqueue.papers.dhamdhere2005.figures import ERRORS, FEW_FLOWS, MANY_FLOWS, sized
from goodqueue.papers.dhamdhere2005.mix import ESTIMATES, TRUTH, Case, Mix, Traffic
from goodqueue.papers.dhamdhere2005.second_pass import SHARES as SHARES_BY_FIGURE
from goodqueue.study.runner import Runner, user_store
from goodqueue.study.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.papers.dhamdhere2005.captures import Estimate, Seconds

SHARES = tuple(SHARES_BY_FIGURE.values())
"""Local shares of the capacity in figures 5, 6 and 7."""

ERROR_FLOWS = (10, 100, 200, 300)
"""Numbers of flows for figure 9; fewer than in the paper's, because each needs captures."""

SHARE = 0.9
"""Local share of the capacity in figures 8 and 9."""

SEEDS = 3

MEAN = f"{ESTIMATES}, mean burst"


def sizes(traffic: Traffic, found: Sequence[Estimate]) -> dict[str, list[Case]]:
    """Returns the cases of the second runs, by the source of their BSCL buffer."""
    burst = known_burst(found)
    made = captures.sizes(traffic, found)
    if traffic.flows in FEW_FLOWS and traffic.local_share == SHARE:
        made[MEAN] = [
            sized(traffic, one.link.synchronization * one.link.flows, link=one.link)
            for one in found
        ]
    if traffic.flows in ERROR_FLOWS and traffic.local_share == SHARE:
        for label, error in ERRORS.items():
            made[f"{TRUTH}, {label}"] = [sized(traffic, burst, error) for _ in found]
            made[f"{ESTIMATES}, {label}"] = [
                sized(traffic, one.burst, error, one.link) for one in found
            ]
    return made


def all_traffic() -> list[Traffic]:
    """Returns the traffic of figures 5 to 9, without repetitions."""
    many = [Traffic(flows, share) for share in SHARES for flows in MANY_FLOWS]
    return list(dict.fromkeys([*many, *(Traffic(flows, SHARE) for flows in FEW_FLOWS)]))


def passes(seeds: int = SEEDS) -> tuple[dict[Traffic, list[Estimate]], Seconds]:
    """Returns the estimates of all captures, and the second runs behind the buffers that follow.

    Args:
        seeds: runs of each case, two at the least: a second run has another seed than its captures.
    """
    with user_store("papers") as store:
        mix = Mix(Runner(store, Threads()))
        found = estimates(mix, all_traffic(), seeds)
        return found, second_runs(mix, found, sizes)
