"""The paper's traffic on its link, for any number of flows, buffer, local share and rate.

`mix.toml` has the traffic of section VII, and `local.toml` that of section III, which has local
flows only. A case spreads its local flows evenly over the 18 sources, so that two flows do not both
come from the nearest sources.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib.resources import files
from statistics import fmean, median
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.papers.dhamdhere2005.trees import CHOSEN, USUAL, Tree
from goodqueue.sizing.link import Link, as_in_theory
from goodqueue.study.plan import run_of, variant_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from goodqueue.study.model import Run, Variant
    from goodqueue.study.runner import Runner

RATE_BPS = 50e6
LOSS = 0.01
"""Bound on the loss rate in figures 3 and 5 to 9."""

ALONE = 1.0
"""Share of local flows in section III, where no other traffic crosses the link."""

REMOTE, WINDOWED, SHORT = 0.4, 0.4, 0.2
"""Shares of the traffic that is not local: bottlenecked before the link, limited by their windows,
and short flows."""

MSS, PACKET = 1460, 1500
FAR_MS = 217
"""Round-trip time of remote and window-limited flows, in ms: the mean of the sources."""

WINDOWED_FLOWS, WINDOWED_RTT_S = 10, 2 * FAR_MS / 1000
"""The round-trip time of window-limited flows, in seconds, includes a full buffer of C T."""

TRUTH, ESTIMATES = "from the scenario", "from captures"
"""Sources of the values from which the buffer of a second run is computed."""

METRICS = {
    "utilization": "target.utilization",
    "loss_rate": "target.loss_rate",
    "burst": "target.mean_loss_burst_packets",
    "median_burst": "target.p50_loss_burst_packets",
    "hit": "target.mean_flows_hit",
}


@dataclass(frozen=True, slots=True)
class Traffic:
    """The traffic that needs a buffer: a number of local flows, and their share of the capacity."""

    flows: int
    local_share: float = 0.9
    rate_bps: float = RATE_BPS
    tree: Tree = USUAL

    @property
    def sources(self) -> tuple[int, ...]:
        """The index of each local flow's source."""
        count = len(self.tree.rtts_ms)
        return tuple((2 * flow + 1) * count // (2 * self.flows) for flow in range(self.flows))

    @property
    def link(self) -> Link:
        """The traffic as a link for the sizing rules."""
        return as_in_theory(
            Link(
                self.rate_bps,
                tuple(self.tree.rtts_ms[source] / 1000 for source in self.sources),
                self.flows,
                packet_bytes=PACKET,
                local_share=self.local_share,
                max_loss_rate=LOSS,
            )
        )

    @property
    def scenario(self) -> str:
        """Name of the scenario file with the network and the traffic."""
        return "local.toml" if self.local_share == ALONE else "mix.toml"

    def overrides(self) -> list[tuple[str, str]]:
        """Returns the settings that differ from the file's (50 Mb/s; `mix.toml`: 90 % local)."""
        leaves = ", ".join(f'"leaf{source}"' for source in self.sources)
        rtts = ", ".join(f'"{rtt}ms"' for rtt in self.tree.rtts_ms)
        local = [
            ("topology.rtts", f"[{rtts}]"),
            ("topology.target.rate", f"{round(self.rate_bps)}bps"),
            ("flow.local.count", str(self.flows)),
            ("flow.local.from", f"[{leaves}]"),
        ]
        return local if self.local_share == ALONE else [*local, *self._others()]

    def _others(self) -> list[tuple[str, str]]:
        """Returns the overrides for the remote, window-limited and short flows."""
        rest = (1 - self.local_share) * self.rate_bps
        windowed = WINDOWED * rest / WINDOWED_FLOWS * WINDOWED_RTT_S / (8 * PACKET)
        short = SHORT * rest / len(self.tree.rtts_ms) * MSS / PACKET
        before = max(rtt for rtt in self.tree.rtts_ms if rtt < FAR_MS)
        leaf = self.tree.rtts_ms.index(before)
        return [
            *(
                setting
                for link in ("remote", "free")
                for setting in (
                    (f"topology.link.{link}.to", f"leaf{leaf}"),
                    (f"topology.link.{link}.delay", f"{500 * (FAR_MS - before)}us"),
                )
            ),
            ("topology.link.remote.rate", f"{round(REMOTE * rest)}bps"),
            ("flow.windowed.tcp.receive_window", f"{round(windowed) * MSS}B"),
            ("flow.short.workload.load", f"{round(short)}bps"),
        ]


@dataclass(frozen=True, slots=True)
class Case:
    """Traffic behind a buffer of `packets` packets."""

    traffic: Traffic
    packets: int


Figures = dict[str, float]


class Mix:
    """Runs cases.

    Attributes:
        seeds: number of replicates of each case; figure 1 has twice as many, ten as in the paper.
        folder: folder of the stored runs.
        tree: sources of the traffic.
    """

    def __init__(self, runner: Runner, seeds: int = 5, tree: Tree = CHOSEN) -> None:
        """Takes the runner, which runs what its store lacks."""
        self.tree = tree
        self._runner = runner
        self.folder = runner.folder
        self.seeds = seeds
        self._variants: dict[Case, Variant] = {}

    def traffic(self, flows: int, local_share: float = 0.9, rate_bps: float = RATE_BPS) -> Traffic:
        """Returns traffic from the sources of this mix's tree."""
        return Traffic(flows, local_share, rate_bps, self.tree)

    def replicates(self, cases: Iterable[Case], seeds: int) -> dict[Case, list[Figures]]:
        """Returns the figures of each case under seeds 1 to `seeds`; missing runs start at once."""
        cases = list(dict.fromkeys(cases))
        each = range(1, seeds + 1)
        found = self.figures((case, seed) for case in cases for seed in each)
        return {case: [found[case, seed] for seed in each] for case in cases}

    def figures(self, runs: Iterable[tuple[Case, int]]) -> dict[tuple[Case, int], Figures]:
        """Returns the figures of each pair of a case and a seed; missing runs start at once."""
        runs = list(dict.fromkeys(runs))
        planned = [self.run(case, seed) for case, seed in runs]
        values = self._runner.figures(planned, list(METRICS.values()))
        return {
            run: dict(zip(METRICS, one, strict=True)) for run, one in zip(runs, values, strict=True)
        }

    def run(self, case: Case, seed: int) -> Run:
        """Returns the run of a case under a seed, for executors."""
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
            parameters: dict[str, str | int | float | bool] = {
                "flows": case.traffic.flows,
                "local_share": case.traffic.local_share,
                "rate_bps": case.traffic.rate_bps,
                "limit_packets": case.packets,
                "tree": case.traffic.tree.name,
            }
            self._variants[case] = variant_of(scenario, parameters)
        return self._variants[case]


def classic(traffic: Traffic) -> Case:
    """Returns the case with a buffer of C T, behind which the paper measures its rule's inputs."""
    return Case(traffic, int(traffic.link.bdp_packets))


def stanford(traffic: Traffic) -> Case:
    """Returns the case with a buffer of C T / sqrt(N)."""
    return Case(traffic, int(traffic.link.bdp_packets / math.sqrt(traffic.flows)))


def burst_of(replicates: Sequence[Figures]) -> float:
    """Returns the mean length of a loss burst over replicates, in packets; NaN without losses."""
    return _over(fmean, [one["burst"] for one in replicates])


def median_burst_of(replicates: Sequence[Figures]) -> float:
    """Returns the median over replicates of their median loss burst, in packets; NaN if none."""
    return _over(median, [one["median_burst"] for one in replicates])


def _over(average: Callable[[list[float]], float], values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return average(known) if known else math.nan
