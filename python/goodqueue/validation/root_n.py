"""Does the buffer for 99 % utilisation fall with the root of the number of flows?

Appenzeller, Keslassy and McKeown (SIGCOMM 2004) say so of many long flows out of step. On one
link, each number of flows runs behind a few buffers around C T / sqrt(N); where the idle share
crosses 1 % is interpolated between their logarithms. Every seed gives such a curve for every
number of flows, and from them one exponent: the interval is that of Student's t over seeds.

The rule counts windows, not packets: it leaves out that flows send in bursts. So these flows pace
their packets; what bursts do is among the cases in which the rule does not hold, which it must
notice itself.
"""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.intervals import Interval, t_interval
from goodqueue.sizing.link import Link, as_in_theory, rtt_range
from goodqueue.sizing.trial import EPOCHS, LINK, LONG, length, scenario_toml
from goodqueue.study.plan import run_of, variant_of
from goodqueue.study.runner import Runner
from goodqueue.study.store import Store
from goodqueue.study.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodqueue.study.model import Variant

UTILIZATION = 0.99
RATE_BPS = 400e6
RTTS_S = (0.05, 0.15)
"""The shortest and the longest round trip: no two flows have the same."""

FLOWS = (16, 64, 256)
"""From 208 to 13 packets in flight per flow: halved, 6 are left, and a loss needs 4 for its fast
retransmit."""

SHARES = (0.75, 1.1)
"""Of C T / sqrt(N), the buffers that are run."""

FEW, FEW_EPOCHS = 16, 7
"""So few flows are measured for so many loss epochs of each. A burst hits a third of them: the link
loses 20 times in that time. With 20 epochs a replicate would have 30 million packets."""

MORE_SHARES = (1.0, 1.6, 2.56)
"""Where the rule asks for too little."""

LEAST_IDLE = 1e-6
"""An idle share of zero has no logarithm."""

PACKET_NOISE = 1 / (2 * (1 - UTILIZATION))
"""Packets of buffer that a link needs to be busy so much of the time if single packets come as a
Poisson process at its own rate, whatever windows do (`rule.idle_from_bursts`). Paced flows come
nearer to that the more they are; few of them are more regular."""

SEEDS = 8
RUNS = Path("target/validation/root-n")
"""Where replicates are kept: what was interrupted goes on."""

METRICS = (
    f"{LINK}.utilization",
    f"{LINK}.loss_rate",
    f"{LINK}.mean_flows_hit",
)


@dataclass(frozen=True, slots=True)
class Case:
    """A link and its flows.

    Attributes:
        name: what is special.
        link: the link.
        shares: the buffers that are run, as shares of the rule's.
        together: whether all flows start within a millisecond.
        epochs: loss epochs of a flow that are measured.
    """

    name: str
    link: Link
    shares: tuple[float, ...] = SHARES
    together: bool = False
    epochs: int = EPOCHS

    @property
    def rule(self) -> float:
        """C T / sqrt(N), in packets."""
        return self.link.bdp_packets / math.sqrt(self.link.flows)

    @property
    def limits(self) -> dict[int, float]:
        """The limits that are run, in packets, each with its share."""
        return {max(round(share * self.rule), 1): share for share in self.shares}


@dataclass(frozen=True, slots=True)
class Measured:
    """What was found of a case.

    Attributes:
        case: the case.
        utilizations: by limit, one per seed.
        loss_rate: the share of packets lost at the limit nearest to the rule's.
        hit: the share of the flows that a burst of losses hits there.
    """

    case: Case
    utilizations: Mapping[int, Sequence[float]]
    loss_rate: float
    hit: float

    @property
    def crossings(self) -> list[float]:
        """The buffer for 99 % by each seed, in packets."""
        columns = zip(*self.utilizations.values(), strict=True)
        return [crossing(dict(zip(self.utilizations, one, strict=True))) for one in columns]

    @property
    def buffer(self) -> tuple[float, float, float]:
        """The buffer for 99 % in packets, and the ends of its 95 % interval."""
        logs = t_interval([math.log(one) for one in self.crossings])
        return math.exp(logs.mean), math.exp(logs.low), math.exp(logs.high)

    @property
    def at_the_rule(self) -> Interval:
        """Utilisation at the limit nearest to the rule's, with a 95 % interval."""
        return t_interval(self.utilizations[nearest(self.case)])


def _link(rate_bps: float, rtts_s: tuple[float, ...], flows: int, *, paced: bool = True) -> Link:
    link = Link(rate_bps, rtts_s, flows, min_utilization=UTILIZATION, paced=paced)
    return as_in_theory(link)


def out_of_step(rate_bps: float = RATE_BPS, flows: Sequence[int] = FLOWS) -> list[Case]:
    """Random starts, a round-trip time of its own for each flow, and packets spread over it."""
    return [
        Case(
            "out of step",
            _link(rate_bps, rtt_range(*RTTS_S, count), count),
            epochs=FEW_EPOCHS if count <= FEW else EPOCHS,
        )
        for count in flows
    ]


def cases_that_fail() -> list[Case]:
    """Flows in step, and flows that send in bursts."""
    one = (fmean(RTTS_S),)
    return [
        Case("in step", _link(RATE_BPS, one, 64), MORE_SHARES, together=True),
        Case("in bursts", _link(100e6, rtt_range(*RTTS_S, 64), 64, paced=False), MORE_SHARES),
    ]


def measured(cases: Sequence[Case], seeds: int, folder: Path = RUNS) -> list[Measured]:
    """Runs what is not known yet."""
    with closing(Store.open(folder, keep_both=True)) as store:
        return measure(Runner(store, Threads()), cases, seeds)


def measure(runner: Runner, cases: Sequence[Case], seeds: int) -> list[Measured]:
    """Runs all cases at all their limits."""
    places = [(case, limit) for case in cases for limit in case.limits]
    variants = [_variant(case, limit) for case, limit in places]
    runs = [run_of(variant, seed) for variant in variants for seed in range(1, seeds + 1)]
    found = runner.figures(runs, METRICS)
    by_place = {
        place: found[index * seeds : (index + 1) * seeds] for index, place in enumerate(places)
    }
    return [
        Measured(
            case,
            {limit: [one[0] for one in by_place[case, limit]] for limit in case.limits},
            fmean(one[1] for one in by_place[case, nearest(case)]),
            fmean(one[2] for one in by_place[case, nearest(case)]) / case.link.flows,
        )
        for case in cases
    ]


def _variant(case: Case, limit: int) -> Variant:
    whole = length(case.link, limit, cold=True)  # flows in step start in step
    measured_s = (whole.duration_s - whole.start_up_s) * case.epochs / EPOCHS
    reach = replace(whole, duration_s=whole.start_up_s + measured_s)
    text = scenario_toml(case.link, limit, f'{{ limit = "{limit}p" }}', reach)
    changes = [(f"flow.{LONG}.start_jitter", "1ms")] if case.together else []
    scenario = _core.Scenario.parse(text.encode(), case.name, changes)
    return variant_of(scenario, {"limit_packets": limit}, limit)


def nearest(case: Case) -> int:
    """The limit that comes nearest to the rule's."""
    return min(case.limits, key=lambda limit: abs(math.log(limit / case.rule)))


def crossing(utilizations: Mapping[int, float], target: float = UTILIZATION) -> float:
    """Where a curve of utilisation against packets reaches the target.

    Straight lines join the logarithms of idle share and buffer; the outer two reach beyond the
    curve. The last crossing counts: from there on the target is kept.
    """
    points = [
        (math.log(limit), math.log(max(1 - busy, LEAST_IDLE)))
        for limit, busy in sorted(utilizations.items())
    ]
    aim = math.log(1 - target)
    lines = list(pairwise(points))
    failing = [index for index, point in enumerate(points) if point[1] > aim]
    at = min(max(failing, default=0), len(lines) - 1)
    (left, idle), (right, less) = lines[at]
    if less >= idle:
        raise ValueError("utilisation does not rise with the buffer: more seeds or wider limits")
    return math.exp(left + (aim - idle) * (right - left) / (less - idle))


def exponent(measured: Sequence[Measured], less: float = 0.0) -> Interval:
    """The slope of log B against log N by least squares, with a 95 % interval over seeds.

    Args:
        measured: of several numbers of flows.
        less: packets that are taken off every buffer first.
    """
    logs = [math.log(one.case.link.flows) for one in measured]
    middle = fmean(logs)
    spread = math.fsum((log - middle) ** 2 for log in logs)
    slopes = [
        math.fsum(
            (log - middle) * math.log(packets - less)
            for log, packets in zip(logs, seed, strict=True)
        )
        / spread
        for seed in zip(*(one.crossings for one in measured), strict=True)
    ]
    return t_interval(slopes)
