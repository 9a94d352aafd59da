"""Several links, and slow reverse links, compared with ns-2: runs, criteria, part of the report."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from evidence.validation.compare import SpreadCheck, estimate
from evidence.validation.reading import CHAINS, CHAINS_READING
from evidence.validation.simulators import ns2_figures
from goodqueue.runs.api import load

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evidence.validation.simulators import Figures
    from goodqueue._core import Cancel

SCRIPT = "tools/ns2/chain.tcl"

METRICS = {
    "goodput_bps": ("goodput per flow, kb/s", 1e-3, 2),
    "utilization": ("utilisation, %", 100.0, 3),
    "loss_rate": ("loss, %", 100.0, 4),
    "mean_backlog_packets": ("mean backlog, packets", 1.0, 3),
}
"""Name, factor to the printed unit and digits of each figure; all figures have to agree."""


@dataclass(frozen=True)
class Case:
    """One chain of links for both simulators.

    Attributes:
        name: heading in the report.
        scenario: our scenario file.
        ns2: settings of tools/ns2/chain.tcl.
        changes: overrides of our scenario file.
        links: our links, in order; ns-2's are link1, link2 …
        sets: names of the sets of flows.
        backward: True if the reverse links are compared, too.
    """

    name: str
    scenario: str
    ns2: Mapping[str, str]
    changes: Mapping[str, object]
    links: tuple[str, ...]
    sets: tuple[str, ...]
    backward: bool = False

    @property
    def figures(self) -> list[str]:
        """Names of the compared figures: a set or a link, and the figure, joined by a point."""
        directions = ["", ".reverse"] if self.backward else [""]
        places = [
            f"link{number}{direction}"
            for number in range(1, len(self.links) + 1)
            for direction in directions
        ]
        of_links = [metric for metric in METRICS if metric != "goodput_bps"]
        return [f"{name}.goodput_bps" for name in self.sets] + [
            f"{place}.{metric}" for place in places for metric in of_links
        ]


def _parking_lot(name: str, rates: str, buffer: int, changes: Mapping[str, object]) -> Case:
    return Case(
        name,
        "scenarios/parking-lot.toml",
        {"rates": rates, "cross": "10", "buffer": str(buffer)},
        changes,
        ("link1", "link2", "link3"),
        ("long", "cross1", "cross2", "cross3"),
    )


def _asymmetric(name: str, rate: str, buffer: int, changes: Mapping[str, object]) -> Case:
    flows = {"long": "4", "long_min": "50", "long_max": "143", "classes": "4"}
    return Case(
        name,
        "scenarios/asymmetric.toml",
        {**flows, "reverse_rate": rate, "reverse_buffer": str(buffer)},
        changes,
        ("bottleneck",),
        ("long",),
        backward=True,
    )


def _links(key: str, value: str) -> dict[str, object]:
    return {f"topology.link.link{number}.{key}": value for number in (1, 2, 3)}


_REVERSE = "topology.bottleneck.reverse"

# The buffer of ns-2 includes the packet in transmission.
CASES = (
    _parking_lot("Parking lot: 10, 9.7 and 10.3 Mb/s, 83 waiting", "10,9.7,10.3", 84, {}),
    _parking_lot("Parking lot: 20 waiting", "10,9.7,10.3", 21, _links("queue.limit", "20p")),
    _parking_lot("Parking lot: 10 Mb/s each", "10,10,10", 84, _links("rate", "10Mbps")),
    _asymmetric("Asymmetric: 10 Mb/s, 1 Mb/s back, 99 ACKs waiting", "1", 100, {}),
    _asymmetric(
        "Asymmetric: 10 Mb/s, 200 kb/s back, 99 ACKs waiting",
        "0.2",
        100,
        {f"{_REVERSE}.rate": "200kbps"},
    ),
    _asymmetric(
        "Asymmetric: 10 Mb/s, 200 kb/s back, 9 ACKs waiting",
        "0.2",
        10,
        {f"{_REVERSE}.rate": "200kbps", f"{_REVERSE}.queue.limit": "9p"},
    ),
)


@dataclass(frozen=True)
class Comparison:
    """All runs of one chain."""

    case: Case
    ns2: Sequence[Figures]
    ours: Sequence[Figures]

    def checks(self) -> list[SpreadCheck]:
        """Returns the check of every figure."""
        return [SpreadCheck(figure, self.ns2, self.ours) for figure in self.case.figures]

    @property
    def agrees(self) -> bool:
        """True if every figure agrees."""
        return all(check.agrees for check in self.checks())


def arguments(case: Case) -> list[str]:
    """Returns the arguments of ns-2, without the seed."""
    return [SCRIPT, *(f"{key}={value}" for key, value in case.ns2.items())]


def run_ns2(case: Case, seed: int, _cancel: Cancel) -> Figures:
    """Returns the figures of one run of ns-2."""
    return ns2_figures(arguments(case), seed, case.figures)


def run_goodqueue(case: Case, seed: int, cancel: Cancel | None = None) -> Figures:
    """Returns the figures of one run of goodqueue."""
    scenario = load(case.scenario, set=dict(case.changes), seed=seed)
    summary = json.loads(scenario.run(cancel=cancel).summary_json())
    measured = {}
    for number, link in enumerate(case.links, 1):
        for direction in ("", ".reverse"):
            of_link = summary["links"][link + direction]
            for metric in METRICS.keys() & of_link.keys():
                measured[f"link{number}{direction}.{metric}"] = of_link[metric]
    goodputs = defaultdict(list)
    for name, flow in summary["flows"].items():
        goodputs[name.split(".")[0]].append(flow["goodput_bps"])
    measured |= {f"{name}.goodput_bps": fmean(flows) for name, flows in goodputs.items()}
    return {figure: measured[figure] for figure in case.figures}


def verdict(comparisons: Sequence[Comparison]) -> list[str]:
    """Describes each figure that does not agree."""
    return [
        f"{comparison.case.name}: {_name(check.metric)} {_mean(check.metric, check.ours)}, "
        f"ns-2 {_mean(check.metric, check.theirs)}, allowed ± {_text(check.metric, check.allowed)}"
        for comparison in comparisons
        for check in comparison.checks()
        if not check.agrees
    ]


def section(comparisons: Sequence[Comparison], seeds: range) -> str:
    """Returns this part of the report, as Markdown."""
    met = sum(comparison.agrees for comparison in comparisons)
    commands = []
    for case in CASES:
        commands.append(" ".join(["ns", *arguments(case), "seed=1"]))
        sets = [f" --set {key}={value}" for key, value in case.changes.items()]
        commands.append(f"goodqueue run {case.scenario} --seed 1 --json" + "".join(sets))
    return (
        f"{CHAINS}\nSeeds {seeds[0]} to {seeds[-1]} of each simulator; "
        f"**{met} of {len(comparisons)} agree.**\n\n"
        + "\n".join(_table(comparison) for comparison in comparisons)
        + f"\n{CHAINS_READING}\n```sh\n"
        + "\n".join(commands)
        + "\n```\n"
    )


def _table(comparison: Comparison) -> str:
    lines = ["|  | ns-2 | goodqueue | difference (allowed) |", "| --- | --- | --- | --- |"]
    for check in comparison.checks():
        metric = check.metric
        mark = "" if check.agrees else " **no**"
        difference = f"{_text(metric, check.difference, '+')} (± {_text(metric, check.allowed)})"
        estimates = [_estimate(metric, runs) for runs in (check.theirs, check.ours)]
        lines.append(f"| {' | '.join([_name(metric), *estimates, difference + mark])} |")
    return f"### {comparison.case.name}\n\n" + "\n".join(lines) + "\n"


def _name(figure: str) -> str:
    place, metric = figure.rsplit(".", 1)
    return f"{place}: {METRICS[metric][0]}"


def _text(figure: str, value: float, sign: str = "") -> str:
    _, scale, digits = METRICS[figure.rsplit(".", 1)[1]]
    rounded = round(scale * value, digits) + 0.0  # no minus before a zero
    return f"{rounded:{sign}.{digits}f}"


def _mean(figure: str, runs: Sequence[Figures]) -> str:
    return _text(figure, estimate(runs, figure).mean)


def _estimate(figure: str, runs: Sequence[Figures]) -> str:
    return f"{_mean(figure, runs)} ± {_text(figure, estimate(runs, figure).error)}"
