"""Published results of two flows, TCP Prague or CUBIC, beside ours: runs, goals, report."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from evidence.validation.l4s.reading import BEHIND_A_FIFO, READING, RIG
from goodqueue.core.intervals import Interval, t_interval
from goodqueue.runs.api import load

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evidence.validation.simulators import Figures
    from goodqueue._core import Cancel

FOLDER = Path(__file__).parent

NEAR = 0.05
"""Largest difference of the share in rows with fair queues, and in rows without Prague."""

DUAL_MEAN = 0.06
DUAL_NEAR = 0.10
DUAL_LEAST = 30 / 36
"""Goals behind DualPI2 with Prague: mean difference of the share, and share of rows within 0.10.

The public table has 36 such rows; half of them are recorded here.
"""

QUEUES = {
    "dualpi2": '{{ kind = "dualpi2", min_qlen_step = "{}" }}',
    "fq_codel": '{{ kind = "fq_codel" }}',
    "pfifo(1000)": '{{ kind = "drop_tail", limit = "1000p" }}',
    "pfifo(200)": '{{ kind = "drop_tail", limit = "200p" }}',
}

TCP = {
    "cubic": '{{ profile = "linux", ecn = "accecn" }}',
    "prague": (
        '{{ profile = "prague", congestion_control = {{ kind = "prague", rtt_target = "{}" }} }}'
    ),
}


class Rig(NamedTuple):
    """Assumptions of a run about the computers of the tests.

    Attributes:
        min_qlen_step: packets that a packet must find in the low-latency queue to be marked by the
            step of DualPI2.
        rtt_target: the round-trip time that Prague imitates.
        ack_jitter: largest delay that is added to an ACK at random.
    """

    min_qlen_step: str
    rtt_target: str
    ack_jitter: str = "0s"


RIG_2020 = Rig("2p", "0s")
"""The kernel of the tests (see reading.RIG), and computers without jitter."""

OTHER_RIGS = (
    Rig("2p", "0s", "100us"),
    Rig("2p", "0s", "300us"),
    Rig("2p", "25ms"),
    Rig("0p", "10ms"),
    Rig("0p", "25ms"),
)
"""Assumptions whose effect the report shows."""


class Flow(NamedTuple):
    """A flow of a published run: its control, base round-trip time and goodput."""

    control: str
    rtt_ms: int
    goodput_mbps: float


@dataclass(frozen=True)
class Row:
    """A published run.

    Attributes:
        rate_mbps: rate of the link.
        queue: queue discipline of the link.
        flows: the two flows.
    """

    rate_mbps: int
    queue: str
    flows: tuple[Flow, Flow]

    @property
    def share(self) -> float:
        """The first flow's share of the goodput."""
        first, second = (flow.goodput_mbps for flow in self.flows)
        return first / (first + second)

    @property
    def has_prague(self) -> bool:
        """True if a flow runs TCP Prague."""
        return any(flow.control == "prague" for flow in self.flows)

    def overrides(self, rig: Rig) -> dict[str, object]:
        """Returns the overrides of the scenario file for this row."""
        queue = QUEUES[self.queue].format(rig.min_qlen_step)
        found: dict[str, object] = {
            "topology.bottleneck.rate": f"{self.rate_mbps}Mbps",
            "topology.bottleneck.queue": queue,
            "topology.bottleneck.reverse.queue": queue,
        }
        if rig.ack_jitter != "0s":
            jitter = f'{{ law = "uniform", from = "0s", to = "{rig.ack_jitter}" }}'
            found["topology.bottleneck.reverse.jitter"] = jitter
        for name, flow in zip(("first", "second"), self.flows, strict=True):
            found[f"flow.{name}.rtt"] = f"{flow.rtt_ms}ms"
            found[f"flow.{name}.tcp"] = TCP[flow.control].format(rig.rtt_target)
        return found


@dataclass(frozen=True)
class Comparison:
    """A published run and our runs of it, one per seed."""

    row: Row
    ours: Sequence[Figures]

    @property
    def share(self) -> Interval:
        """Our share of the first flow."""
        return t_interval([run["share"] for run in self.ours]).within(0.0, 1.0)

    @property
    def difference(self) -> float:
        """Our share less the published one."""
        return self.share.mean - self.row.share


def rows() -> list[Row]:
    """Returns the published runs."""
    with (FOLDER / "two-flows-2020.csv").open(encoding="utf-8", newline="") as lines:
        return [_row(line) for line in csv.DictReader(lines)]


def _row(line: dict[str, str]) -> Row:
    first, second = (
        Flow(line[f"cc{n}"], int(line[f"rtt{n}_ms"]), float(line[f"goodput{n}_mbps"]))
        for n in (1, 2)
    )
    return Row(int(line["rate_mbps"]), line["queue"], (first, second))


def run(row: Row, seed: int, cancel: Cancel, rig: Rig = RIG_2020) -> Figures:
    """One run of ours."""
    scenario = load(str(FOLDER / "two-flows.toml"), set=row.overrides(rig), seed=seed)
    flows = json.loads(scenario.run(cancel=cancel).summary_json())["flows"]
    first, second = (flows[name]["goodput_bps"] / 1e6 for name in ("first", "second"))
    return {"first": first, "second": second, "share": first / (first + second)}


def is_dual(row: Row) -> bool:
    """True for a row with Prague behind DualPI2."""
    return row.queue == "dualpi2" and row.has_prague


def _dual(comparisons: Sequence[Comparison]) -> list[Comparison]:
    return [one for one in comparisons if is_dual(one.row)]


def _near(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Returns the rows whose share must be within 0.05: fair queues, and CUBIC alone."""
    return [one for one in comparisons if one.row.queue == "fq_codel" or not one.row.has_prague]


class Goal(NamedTuple):
    """A goal, in words with our figure, and True if it is met."""

    words: str
    is_met: bool


def goals(comparisons: Sequence[Comparison]) -> list[Goal]:
    """Returns the goals."""
    near = _near(comparisons)
    inside = sum(abs(one.difference) <= NEAR for one in near)
    dual = _dual(comparisons)
    mean = fmean(abs(one.difference) for one in dual)
    close = sum(abs(one.difference) <= DUAL_NEAR for one in dual)
    return [
        Goal(
            f"fq_codel, and CUBIC alone: {inside} of {len(near)} shares within {NEAR}",
            inside == len(near),
        ),
        Goal(
            f"Prague behind DualPI2: shares differ by {mean:.3f} on average, at most {DUAL_MEAN} "
            "aimed at",
            mean <= DUAL_MEAN,
        ),
        Goal(
            f"Prague behind DualPI2: {close} of {len(dual)} shares within {DUAL_NEAR}, five of six "
            "aimed at",
            close >= DUAL_LEAST * len(dual),
        ),
    ]


def section(
    comparisons: Sequence[Comparison],
    others: Mapping[Rig, Sequence[Comparison]],
    seeds: range,
) -> str:
    """Returns the part of the report.

    Args:
        comparisons: all rows with the rig of 2020.
        others: the rows with Prague behind DualPI2 with other rigs, of the first seed.
        seeds: the seeds of `comparisons`.
    """
    met = "\n".join(
        f"- {goal.words}: {'met' if goal.is_met else '**not met**'}." for goal in goals(comparisons)
    )
    judged = [one for one in comparisons if "pfifo" not in one.row.queue or not one.row.has_prague]
    fifo = [one for one in comparisons if one not in judged]
    first = [Comparison(one.row, one.ours[:1]) for one in _dual(comparisons)]
    return (
        f"{RIG}\nSeeds {seeds[0]} to {seeds[-1]}; ± are 95 % intervals of our mean. Goals:\n\n"
        f"{met}\n\n{_table(judged)}\n\n{READING}\n{_rigs({RIG_2020: first, **others})}\n\n"
        f"{BEHIND_A_FIFO}\n\n{_table(fifo)}\n"
    )


def _rigs(comparisons: Mapping[Rig, Sequence[Comparison]]) -> str:
    lines = ["| `min_qlen_step` | `rtt_target` | jitter of ACKs, at most | mean difference | "]
    lines[0] += f"within {DUAL_NEAR} | largest |"
    lines.append("| --- " * 6 + "|")
    for rig, rows_of_it in comparisons.items():
        sizes = [abs(one.difference) for one in rows_of_it]
        close = sum(size <= DUAL_NEAR for size in sizes)
        cells = [f"`{value}`" for value in rig]
        cells += [f"{fmean(sizes):.3f}", f"{close} of {len(sizes)}", f"{max(sizes):.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _table(comparisons: Sequence[Comparison]) -> str:
    heading = (
        "| link | first flow | second flow | goodput, Mb/s: Linux | goodqueue | "
        "share of the first: Linux | goodqueue | difference |"
    )
    lines = "\n".join(map(_line, comparisons))
    return f"{heading}\n{'| --- ' * 8}|\n{lines}"


def _line(one: Comparison) -> str:
    first, second = one.row.flows
    ours = [fmean(run[name] for run in one.ours) for name in ("first", "second")]
    cells = [
        f"{one.row.rate_mbps} Mb/s, {one.row.queue}",
        f"{first.control}, {first.rtt_ms} ms",
        f"{second.control}, {second.rtt_ms} ms",
        f"{first.goodput_mbps:.2f}, {second.goodput_mbps:.2f}",
        f"{ours[0]:.2f}, {ours[1]:.2f}",
        f"{one.row.share:.2f}",
        one.share.text("{:.2f}".format),
        f"{one.difference:+.2f}",
    ]
    return "| " + " | ".join(cells) + " |"
