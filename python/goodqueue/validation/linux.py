"""Recordings of Linux 6.18 beside the `linux` profile: runs, criteria, part of the report."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from goodqueue.api import load
from goodqueue.validation.compare import estimate
from goodqueue.validation.linux_reading import (
    LINUX_DEEP,
    LINUX_DEEP_READING,
    LINUX_READING,
    LINUX_RIG,
    LINUX_TRIED,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from goodqueue._core import Cancel
    from goodqueue.parallel import Workers
    from goodqueue.validation.simulators import Figures

RECORDINGS = Path(__file__).with_name("linux-6.18.csv")
SCENARIO = "scenarios/linux-bottleneck.toml"
JUDGED = ("utilization", "mean_queue_packets", "drops")
KNOWN_MISSES = frozenset({("bbr, 1 x 8", "mean_queue_packets")})
"""What is known not to agree: reported, explained in the report, and no reason to fail."""
BDP_PACKETS = 33.3
"""10 Mbit/s times 40 ms, in packets of 1500 bytes."""


@dataclass(frozen=True)
class Recording:
    """What Linux did with one congestion control, number of flows and buffer; once or often."""

    control: str
    flows: int
    limit: int
    repeats: Sequence[Figures]

    @property
    def name(self) -> str:
        """In the table."""
        return f"{self.control}, {self.flows} x {self.limit}"

    @property
    def overrides(self) -> dict[str, object]:
        """What this changes in the scenario file."""
        return {
            "tcp.congestion_control": self.control,
            "flow.bulk.count": self.flows,
            "topology.bottleneck.queue.limit": f"{self.limit}p",
        }

    def allowed(self, metric: str) -> float:
        """The largest difference that counts as agreement, in the unit of the figure."""
        values = [repeat[metric] for repeat in self.repeats]
        mean = fmean(values)
        small = self.limit < 0.5 * BDP_PACKETS
        tolerance = {
            "utilization": 0.02 if small else 0.01,
            "mean_queue_packets": max(0.10 * mean, 0.5),
            "drops": max(0.25 * mean, 2.0),
        }[metric]
        # BBR's gain cycle begins at random.
        share = 2.0 if self.control == "bbr" else 1.0
        spread = stdev(values) if len(values) > 1 else 0.0
        return share * tolerance + 2 * spread


@dataclass(frozen=True)
class Comparison:
    """One recording and our runs of it."""

    recording: Recording
    ours: Sequence[Figures]

    def difference(self, metric: str) -> float:
        """Ours less Linux's."""
        theirs = estimate(self.recording.repeats, metric)
        return estimate(self.ours, metric).mean - theirs.mean

    def agrees(self, metric: str) -> bool:
        """Whether the difference is allowed."""
        return abs(self.difference(metric)) <= self.recording.allowed(metric)


def recordings() -> list[Recording]:
    """All that is recorded; rows that appear several times are repeats."""
    repeats: dict[tuple[str, int, int], list[Figures]] = {}
    with RECORDINGS.open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            key = (row["cc"], int(row["flows"]), int(row["limit_packets"]))
            figures = {metric: float(row[metric]) for metric in JUDGED}
            repeats.setdefault(key, []).append(figures)
    return [Recording(*key, runs) for key, runs in repeats.items()]


def run(recording: Recording, seed: int, cancel: Cancel) -> Figures:
    """One run of ours."""
    scenario = load(SCENARIO, set=recording.overrides, seed=seed)
    link = json.loads(scenario.run(cancel=cancel).summary_json())["links"]["bottleneck"]
    return {
        "utilization": link["utilization"],
        "mean_queue_packets": link["mean_backlog_packets"],
        "drops": float(link["drops"]),
    }


def submit(threads: Workers, seeds: range) -> list[tuple[Recording, list[Future[Figures]]]]:
    """Starts our runs of every recording."""
    return [
        (recording, [threads.submit(partial(run, recording, seed)) for seed in seeds])
        for recording in recordings()
    ]


def verdict(comparisons: Sequence[Comparison], *, known: bool = False) -> list[str]:
    """The criteria that do not hold, in words: the known ones, or all others."""
    return [
        f"Linux 6.18, {comparison.recording.name}: {metric.replace('_', ' ')} "
        f"{estimate(comparison.ours, metric).mean:.5g}, recorded "
        f"{estimate(comparison.recording.repeats, metric).mean:.5g}, allowed ± "
        f"{comparison.recording.allowed(metric):.3g}"
        for comparison in comparisons
        for metric in JUDGED
        if not comparison.agrees(metric)
        and known is ((comparison.recording.name, metric) in KNOWN_MISSES)
    ]


def section(comparisons: Sequence[Comparison], seeds: range, deep: str) -> str:
    """The part of the report.

    Args:
        comparisons: one per recording on the link of 10 Mb/s.
        seeds: of our runs.
        deep: the table of the recordings behind deep buffers.
    """
    rows = ["\n".join([_HEADING, "| --- " * 8 + "|"]), *(_row(row) for row in comparisons)]
    met = sum(all(row.agrees(metric) for metric in JUDGED) for row in comparisons)
    return (
        f"{LINUX_RIG}\nSeeds {seeds[0]} to {seeds[-1]}; "
        f"**{met} of {len(comparisons)} rows agree.**\n\n"
        + "\n".join(rows)
        + f"\n\n{LINUX_READING}\n{LINUX_DEEP}\n{deep}\n\n{LINUX_DEEP_READING}\n{LINUX_TRIED}"
    )


_HEADING = (
    "| control, flows x limit | utilisation, %: Linux | goodqueue | mean queue, packets: Linux "
    "| goodqueue | drops: Linux | goodqueue | verdict |"
)


def _row(comparison: Comparison) -> str:
    cells = [comparison.recording.name]
    for metric, digits in zip(JUDGED, (2, 2, 1), strict=True):
        scale = 100.0 if metric == "utilization" else 1.0
        theirs = estimate(comparison.recording.repeats, metric)
        ours = estimate(comparison.ours, metric)
        allowed = scale * comparison.recording.allowed(metric)
        cells.append(f"{scale * theirs.mean:.{digits}f} (± {allowed:.{digits}f})")
        mark = "" if comparison.agrees(metric) else " **no**"
        cells.append(f"{scale * ours.mean:.{digits}f} ± {scale * ours.error:.{digits}f}{mark}")
    cells.append("yes" if all(comparison.agrees(metric) for metric in JUDGED) else "**no**")
    return "| " + " | ".join(cells) + " |"
