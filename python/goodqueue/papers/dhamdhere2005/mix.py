"""The paper's traffic on its link, at any number of flows, buffer, share and rate.

`mix.toml` has the traffic of section VII, and `local.toml` that of section III, which has no other
traffic than local flows. Beside what these files name, the local flows of a case are spread evenly
over the 18 sources, so that two flows are not the two nearest ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib.resources import files
from statistics import fmean, median
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.sizing.link import Link, as_in_theory
from goodqueue.study.plan import run_of, variant_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from goodqueue.study.model import Run, Variant
    from goodqueue.study.runner import Runner

SOURCES_MS = (
    *(20, 29, 41, 55, 72, 92, 114, 139, 166),
    *(197, 230, 265, 304, 344, 388, 433, 483, 534),
)
"""Base round-trip times of the shape `tree`, whose ends and mean are the paper's."""

RATE_BPS = 50e6
LOSS = 0.01
"""The bound on loss of figures 3 and 5 to 9."""

ALONE = 1.0
"""The share of local flows in section III, where no other traffic crosses the link."""

REMOTE, WINDOWED, SHORT = 0.4, 0.4, 0.2
"""Of what is not local: held back before the link, by their windows, and short."""

MSS, PACKET = 1460, 1500
WINDOWED_FLOWS, WINDOWED_RTT_S = 10, 2 * 0.217
"""Their round trip is that behind a full buffer of C T."""

METRICS = {
    "utilization": "target.utilization",
    "loss_rate": "target.loss_rate",
    "burst": "target.mean_loss_burst_packets",
    "median_burst": "target.p50_loss_burst_packets",
    "hit": "target.mean_flows_hit",
}


@dataclass(frozen=True, slots=True)
class Traffic:
    """What asks for a buffer: so many local flows with so much of the capacity."""

    flows: int
    local_share: float = 0.9
    rate_bps: float = RATE_BPS

    @property
    def sources(self) -> tuple[int, ...]:
        """The source of each local flow."""
        count = len(SOURCES_MS)
        return tuple((2 * flow + 1) * count // (2 * self.flows) for flow in range(self.flows))

    @property
    def link(self) -> Link:
        """The same, as sizing rules want it."""
        return as_in_theory(
            Link(
                self.rate_bps,
                tuple(SOURCES_MS[source] / 1000 for source in self.sources),
                self.flows,
                packet_bytes=PACKET,
                local_share=self.local_share,
                max_loss_rate=LOSS,
            )
        )

    @property
    def scenario(self) -> str:
        """The file that describes the network and the traffic."""
        return "local.toml" if self.local_share == ALONE else "mix.toml"

    def overrides(self) -> list[tuple[str, str]]:
        """What differs from the scenario's file, which is at 50 Mb/s; `mix.toml` has 90 % local."""
        leaves = ", ".join(f'"leaf{source}"' for source in self.sources)
        local = [
            ("topology.target.rate", f"{round(self.rate_bps)}bps"),
            ("flow.local.count", str(self.flows)),
            ("flow.local.from", f"[{leaves}]"),
        ]
        return local if self.local_share == ALONE else [*local, *self._others()]

    def _others(self) -> list[tuple[str, str]]:
        """What remote, window-limited and short flows send."""
        rest = (1 - self.local_share) * self.rate_bps
        windowed = WINDOWED * rest / WINDOWED_FLOWS * WINDOWED_RTT_S / (8 * PACKET)
        short = SHORT * rest / len(SOURCES_MS) * MSS / PACKET
        return [
            ("topology.link.remote.rate", f"{round(REMOTE * rest)}bps"),
            ("flow.windowed.tcp.receive_window", f"{round(windowed) * MSS}B"),
            ("flow.short.workload.load", f"{round(short)}bps"),
        ]


@dataclass(frozen=True, slots=True)
class Case:
    """Traffic and a buffer in packets."""

    traffic: Traffic
    packets: int


Figures = dict[str, float]


class Mix:
    """Runs cases.

    Attributes:
        seeds: replicates of each; figure 1 has twice as many, ten as in the paper.
        folder: where runs are kept.
    """

    def __init__(self, runner: Runner, seeds: int = 5) -> None:
        """Takes what runs what a store does not hold."""
        self._runner = runner
        self.folder = runner.folder
        self.seeds = seeds
        self._variants: dict[Case, Variant] = {}

    def replicates(self, cases: Iterable[Case], seeds: int) -> dict[Case, list[Figures]]:
        """The figures of each case under the seeds from 1 on; all that is missing runs at once."""
        cases = list(dict.fromkeys(cases))
        each = range(1, seeds + 1)
        found = self.figures((case, seed) for case in cases for seed in each)
        return {case: [found[case, seed] for seed in each] for case in cases}

    def figures(self, runs: Iterable[tuple[Case, int]]) -> dict[tuple[Case, int], Figures]:
        """The figures of cases under one seed each; all that is missing runs at once."""
        runs = list(dict.fromkeys(runs))
        planned = [self.run(case, seed) for case, seed in runs]
        values = self._runner.figures(planned, list(METRICS.values()))
        return {
            run: dict(zip(METRICS, one, strict=True)) for run, one in zip(runs, values, strict=True)
        }

    def run(self, case: Case, seed: int) -> Run:
        """A case under a seed, for executors."""
        return run_of(self._variant(case), seed)

    def _variant(self, case: Case) -> Variant:
        if case not in self._variants:
            overrides = [
                *case.traffic.overrides(),
                ("topology.target.queue.limit", f"{case.packets}p"),
            ]
            name = case.traffic.scenario
            text = files(__package__).joinpath(name).read_bytes()
            scenario = _core.Scenario.parse(text, name, overrides)
            parameters = {
                "flows": case.traffic.flows,
                "local_share": case.traffic.local_share,
                "rate_bps": case.traffic.rate_bps,
                "limit_packets": case.packets,
            }
            self._variants[case] = variant_of(scenario, parameters)
        return self._variants[case]


def classic(traffic: Traffic) -> Case:
    """With C T: where the paper measures what it sizes the buffer from."""
    return Case(traffic, int(traffic.link.bdp_packets))


def stanford(traffic: Traffic) -> Case:
    """With C T / sqrt(N)."""
    return Case(traffic, int(traffic.link.bdp_packets / math.sqrt(traffic.flows)))


def burst_of(replicates: Sequence[Figures]) -> float:
    """Mean length of a loss burst over replicates, in packets; those without a loss have none."""
    return _over(fmean, [one["burst"] for one in replicates])


def median_burst_of(replicates: Sequence[Figures]) -> float:
    """The median over replicates of each one's median length of a loss burst."""
    return _over(median, [one["median_burst"] for one in replicates])


def _over(average: Callable[[list[float]], float], values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return average(known) if known else math.nan
