"""Measures how the buffer for 99 % utilisation falls with the number of flows.

Appenzeller, Keslassy and McKeown (SIGCOMM 2004) state that it falls with the square root, for many
long flows that are not synchronised. This study runs each number of flows on one link behind a few
buffers around C T / sqrt(N). The buffer at which the idle share crosses 1 % is interpolated between
the logarithms of these buffers. Each seed gives such a buffer for every number of flows, and from
these one exponent. The interval of the exponent is Student's t over seeds.

The rule counts windows and not packets, so it ignores that flows send bursts. The flows here
therefore pace their packets. Bursts are one of the cases in which the rule does not hold; its own
check must notice these cases.
"""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from goodqueue.core.intervals import Interval, t_interval
from goodqueue.runs.settings import changed, scenario_of
from goodqueue.sizing.link import Link, as_in_theory, rtt_range
from goodqueue.sizing.trials.described import LINK, LONG, settings, tail_drop
from goodqueue.sizing.trials.length import EPOCHS, length
from goodqueue.study.plan import run_of, variant_of
from goodqueue.study.record.store import Store
from goodqueue.study.runner import Runner
from goodqueue.study.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodqueue.study.model import Variant

UTILIZATION = 0.99
RATE_BPS = 400e6
RTTS_S = (0.05, 0.15)
"""Shortest and longest round-trip time, in s; no two flows have the same."""

FLOWS = (16, 64, 256)
"""Numbers of flows, with 208 to 13 packets in flight per flow. Half of 13 leaves 6, and fast
retransmit needs 4."""

SHARES = (0.75, 1.1)
"""Buffers that are run, as multiples of C T / sqrt(N)."""

FEW, FEW_EPOCHS = 16, 7
"""Up to this many flows, each flow is measured for this many loss epochs. A burst hits a third of
the flows, so the link has 20 bursts in that time. With 20 epochs a replicate would have 30 million
packets."""

MORE_SHARES = (1.0, 1.6, 2.56)
"""Buffers that are run if the rule's buffer is too small, as multiples of it."""

LEAST_IDLE = 1e-6
"""Smallest idle share, because zero has no logarithm."""

PACKET_NOISE = 1 / (2 * (1 - UTILIZATION))
"""Buffer in packets that a link needs for this utilisation if single packets arrive as a Poisson
process at the link's rate, for any course of the windows (`rule.idle_from_bursts`). Many paced
flows come near such a process; few of them are more regular."""

SEEDS = 8
RUNS = Path("target/validation/root-n")
"""Folder of the stored replicates, from which an interrupted run resumes."""

METRICS = (
    f"{LINK}.utilization",
    f"{LINK}.loss_rate",
    f"{LINK}.mean_flows_hit",
)


@dataclass(frozen=True, slots=True)
class Case:
    """A link and its flows.

    Attributes:
        name: name of the special condition.
        link: the link.
        shares: buffers that are run, as multiples of the rule's.
        together: True if all flows start within a millisecond.
        epochs: number of loss epochs of a flow that are measured.
    """

    name: str
    link: Link
    shares: tuple[float, ...] = SHARES
    together: bool = False
    epochs: int = EPOCHS

    @property
    def rule(self) -> float:
        """The rule's buffer, C T / sqrt(N), in packets."""
        return self.link.bdp_packets / math.sqrt(self.link.flows)

    @property
    def limits(self) -> dict[int, float]:
        """The limits that are run, in packets, each with its multiple of the rule's."""
        return {max(round(share * self.rule), 1): share for share in self.shares}


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurements of a case.

    Attributes:
        case: the case.
        utilizations: utilisation under each seed, by limit in packets.
        loss_rate: share of packets lost at the limit nearest to the rule's.
        hit: share of the flows that a burst of losses hits at that limit.
    """

    case: Case
    utilizations: Mapping[int, Sequence[float]]
    loss_rate: float
    hit: float

    @property
    def crossings(self) -> list[float]:
        """The buffer for 99 % utilisation under each seed, in packets."""
        columns = zip(*self.utilizations.values(), strict=True)
        return [crossing(dict(zip(self.utilizations, one, strict=True))) for one in columns]

    @property
    def buffer(self) -> tuple[float, float, float]:
        """The buffer for 99 % utilisation in packets, and the ends of its 95 % interval."""
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
    """Returns cases with random starts, a different RTT for each flow, and paced packets."""
    return [
        Case(
            "out of step",
            _link(rate_bps, rtt_range(*RTTS_S, count), count),
            epochs=FEW_EPOCHS if count <= FEW else EPOCHS,
        )
        for count in flows
    ]


def cases_that_fail() -> list[Case]:
    """Returns a case of synchronised flows and a case of flows that send bursts."""
    one = (fmean(RTTS_S),)
    return [
        Case("in step", _link(RATE_BPS, one, 64), MORE_SHARES, together=True),
        Case("in bursts", _link(100e6, rtt_range(*RTTS_S, 64), 64, paced=False), MORE_SHARES),
    ]


def measured(cases: Sequence[Case], seeds: int, folder: Path = RUNS) -> list[Measured]:
    """Measures all cases; replicates that are stored already are not run again."""
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
    whole = length(case.link, limit, cold=True)  # Synchronised flows start at the same time.
    measured_s = (whole.duration_s - whole.start_up_s) * case.epochs / EPOCHS
    reach = replace(whole, duration_s=whole.start_up_s + measured_s)
    scenario = scenario_of(settings(case.link, limit, tail_drop(limit), reach), case.name)
    if case.together:
        scenario = changed(scenario, {f"flow.{LONG}.start_jitter": "1ms"})
    return variant_of(scenario, {"limit_packets": limit}, limit)


def nearest(case: Case) -> int:
    """Returns the limit that is nearest to the rule's, by ratio."""
    return min(case.limits, key=lambda limit: abs(math.log(limit / case.rule)))


def crossing(utilizations: Mapping[int, float], target: float = UTILIZATION) -> float:
    """Returns the buffer, in packets, at which the utilisation reaches the target.

    Straight lines join the points in the logarithms of idle share and buffer; the first and the
    last line extend beyond the points. If the target is crossed more than once, the last crossing
    counts, beyond which the target is kept.
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
    """Returns the least-squares slope of log B against log N, with a 95 % interval over seeds.

    Args:
        measured: measurements at several numbers of flows.
        less: packets that are first subtracted from every buffer.
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
