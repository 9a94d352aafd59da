"""Recordings of Linux 6.18 behind deep buffers beside the `linux` profile: runs and criteria."""

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

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from goodqueue._core import Cancel
    from goodqueue.parallel import Workers
    from goodqueue.validation.simulators import Figures

RECORDINGS = Path(__file__).with_name("linux-6.18-deep.csv")
SCENARIO = "scenarios/linux-bottleneck.toml"
UTILIZATION_TOLERANCE = 0.02
RELATIVE_TOLERANCE = {"loss": 0.10, "mean_queue_packets": 0.05}
STANDARD_DEVIATIONS = 2.0
"""Linux was run once; the chance of one run is taken to be as large as that of one run here."""
COLUMNS = (
    ("utilization", "utilisation, %", 100.0, 2),
    ("loss", "loss, %", 100.0, 2),
    ("mean_queue_packets", "mean queue, packets", 1.0, 1),
)
"""Each figure that is judged: its column in the file, its heading, its scale, its digits."""


@dataclass(frozen=True)
class Recording:
    """One run of Linux behind a buffer of `limit` packets.

    Attributes:
        control: congestion control.
        flows: number of flows.
        rate_bps: rate of the link, in IP bits per second.
        rtt_ms: base round-trip time.
        limit: packets that may wait beside the one in transmission.
        seconds: length of the measurement.
        warmup_s: time before it.
        figures: utilisation and loss as fractions, mean queue in packets.
    """

    control: str
    flows: int
    rate_bps: int
    rtt_ms: int
    limit: int
    seconds: int
    warmup_s: int
    figures: Figures

    @property
    def name(self) -> str:
        """In the table."""
        return f"{self.control}, {self.flows} x {self.limit}"

    @property
    def overrides(self) -> dict[str, object]:
        """Returns the overrides of the scenario file for this row."""
        return {
            "tcp.congestion_control": self.control,
            "flow.bulk.count": self.flows,
            "topology.bottleneck.rate": f"{self.rate_bps}bps",
            "topology.bottleneck.delay": f"{self.rtt_ms * 500}us",
            "topology.bottleneck.queue.limit": f"{self.limit}p",
            "duration": f"{self.warmup_s + self.seconds}s",
            "warmup": f"{self.warmup_s}s",
        }


@dataclass(frozen=True)
class Comparison:
    """One recording and our runs of it, one per seed."""

    recording: Recording
    ours: Sequence[Figures]

    def allowed(self, metric: str) -> float:
        """The largest difference that counts as agreement, in the unit of the figure."""
        if metric == "utilization":
            return UTILIZATION_TOLERANCE
        values = [run[metric] for run in self.ours]
        chance = stdev(values) if metric == "loss" and len(values) > 1 else 0.0
        share = RELATIVE_TOLERANCE[metric] * self.recording.figures[metric]
        return share + STANDARD_DEVIATIONS * chance

    def agrees(self, metric: str) -> bool:
        """Returns True if the mean of our runs differs by no more than what is allowed."""
        mean = fmean(run[metric] for run in self.ours)
        return abs(mean - self.recording.figures[metric]) <= self.allowed(metric)


def recordings() -> list[Recording]:
    """All rows of the file."""
    with RECORDINGS.open(encoding="utf-8", newline="") as rows:
        return [
            Recording(
                control=row["cc"],
                flows=int(row["flows"]),
                rate_bps=int(row["rate_bps"]),
                rtt_ms=int(row["rtt_ms"]),
                limit=int(row["limit_packets"]),
                seconds=int(row["seconds"]),
                warmup_s=int(row["warmup_s"]),
                figures={metric: float(row[metric]) for metric, *_ in COLUMNS},
            )
            for row in csv.DictReader(rows)
        ]


def run(recording: Recording, seed: int, cancel: Cancel) -> Figures:
    """One run of ours."""
    scenario = load(SCENARIO, set=recording.overrides, seed=seed)
    link = json.loads(scenario.run(cancel=cancel).summary_json())["links"]["bottleneck"]
    return {
        "utilization": link["utilization"],
        "loss": link["loss_rate"],
        "mean_queue_packets": link["mean_backlog_packets"],
    }


def submit(threads: Workers, seeds: range) -> list[tuple[Recording, list[Future[Figures]]]]:
    """Starts our runs of every recording."""
    return [
        (recording, [threads.submit(partial(run, recording, seed)) for seed in seeds])
        for recording in recordings()
    ]


def verdict(comparisons: Sequence[Comparison]) -> list[str]:
    """The criteria that do not hold, in words."""
    return [
        f"Linux 6.18, {comparison.recording.name}: {metric.replace('_', ' ')} "
        f"{estimate(comparison.ours, metric).mean:.5g}, recorded "
        f"{comparison.recording.figures[metric]:.5g}, allowed ± {comparison.allowed(metric):.3g}"
        for comparison in comparisons
        for metric, *_ in COLUMNS
        if not comparison.agrees(metric)
    ]


def table(comparisons: Sequence[Comparison]) -> str:
    """How many rows agree, and a table of all."""
    met = sum(all(row.agrees(metric) for metric, *_ in COLUMNS) for row in comparisons)
    headings = [f"{heading}: Linux | goodqueue" for _, heading, *_ in COLUMNS]
    heading = f"| control, flows x limit | {' | '.join(headings)} | verdict |"
    rows = "\n".join(map(_row, comparisons))
    return (
        f"**{met} of {len(comparisons)} rows agree.**\n\n"
        f"{heading}\n{'| --- ' * (2 + 2 * len(COLUMNS))}|\n{rows}"
    )


def _row(comparison: Comparison) -> str:
    cells = [comparison.recording.name]
    for metric, _, scale, digits in COLUMNS:
        theirs, allowed = comparison.recording.figures[metric], comparison.allowed(metric)
        ours = estimate(comparison.ours, metric)
        cells.append(f"{scale * theirs:.{digits}f} (± {scale * allowed:.{digits}f})")
        mark = "" if comparison.agrees(metric) else " **no**"
        cells.append(f"{scale * ours.mean:.{digits}f} ± {scale * ours.error:.{digits}f}{mark}")
    cells.append("yes" if all(comparison.agrees(metric) for metric, *_ in COLUMNS) else "**no**")
    return "| " + " | ".join(cells) + " |"
