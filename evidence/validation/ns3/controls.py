"""Comparison with ns-3: links, runs of both simulators, and criteria."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evidence.validation.compare import estimate
from evidence.validation.simulators import package_version
from goodqueue.runs.api import load

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evidence.validation.compare import Estimate
    from evidence.validation.simulators import Figures
    from goodqueue._core import Cancel

SOURCE = Path("tools/ns3/dumbbell.cc")
SCENARIO = "scenarios/ns3.toml"
BUILT = Path("target/ns3")
MODULES = ("core", "network", "internet", "point-to-point", "traffic-control", "applications")
METRICS = ("utilization", "goodput_bps", "mean_backlog_packets", "loss_rate")
TOLERANCE = {"goodput_bps": 0.03, "mean_backlog_packets": 0.10, "loss_rate": 0.10}
"""Relative difference from ns-3's figure that counts as agreement."""
WITH_ERRORS = ("mean_backlog_packets", "loss_rate")
"""Figures whose tolerance also includes three standard errors of the difference."""


_SSTHRESH = "--ns3::TcpSocket::InitialSlowStartThreshold=584000"  # 400 segments


class Ns3Error(RuntimeError):
    """ns-3 could not be built, failed, or printed something unexpected."""


@dataclass(frozen=True)
class Case:
    """One link with its flows, for both simulators.

    Attributes:
        name: name in tables.
        rate: rate of the bottleneck, in Mb/s.
        rtt: base round-trip time, in ms.
        buffer: limit of the queue, in packets.
        flows: number of flows.
        duration: length of a run, in s.
        ns3: further arguments of tools/ns3/dumbbell.cc.
        ours: further overrides of scenarios/ns3.toml.
        seeds: largest number of runs of each simulator; runs of one flow may hardly depend on the
            seed.
        shown: interval that the picture shows, in s; None if there is no picture.
    """

    name: str
    rate: int
    rtt: int
    buffer: int
    flows: int
    duration: int
    ns3: tuple[str, ...]
    ours: Mapping[str, object] = field(default_factory=dict)
    seeds: int = 10
    shown: tuple[int, int] | None = None

    @property
    def arguments(self) -> list[str]:
        """The arguments of the program for ns-3, without the seed."""
        link = ("flows", "rate", "rtt", "buffer", "duration")
        return [f"--{key}={getattr(self, key)}" for key in link] + [_SSTHRESH, *self.ns3]

    @property
    def overrides(self) -> dict[str, object]:
        """The overrides of the scenario."""
        return {
            "topology.bottleneck.rate": f"{self.rate}Mbps",
            "topology.bottleneck.queue.limit": f"{self.buffer}p",
            "flow.bulk.rtt": f"{self.rtt}ms",
            "flow.bulk.count": self.flows,
            "duration": f"{self.duration}s",
            **self.ours,
        }


# ns-3 passes the smoothed RTT to congestion controls as the latest one; with a gain of 1 they are
# equal.
_EXACT_RTT = "--ns3::RttMeanDeviation::Alpha=1"
_BBR = ("--control=TcpBbr", _EXACT_RTT)
_VEGAS = ("--control=TcpVegas", _EXACT_RTT)
_NEVER = "3000s"

CASES = (
    Case(
        "CUBIC",
        *(50, 80, 333, 1, 200),
        ("--control=TcpCubic", "--ns3::TcpCubic::HyStart=false"),
        seeds=2,
        shown=(0, 80),
    ),
    Case("BBR", *(10, 40, 133, 1, 100), _BBR, {"tcp.congestion_control": "bbr"}, shown=(0, 14)),
    Case(
        "BBR, no PROBE_RTT",
        *(10, 40, 133, 1, 100),
        (*_BBR, f"--ns3::TcpBbr::RttWindowLength={_NEVER}"),
        {"tcp.congestion_control": {"kind": "bbr", "probe_rtt_interval": _NEVER}},
    ),
    Case(
        "Vegas",
        *(10, 40, 133, 1, 100),
        _VEGAS,
        {"tcp.congestion_control": "vegas"},
        seeds=2,
        shown=(0, 12),
    ),
    Case("Vegas, 4 flows", *(10, 40, 133, 4, 100), _VEGAS, {"tcp.congestion_control": "vegas"}),
)


@dataclass(frozen=True)
class Comparison:
    """All runs of one case."""

    case: Case
    ns3: Sequence[Figures]
    ours: Sequence[Figures]

    def theirs(self, metric: str) -> Estimate:
        """Returns the estimate of ns-3's figure over seeds."""
        return estimate(self.ns3, metric)

    def figure(self, metric: str) -> Estimate:
        """Returns the estimate of our figure over seeds."""
        return estimate(self.ours, metric)

    def allowed(self, metric: str) -> float:
        """Returns the largest difference that counts as agreement, in the unit of the figure."""
        theirs, ours = self.theirs(metric), self.figure(metric)
        errors = 3 * math.hypot(theirs.error, ours.error) if metric in WITH_ERRORS else 0.0
        return TOLERANCE[metric] * theirs.mean + errors

    def agrees(self, metric: str) -> bool:
        """Returns True if the difference is allowed; utilisation is not judged."""
        if metric not in TOLERANCE:
            return True
        difference = abs(self.figure(metric).mean - self.theirs(metric).mean)
        return difference <= self.allowed(metric)


def missing() -> list[str]:
    """Returns the prerequisites that are missing, each with the command that installs it."""
    compiler = shutil.which("g++")
    if compiler is None:
        return ["`g++` (Debian: apt-get install g++)"]
    command = [compiler, "-E", "-x", "c++", "-o", "/dev/null", "-"]
    include = "#include <ns3/core-module.h>\n"
    answer = subprocess.run(command, input=include, capture_output=True, text=True, check=False)  # noqa: S603 - a fixed command
    lacks = [] if answer.returncode == 0 else ["ns-3 (Debian: apt-get install libns3-dev)"]
    if not SOURCE.is_file():
        lacks.append(f"{SOURCE} (run this in the root of the source tree)")
    return lacks


def build_command(program: Path) -> list[str]:
    """Returns the command that builds the program for ns-3."""
    libraries = [f"-lns3-{module}" for module in MODULES]
    return ["g++", "-O2", "-std=c++17", "-o", str(program), str(SOURCE), *libraries]


def build() -> Path:
    """Builds the program for ns-3, unless it exists for this source and this version of ns-3."""
    inputs = SOURCE.read_bytes() + package_version("libns3-dev").encode()
    program = BUILT / f"dumbbell-{hashlib.sha256(inputs).hexdigest()[:16]}"
    if not program.exists():
        BUILT.mkdir(parents=True, exist_ok=True)
        unfinished = program.with_suffix(".new")
        output(build_command(unfinished))
        unfinished.rename(program)
    return program


def output(command: Sequence[str]) -> str:
    """Runs a command and returns its output; Ctrl-C also interrupts the command."""
    run = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    if run.returncode != 0:
        said = (run.stderr or run.stdout).strip() or f"exit code {run.returncode}"
        raise Ns3Error(f"{' '.join(command)}: {said}")
    return run.stdout


def figures(text: str) -> Figures:
    """Reads the figures from the output of the program for ns-3."""
    try:
        said: dict[str, Any] = json.loads(text)
        return {metric: float(said[metric]) for metric in METRICS}
    except (ValueError, KeyError) as error:
        raise Ns3Error(f"ns-3 printed no figures ({error!r}): {text.strip()[:200]!r}") from None


def run_ns3(program: Path, case: Case, seed: int, _cancel: Cancel) -> Figures:
    """Returns the figures of one run of ns-3."""
    return figures(output([str(program), *case.arguments, f"--seed={seed}"]))


def run_ours(case: Case, seed: int, cancel: Cancel) -> Figures:
    """Returns the figures of one run of goodqueue."""
    scenario = load(SCENARIO, set=case.overrides, seed=seed)
    summary = json.loads(scenario.run(cancel=cancel).summary_json())
    link, flows = summary["links"]["bottleneck"], summary["flows"].values()
    return {
        "utilization": link["utilization"],
        "goodput_bps": sum(flow["goodput_bps"] for flow in flows) / len(flows),
        "mean_backlog_packets": link["mean_backlog_packets"],
        "loss_rate": link["loss_rate"],
    }


def verdict(comparisons: Sequence[Comparison]) -> list[str]:
    """Describes each criterion that does not hold."""
    return [
        f"ns-3, {comparison.case.name}: {metric.replace('_', ' ')} "
        f"{comparison.figure(metric).mean:.5g}, ns-3 {comparison.theirs(metric).mean:.5g}, "
        f"allowed ± {comparison.allowed(metric):.3g}"
        for comparison in comparisons
        for metric in TOLERANCE
        if not comparison.agrees(metric)
    ]
