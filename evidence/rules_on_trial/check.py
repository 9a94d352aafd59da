"""Searches by simulation on separate links, for comparison with calibrated theory."""

from __future__ import annotations

import json
import math
import time
from typing import TYPE_CHECKING, Any

from evidence.rules_on_trial import draw, plan
from evidence.rules_on_trial.run import finished, metrics_of
from goodqueue.errors import ScenarioError
from goodqueue.sizing.search.bounds import targets
from goodqueue.sizing.search.budget import BudgetSpent
from goodqueue.sizing.search.reach import first_reach, last_reach
from goodqueue.sizing.search.smallest import smallest
from goodqueue.sizing.search.trials import Ended, Trials
from goodqueue.sizing.trials.described import LinkTrial
from goodqueue.sizing.trials.length import Extent, length

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from goodqueue.sizing.link import Link

EXTENT = Extent(share=0.5)
"""Replicates measure ten loss epochs, as those of `goodqueue size` do with a short budget."""

MOST_RUN_S, MOST_RUN_OF_OPERATORS_S = 0.04, 0.5
"""Largest costs of a replicate at the beginning of a search, in seconds of one core."""

MOST_REPLICATES = 24
MOST_SEARCH_S = 40.0
"""Longest duration of a search in seconds; longer searches are stopped and counted."""


def affordable(link: Link, index: int) -> bool:
    """Returns True if a search of the link of that number costs little enough."""
    operators = draw.population(index) is draw.OPERATORS
    most_s = MOST_RUN_OF_OPERATORS_S if operators else MOST_RUN_S
    return plan.cost_s(link, length(link, first_reach(link), EXTENT)) <= most_s


class _Laboratory:
    """The part of a laboratory that `last_reach` uses."""

    trial = LinkTrial()


def search(link: Link, seed: int) -> dict[str, Any]:
    """Returns the smallest buffer by simulation, as plain values."""
    trial, meter = LinkTrial(), LinkTrial().meter(link)
    begun = time.process_time()

    def sample(wanted: Mapping[int, range]) -> dict[int, list[Mapping[str, float]]]:
        found: dict[int, list[Mapping[str, float]]] = {limit: [] for limit in wanted}
        for limit, replicates in wanted.items():
            scenario = trial.scenario(link, limit, None, EXTENT)
            for replicate in replicates:
                if time.process_time() - begun > MOST_SEARCH_S:
                    raise Ended(found, BudgetSpent())
                outcome = scenario.with_seed(seed + replicate).run(series=False, packets=False)
                values = metrics_of(outcome)
                figures = meter.figures([values.get(name, math.nan) for name in meter.metrics])
                found[limit].append(figures)
        return found

    helped, hurt = targets(link)
    trials = Trials(sample)
    try:
        found = smallest(
            trials,
            helped,
            hurt,
            reach=(first_reach(link), last_reach(link, _Laboratory())),  # type: ignore[arg-type]
            most_replicates=MOST_REPLICATES,
            lean=True,
        )
    except (BudgetSpent, ScenarioError):  # The run is too long, or no scenario can have this limit.
        return {"finished": False, "cpu_s": round(time.process_time() - begun, 2)}
    return {
        "finished": True,
        "packets": found.limit,
        "least": found.floor,
        "low": found.low,
        "high": found.high,
        "reached": found.reached,
        "runs": trials.spent,
        "cpu_s": round(time.process_time() - begun, 2),
        "seen": {
            str(limit): [
                len(trials.replicates[limit]),
                *(
                    float(f"{trials.interval(limit, name).mean:.5g}")
                    for name in ("utilization", "loss_rate", "p99_delay_s")
                ),
            ]
            for limit in trials.limits
        },
    }


def searches(seed: int, indices: Iterable[int], out: Path, until: float = math.inf) -> None:
    """Appends the search of each affordable link to a file, one per line."""
    done = finished(out)
    with out.open("a", encoding="utf-8") as file:
        for index in indices:
            if index in done:
                continue
            if time.time() > until:
                return
            link = draw.link(seed, index)
            if not affordable(link, index):
                continue
            file.write(json.dumps({"index": index, **search(link, 1)}) + "\n")
            file.flush()
