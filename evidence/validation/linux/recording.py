"""Recordings of Linux 6.18 beside the `linux` profile: files, our runs, verdicts and tables."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from evidence.validation.compare import estimate
from goodqueue.runs.api import load

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from evidence.validation.simulators import Figures
    from goodqueue._core import Cancel
    from goodqueue.core.parallel import Workers

SCENARIO = "scenarios/linux-bottleneck.toml"


class Figure(NamedTuple):
    """A figure that is judged.

    Attributes:
        name: its column in the file.
        heading: its heading in the table, with its unit.
        scale: the factor that converts the figure into that unit.
        digits: its decimals in the table.
    """

    name: str
    heading: str
    scale: float
    digits: int


@dataclass(frozen=True)
class Recording:
    """Recorded runs of Linux behind one buffer, one or several.

    Attributes:
        control: congestion control.
        flows: number of flows.
        limit: packets that may wait beside the one in transmission.
        repeats: the figures of each run. Utilisation and loss are fractions, the mean queue and
            drops are packets.
        rate_bps: rate of the link, in IP bits per second.
        rtt_ms: base round-trip time.
        seconds: length of the measurement.
        warmup_s: time before it.
    """

    control: str
    flows: int
    limit: int
    repeats: Sequence[Figures]
    rate_bps: int = 10_000_000
    rtt_ms: int = 40
    seconds: int = 58
    warmup_s: int = 11

    @property
    def name(self) -> str:
        """The name of its row in the table."""
        return f"{self.control}, {self.flows} x {self.limit}"

    @property
    def figures(self) -> Figures:
        """The means over its repeats."""
        return {name: fmean(run[name] for run in self.repeats) for name in self.repeats[0]}

    @property
    def overrides(self) -> dict[str, object]:
        """The overrides of the scenario file for this row."""
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
class Criteria:
    """Criteria of agreement.

    Attributes:
        figures: the figures that are judged.
        allowed: the largest difference that counts as agreement, in the unit of the figure, from
            the recording, our runs of it and the name of the figure.
        known: rows and figures that are known not to agree. The report lists and explains these
            misses, and the command does not fail because of them.
    """

    figures: tuple[Figure, ...]
    allowed: Callable[[Recording, Sequence[Figures], str], float]
    known: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True)
class Comparison:
    """One recording, and our runs of the same network, one per seed."""

    recording: Recording
    ours: Sequence[Figures]
    criteria: Criteria

    def allowed(self, metric: str) -> float:
        """The largest difference that counts as agreement, in the unit of the figure."""
        return self.criteria.allowed(self.recording, self.ours, metric)

    def difference(self, metric: str) -> float:
        """The mean of our runs minus that of Linux."""
        return estimate(self.ours, metric).mean - self.recording.figures[metric]

    def agrees(self, metric: str) -> bool:
        """Returns True if the difference is allowed."""
        return abs(self.difference(metric)) <= self.allowed(metric)

    def agrees_in_all(self) -> bool:
        """Returns True if every judged figure agrees."""
        return all(self.agrees(figure.name) for figure in self.criteria.figures)


CONDITIONS = ("rate_bps", "rtt_ms", "seconds", "warmup_s")
"""Columns that a file may have: those of another link or time than the usual one."""


def read(file: Path, figures: Sequence[Figure]) -> list[Recording]:
    """Reads a file of recordings; rows of equal conditions are repeats of one recording."""
    found: dict[Recording, list[Figures]] = {}
    with file.open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            others = {name: int(row[name]) for name in CONDITIONS if name in row}
            key = Recording(row["cc"], int(row["flows"]), int(row["limit_packets"]), (), **others)
            repeats = found.setdefault(key, [])
            repeats.append({figure.name: float(row[figure.name]) for figure in figures})
    return [replace(key, repeats=repeats) for key, repeats in found.items()]


def run(recording: Recording, seed: int, cancel: Cancel) -> Figures:
    """One run of goodqueue."""
    scenario = load(SCENARIO, set=recording.overrides, seed=seed)
    link = json.loads(scenario.run(cancel=cancel).summary_json())["links"]["bottleneck"]
    return {
        "utilization": link["utilization"],
        "loss": link["loss_rate"],
        "mean_queue_packets": link["mean_backlog_packets"],
        "drops": float(link["drops"]),
    }


def submit(
    threads: Workers, recordings: Sequence[Recording], seeds: range
) -> list[tuple[Recording, list[Future[Figures]]]]:
    """Starts our runs of every recording."""
    return [
        (recording, [threads.submit(partial(run, recording, seed)) for seed in seeds])
        for recording in recordings
    ]


def verdict(comparisons: Sequence[Comparison], *, known: bool = False) -> list[str]:
    """The criteria that do not hold, in words: those known to fail, or all others."""
    return [
        f"Linux 6.18, {comparison.recording.name}: {metric.replace('_', ' ')} "
        f"{estimate(comparison.ours, metric).mean:.5g}, recorded "
        f"{comparison.recording.figures[metric]:.5g}, allowed ± {comparison.allowed(metric):.3g}"
        for comparison in comparisons
        for metric, *_ in comparison.criteria.figures
        if not comparison.agrees(metric)
        and known is ((comparison.recording.name, metric) in comparison.criteria.known)
    ]


def table(comparisons: Sequence[Comparison]) -> str:
    """Returns the number of rows that agree, and a table of all, as Markdown."""
    met = sum(comparison.agrees_in_all() for comparison in comparisons)
    figures = comparisons[0].criteria.figures
    headings = [f"{figure.heading}: Linux | goodqueue" for figure in figures]
    heading = f"| control, flows x limit | {' | '.join(headings)} | verdict |"
    rows = "\n".join(map(_row, comparisons))
    return (
        f"**{met} of {len(comparisons)} rows agree.**\n\n"
        f"{heading}\n{'| --- ' * (2 + 2 * len(figures))}|\n{rows}"
    )


def _row(comparison: Comparison) -> str:
    cells = [comparison.recording.name]
    for metric, _, scale, digits in comparison.criteria.figures:
        theirs, allowed = comparison.recording.figures[metric], comparison.allowed(metric)
        ours = estimate(comparison.ours, metric)
        cells.append(f"{scale * theirs:.{digits}f} (± {scale * allowed:.{digits}f})")
        mark = "" if comparison.agrees(metric) else " **no**"
        cells.append(f"{scale * ours.mean:.{digits}f} ± {scale * ours.error:.{digits}f}{mark}")
    cells.append("yes" if comparison.agrees_in_all() else "**no**")
    return "| " + " | ".join(cells) + " |"
