"""Comparison of RED with ns-2's: runs, criteria, part of the report."""

from __future__ import annotations

import json
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from evidence.validation.compare import SpreadCheck
from evidence.validation.reading import RED, RED_READING
from evidence.validation.simulators import SCRIPT, ns2_figures
from goodqueue.runs.api import load

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evidence.validation.simulators import Figures
    from goodqueue._core import Cancel

SCENARIO = "scenarios/s5.toml"
MEAN_PACKET = 1500

COLUMNS = {
    "utilization": ("utilisation, %", 100.0, 3),
    "loss_rate": ("loss, %", 100.0, 3),
    "early_share": ("early share of drops, %", 100.0, 3),
    "average_queue_mean": ("mean of the average, packets", 1.0, 3),
    "average_queue_variance": ("variance of the average, packets²", 1.0, 2),
    "mean_backlog_packets": ("mean backlog, packets", 1.0, 3),
}
"""Heading, factor to the printed unit and digits of each figure; all figures have to agree."""


@dataclass(frozen=True)
class Case:
    """One set of parameters for both simulators.

    Attributes:
        name: name in the table, which lists the special parameters.
        ns2: settings of tools/ns2/dumbbell.tcl in addition to the link of S1.
        changes: overrides of scenarios/s5.toml.
        in_packets: True if the average counts packets, False for bytes.
    """

    name: str
    ns2: Mapping[str, str]
    changes: Mapping[str, object]
    in_packets: bool = False


def _queue(**keys: object) -> dict[str, object]:
    return {f"topology.bottleneck.queue.{key}": value for key, value in keys.items()}


CASES = (
    Case("S5: automatic values", {"flows": "100", "buffer": "688", "duration": "200"}, {}),
    Case(
        "below min: 20 flows, min 30, max 90, weight 0.002",
        {"flows": "20", "buffer": "688", "duration": "80", "min": "30", "max": "90"}
        | {"weight": "0.002"},
        {"duration": "80s", "flow.bulk.count": 20, **_queue(min=45000, max=135000, weight=0.002)},
    ),
    Case(
        "near max: 100 flows, packets, min 5, max 15, weight 0.002, p 0.03",
        {"flows": "100", "buffer": "688", "duration": "80", "min": "5", "max": "15"}
        | {"weight": "0.002", "p": "0.03", "bytes": "0"},
        {
            "duration": "80s",
            **_queue(unit="packets", by_size=False, limit="688p"),
            **_queue(min=5, max=15, weight=0.002, max_probability=0.03),
        },
        in_packets=True,
    ),
    Case(
        "gentle: 400 flows, min 10, max 30, weight 0.002, p 0.02, limit 80",
        {"flows": "400", "buffer": "80", "duration": "80", "min": "10", "max": "30"}
        | {"weight": "0.002", "p": "0.02"},
        {
            "duration": "80s",
            "flow.bulk.count": 400,
            **_queue(limit="120000B", min=15000, max=45000, weight=0.002, max_probability=0.02),
        },
    ),
    Case(
        "adaptive: 50 flows, automatic values",
        {"flows": "50", "buffer": "688", "duration": "120", "adaptive": "1"},
        {
            "duration": "120s",
            "flow.bulk.count": 50,
            # The lower bound of the probability in ns-2 is 80 kb/s divided by the rate.
            **_queue(adaptation={"kind": "floyd", "least": 0.0016, "gentle_follows": False}),
        },
    ),
)


@dataclass(frozen=True)
class Comparison:
    """All runs of one set of parameters."""

    case: Case
    ns2: Sequence[Figures]
    ours: Sequence[Figures]

    def check(self, metric: str) -> SpreadCheck:
        """Returns the comparison of one figure."""
        return SpreadCheck(metric, self.ns2, self.ours)

    def agrees(self, metric: str) -> bool:
        """Returns True if the mean of our runs lies in the range of ns-2's runs."""
        return self.check(metric).agrees


def arguments(case: Case) -> list[str]:
    """Returns the arguments of ns-2, without the seed."""
    settings = [f"{key}={value}" for key, value in case.ns2.items()]
    return [SCRIPT, "queue=RED", "rate=50", *settings]


def run_ns2(case: Case, seed: int, _cancel: Cancel) -> Figures:
    """Returns the figures of one run of ns-2."""
    return _in_packets(case, ns2_figures(arguments(case), seed, COLUMNS))


def run_goodqueue(case: Case, seed: int, cancel: Cancel) -> Figures:
    """Returns the figures of one run of goodqueue."""
    scenario = load(SCENARIO, set=dict(case.changes), seed=seed)
    link = json.loads(scenario.run(cancel=cancel).summary_json())["links"]["bottleneck"]
    figures = {metric: link[metric] for metric in COLUMNS if metric in link}
    figures["early_share"] = link["drops_early"] / link["drops"] if link["drops"] else 0.0
    return _in_packets(case, figures)


def _in_packets(case: Case, figures: Figures) -> Figures:
    if case.in_packets:
        return figures
    scales = {"average_queue_mean": MEAN_PACKET, "average_queue_variance": MEAN_PACKET**2}
    return {metric: value / scales.get(metric, 1) for metric, value in figures.items()}


def verdict(comparisons: Sequence[Comparison]) -> list[str]:
    """Describes each criterion that does not hold."""
    return [
        f"RED, {comparison.case.name}: {COLUMNS[metric][0]} {_figure(metric, comparison.ours)}, "
        f"ns-2 {_figure(metric, comparison.ns2)}, allowed ± {_allowed(metric, comparison)}"
        for comparison in comparisons
        for metric in COLUMNS
        if not comparison.agrees(metric)
    ]


def section(comparisons: Sequence[Comparison], seeds: range) -> str:
    """Returns this part of the report, as Markdown."""
    columns = ["parameters", "", *(heading for heading, _, _ in COLUMNS.values())]
    rows = [row for comparison in comparisons for row in _rows(comparison)]
    lines = [columns, ["---"] * len(columns), *rows]
    met = sum(all(map(comparison.agrees, COLUMNS)) for comparison in comparisons)
    commands = [" ".join(["ns", *arguments(case), "seed=1"]) for case in CASES]
    return (
        f"{RED}\nSeeds {seeds[0]} to {seeds[-1]} of each simulator; "
        f"**{met} of {len(comparisons)} sets of parameters agree.**\n\n"
        + "\n".join("| " + " | ".join(line) + " |" for line in lines)
        + f"\n\n{RED_READING}\n```sh\n"
        + "\n".join(commands)
        + f"\ngoodqueue run {SCENARIO} --seed 1 --json\n```\n"
    )


def _rows(comparison: Comparison) -> list[list[str]]:
    def differ(metric: str) -> str:
        mark = "" if comparison.agrees(metric) else " **no**"
        _, scale, digits = COLUMNS[metric]
        rounded = (
            round(scale * comparison.check(metric).difference, digits) + 0.0
        )  # no minus before a zero
        return f"{rounded:+.{digits}f} (± {_allowed(metric, comparison)}){mark}"

    return [
        [comparison.case.name, "ns-2", *(_figure(m, comparison.ns2) for m in COLUMNS)],
        ["", "goodqueue", *(_figure(m, comparison.ours) for m in COLUMNS)],
        ["", "difference (allowed)", *map(differ, COLUMNS)],
    ]


def _figure(metric: str, runs: Sequence[Figures]) -> str:
    _, scale, digits = COLUMNS[metric]
    return f"{scale * fmean(run[metric] for run in runs):.{digits}f}"


def _allowed(metric: str, comparison: Comparison) -> str:
    _, scale, digits = COLUMNS[metric]
    return f"{scale * comparison.check(metric).allowed:.{digits}f}"
