"""Coverage of intervals if replicates stop at the first interval that is narrow enough.

    python -m evidence.studies.coverage [repeats]

prints the table of docs/studies.md: 1,000 repeats of each case, each of at most 50 replicates.
"""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goodqueue.core.intervals import Interval, t_interval
from goodqueue.core.parallel import workers
from goodqueue.study.stopping import MIN_UNCHANGED, anytime_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from goodqueue._core import Cancel

LEAST, BUDGET = 5, 50
"""Smallest and largest number of replicates."""

REPEATS = 1000
HALF_WIDTHS = (1.0, 0.6, 0.4)
"""Bounds in standard deviations: Student's t meets them after about 7, 13 and 26 values."""

SCENARIO = """\
schema_version = 1
title = "Five flows in a short buffer"
duration = "20s"
warmup = "5s"
[topology]
shape = "dumbbell"
access = { rate = "100Mbps", delay = "5ms" }
bottleneck = { rate = "2Mbps", delay = "20ms", queue = { kind = "drop_tail", limit = "10p" } }
[[flow]]
name = "upload"
count = 5
start_jitter = "1s"
workload = { kind = "bulk" }
tcp = { profile = "linux", congestion_control = "reno" }
"""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Result of stopping at a bound, over many repeats.

    Attributes:
        share: share of the repeats whose last interval contained the mean.
        replicates: mean number of replicates at the stop.
        half_width: mean half width of the last interval.
    """

    share: float
    replicates: float
    half_width: float


def coverage(
    interval: Callable[[Sequence[float]], Interval],
    samples: Sequence[Sequence[float]],
    mean: float,
    half_width: float,
) -> Coverage:
    """Stops in each sample at the first interval that is narrow enough, or at its end.

    The interval is evaluated after every value, which is harder than the rounds of the stopping
    rule. As in the rule, the interval is evaluated from 5 values on, or from 30 values on if all
    are equal.
    """
    held, counts, widths = [], [], []
    for sample in samples:
        seen = interval(sample)
        for count in range(LEAST, len(sample) + 1):
            seen = interval(sample[:count])
            unchanged = seen.half_width == 0 and count < MIN_UNCHANGED
            if seen.half_width <= half_width and not unchanged:
                break
        held.append(seen.low <= mean <= seen.high)
        counts.append(count)
        widths.append(seen.half_width)
    total = len(samples)
    return Coverage(sum(held) / total, sum(counts) / total, math.fsum(widths) / total)


def textbook(name: str, repeats: int, seed: int = 1) -> tuple[list[list[float]], float, float]:
    """Returns samples of a distribution, its mean and its standard deviation."""
    random = np.random.default_rng(seed)
    shape = (repeats, BUDGET)
    match name:
        case "normal":
            drawn, mean, deviation = random.normal(10, 1, shape), 10.0, 1.0
        case "uniform":
            drawn, mean, deviation = random.uniform(0, 1, shape), 0.5, math.sqrt(1 / 12)
        case _:
            drawn, mean, deviation = random.exponential(1, shape), 1.0, 1.0
    return drawn.tolist(), mean, deviation


def simulated(repeats: int) -> dict[str, list[float]]:
    """Returns a metric of the scenario above, one value per seed: 50 runs for each repeat."""
    from goodqueue import load

    scenario = load(SCENARIO)

    def run(seeds: range) -> Callable[[Cancel], list[tuple[float, float, float]]]:
        def call(cancel: Cancel) -> list[tuple[float, float, float]]:
            rows = []
            for seed in seeds:
                outcome = scenario.with_seed(seed).run(cancel=cancel)
                summary = json.loads(outcome.summary_json())
                link = summary["links"]["bottleneck"]
                timeouts = sum(flow["timeouts"] for flow in summary["flows"].values())
                rows.append((link["utilization"], link["loss_rate"], float(timeouts)))
            return rows

        return call

    names = ("utilisation", "loss rate", "timeouts")
    with workers() as threads:
        blocks = [range(start, start + BUDGET) for start in range(0, repeats * BUDGET, BUDGET)]
        futures = [threads.submit(run(block)) for block in blocks]
        rows = [row for future in futures for row in future.result()]
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def main(repeats: int = REPEATS) -> None:
    """Prints the table."""
    print(f"{repeats} repeats of at most {BUDGET} replicates; widths in standard deviations")
    print("| values | stop at | Student's t | replicates | half width |", end="")
    print(" anytime | replicates | half width |")
    print("| --- |" + " ---: |" * 7)
    cases = {name: textbook(name, repeats) for name in ("normal", "uniform", "exponential")}
    for name, values in simulated(repeats).items():
        blocks = [values[start : start + BUDGET] for start in range(0, len(values), BUDGET)]
        cases[f"{name}, simulated"] = blocks, math.fsum(values) / len(values), float(np.std(values))
    for name, (samples, mean, deviation) in cases.items():
        for bound in HALF_WIDTHS:
            line = f"| {name} | ±{bound} |"
            for interval in (t_interval, anytime_interval):
                seen = coverage(interval, samples, mean, bound * deviation)
                line += f" {seen.share:.1%} | {seen.replicates:.1f} |"
                line += f" ±{seen.half_width / deviation:.2f} |"
            print(line)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
