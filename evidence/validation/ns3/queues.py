"""Comparison with ns-3's queue discs: runs, criteria, part of the report."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evidence.validation.compare import estimate
from evidence.validation.ns3.controls import BUILT, SCENARIO, Ns3Error, output
from evidence.validation.reading import NS3_QUEUES, NS3_QUEUES_READING
from goodqueue.runs.api import load

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evidence.validation.simulators import Figures
    from goodqueue._core import Cancel

COLUMNS = {
    "utilization": ("utilisation, %", 100.0, 3),
    "signal_rate": ("dropped or marked, %", 100.0, 3),
    "mean_backlog_packets": ("mean backlog, packets", 1.0, 2),
}
UTILIZATION_TOLERANCE = 0.005
TOLERANCE = 0.10
"""Relative difference from ns-3's figure that is allowed in addition to three standard errors."""
MAX_SEEDS = 5

_LINK = {"flows": 10, "rate": 20, "rtt": 80, "buffer": 1000, "duration": 100}
_LINK_OURS: dict[str, object] = {
    "topology.bottleneck.rate": "20Mbps",
    "flow.bulk.rtt": "80ms",
    "flow.bulk.count": 10,
    "duration": "100s",
}
_TCP = (
    "--control=TcpLinuxReno",
    "--ecn=true",
    "--ns3::TcpSocket::InitialSlowStartThreshold=584000",
)
_TCP_OURS: dict[str, object] = {
    "tcp.congestion_control": "reno",
    "tcp.ecn": "rfc3168",
    "tcp.details.decrease_basis": "flight_size",
}
_DATAGRAMS = ("--datagrams=24",)
_DATAGRAMS_OURS: dict[str, object] = {
    "flow.bulk.workload": {"kind": "poisson", "rate": "2400kbps", "packet": "1500B"}
}


@dataclass(frozen=True)
class Case:
    """One queue discipline under one load, for both simulators.

    Attributes:
        name: name in tables.
        disc: ns-3's class.
        queue: parameters of our queue.
        ecn: True if TCP with ECN sends and marks replace drops; False if datagrams are sent.
        known: figures that are known not to agree.
    """

    name: str
    disc: str
    queue: Mapping[str, object]
    ecn: bool
    known: frozenset[str] = field(default=frozenset())

    @property
    def arguments(self) -> list[str]:
        """The arguments of the program for ns-3, without the seed."""
        link = [f"--{key}={value}" for key, value in _LINK.items()]
        ecn = "true" if self.ecn else "false"
        disc = [f"--queue={self.disc}", f"--ns3::{self.disc}::UseEcn={ecn}"]
        return [*link, *(_TCP if self.ecn else _DATAGRAMS), *disc]

    @property
    def overrides(self) -> dict[str, object]:
        """The overrides of the scenario."""
        queue = {**self.queue, "limit": "1000p", "ecn": self.ecn}
        load_of = _TCP_OURS if self.ecn else _DATAGRAMS_OURS
        return {**_LINK_OURS, **load_of, "topology.bottleneck.queue": queue}


# A packet in ns-3's device has left the queue disc already, so our queueing delays are longer by
# the time of one packet: 1502 bytes at 20 Mb/s.
_LIKE_CODEL = {"target": "5.6008ms", "mtu": "1499B", "next_mark": "from_now"}
_CODEL = ("CoDelQueueDisc", {"kind": "codel", **_LIKE_CODEL})
_PIE = ("PieQueueDisc", {"kind": "pie", "flavour": "ns3", "target": "15.6008ms"})
_FQ = {"kind": "fq_codel", "compared_backlog": "own", "quantum": "1500B", **_LIKE_CODEL}
_FQ_CODEL = ("FqCoDelQueueDisc", _FQ)

CASES = (
    Case("CoDel, datagrams", *_CODEL, ecn=False),
    Case("PIE, datagrams", *_PIE, ecn=False),
    Case("FQ-CoDel, datagrams", *_FQ_CODEL, ecn=False),
    Case("CoDel, TCP", *_CODEL, ecn=True),
    Case("PIE, TCP", *_PIE, ecn=True),
    Case(
        "FQ-CoDel, TCP",
        *_FQ_CODEL,
        ecn=True,
        known=frozenset({"utilization", "mean_backlog_packets"}),
    ),
)


@dataclass(frozen=True)
class Comparison:
    """All runs of one case."""

    case: Case
    ns3: Sequence[Figures]
    ours: Sequence[Figures]

    def difference(self, metric: str) -> float:
        """Returns our mean minus ns-3's."""
        return estimate(self.ours, metric).mean - estimate(self.ns3, metric).mean

    def allowed(self, metric: str) -> float:
        """Returns the largest difference that counts as agreement, in the unit of the figure."""
        if metric == "utilization":
            return UTILIZATION_TOLERANCE
        theirs, ours = estimate(self.ns3, metric), estimate(self.ours, metric)
        return TOLERANCE * theirs.mean + 3 * math.hypot(theirs.error, ours.error)

    def agrees(self, metric: str) -> bool:
        """Returns True if the difference is allowed."""
        return abs(self.difference(metric)) <= self.allowed(metric)


def figures(text: str) -> Figures:
    """Reads the figures from the output of the program for ns-3."""
    try:
        said: dict[str, Any] = json.loads(text)
        return {
            "utilization": float(said["utilization"]),
            "signal_rate": (float(said["drops"]) + float(said["marks"])) / float(said["arrivals"]),
            "mean_backlog_packets": float(said["mean_backlog_packets"]),
        }
    except (ValueError, KeyError, ZeroDivisionError) as error:
        raise Ns3Error(f"ns-3 printed no figures ({error!r}): {text.strip()[:200]!r}") from None


def run_ns3(program: Path, case: Case, seed: int, _cancel: Cancel) -> Figures:
    """Returns the figures of one run of ns-3."""
    return figures(output([str(program), *case.arguments, f"--seed={seed}"]))


def run_ours(case: Case, seed: int, cancel: Cancel) -> Figures:
    """Returns the figures of one run of goodqueue."""
    scenario = load(SCENARIO, set=case.overrides, seed=seed)
    link = json.loads(scenario.run(cancel=cancel).summary_json())["links"]["bottleneck"]
    return {
        "utilization": link["utilization"],
        "signal_rate": (link["drops"] + link["marks"]) / link["arrivals"],
        "mean_backlog_packets": link["mean_backlog_packets"],
    }


def verdict(comparisons: Sequence[Comparison], *, known: bool = False) -> list[str]:
    """Describes each criterion that does not hold: those known to fail, or all others."""
    return [
        f"ns-3, {comparison.case.name}: {COLUMNS[metric][0]} {_figure(metric, comparison.ours)}, "
        f"ns-3 {_figure(metric, comparison.ns3)}, allowed ± {_allowed(metric, comparison)}"
        for comparison in comparisons
        for metric in COLUMNS
        if not comparison.agrees(metric) and known is (metric in comparison.case.known)
    ]


def section(comparisons: Sequence[Comparison], seeds: range) -> str:
    """Returns this part of the report, as Markdown."""
    columns = ["load", "", *(heading for heading, _, _ in COLUMNS.values())]
    rows = [row for comparison in comparisons for row in _rows(comparison)]
    lines = [columns, ["---"] * len(columns), *rows]
    met = sum(all(map(comparison.agrees, COLUMNS)) for comparison in comparisons)
    last = seeds[:MAX_SEEDS][-1]
    return (
        f"{NS3_QUEUES}\nSeeds {seeds[0]} to {last} of each simulator; "
        f"**{met} of {len(comparisons)} agree.**\n\n"
        + "\n".join("| " + " | ".join(line) + " |" for line in lines)
        + f"\n\n{NS3_QUEUES_READING}\n{_commands(comparisons)}"
    )


def _rows(comparison: Comparison) -> list[list[str]]:
    def differ(metric: str) -> str:
        mark = "" if comparison.agrees(metric) else " **no**"
        _, scale, digits = COLUMNS[metric]
        rounded = round(scale * comparison.difference(metric), digits) + 0.0  # no minus before 0
        return f"{rounded:+.{digits}f} (± {_allowed(metric, comparison)}){mark}"

    return [
        [comparison.case.name, "ns-3", *(_figure(m, comparison.ns3) for m in COLUMNS)],
        ["", "goodqueue", *(_figure(m, comparison.ours) for m in COLUMNS)],
        ["", "difference (allowed)", *map(differ, COLUMNS)],
    ]


def _figure(metric: str, runs: Sequence[Figures]) -> str:
    _, scale, digits = COLUMNS[metric]
    value = estimate(runs, metric)
    return f"{scale * value.mean:.{digits}f} ± {scale * value.error:.{digits}f}"


def _allowed(metric: str, comparison: Comparison) -> str:
    _, scale, digits = COLUMNS[metric]
    return f"{scale * comparison.allowed(metric):.{digits}f}"


def _commands(comparisons: Sequence[Comparison]) -> str:
    program = str(BUILT / "dumbbell")
    lines = [" ".join([program, *each.case.arguments, "--seed=1"]) for each in comparisons]
    return "```sh\n" + "\n".join(lines) + "\n```\n"
