"""What became of each rule's buffer where it was run, and what was said of it beforehand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goodqueue.sizing.answer.answer import PROMISED, SURE
from goodqueue.sizing.calibrated.record import Record
from goodqueue.sizing.calibrated.smallest import chances_kept
from goodqueue.sizing.rules import RULES
from research.rules_on_trial.fit import without_link

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goodqueue.sizing.calibrated.surface import Surfaces
    from research.rules_on_trial.data import OfLink

CLEARLY = 1.25
"""A promise is clearly broken if the idle share or the loss is so many times what is allowed."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One rule on one link.

    Attributes:
        rule: its name.
        link: number of the link.
        held: whether all its assumptions held that can be checked.
        kept: whether utilisation and loss kept what was asked for at its buffer, by the means.
        clearly_broken: whether idle share or loss were more than 1.25 times what is allowed.
        chance: the probability of keeping it by surfaces that have not seen the link.
        flows: long flows.
        bdp: packets of a bandwidth-delay product.
        window: packets in flight per flow with the queue full.
        loss_bounded: whether a bound on loss was asked for.
        alone: whether the long flows had the link for themselves.
        as_in_theory: whether its TCP is what the rules assume: Reno of the RFCs, growth per ACK.
    """

    rule: str
    link: int
    held: bool
    kept: bool
    clearly_broken: bool
    chance: float
    flows: int
    bdp: float
    window: float
    loss_bounded: bool
    alone: bool
    as_in_theory: bool

    @property
    def said_to_hold(self) -> bool:
        """Whether the table of rules says that it holds: calibrated theory does not doubt it."""
        return self.held and self.chance >= SURE


def trials(links: Iterable[OfLink], made: Surfaces) -> list[Trial]:
    """Every rule on every link where its buffer was run."""
    found = []
    for one in links:
        means, table = one.means(), without_link(made, one.index)
        run = [
            (rule, advice, packets)
            for rule, advice in ((rule, rule.advise(one.link)) for rule in RULES)
            if (packets := advice.whole_packets) is not None and packets in means
        ]
        if not run:
            continue
        chances = chances_kept(one.link, np.array([float(packets) for *_, packets in run]), table)
        for place, (rule, advice, packets) in enumerate(run):
            utilization, loss_rate, _ = means[packets]
            allowed = 1 - one.link.min_utilization
            most = one.link.max_loss_rate
            misses = [(1 - utilization) / allowed]
            if most is not None:
                misses.append(loss_rate / most)
            found.append(
                Trial(
                    rule=rule.name,
                    link=one.index,
                    held=advice.holds,
                    kept=max(misses) <= 1,
                    clearly_broken=max(misses) > CLEARLY,
                    chance=min(float(chances[name][place]) for name in PROMISED if name in chances),
                    flows=one.link.flows,
                    bdp=one.link.bdp_packets,
                    window=(one.link.local_bdp_packets + packets) / one.link.flows,
                    loss_bounded=one.link.max_loss_rate is not None,
                    alone=one.link.local_share == 1,
                    as_in_theory=(one.link.profile, one.link.congestion_control) == ("rfc", "reno")
                    and not one.link.byte_counting,
                )
            )
    return found


def records(found: Iterable[Trial]) -> dict[str, Record]:
    """The record of each rule, in the order of the rules."""
    by_rule: dict[str, list[Trial]] = {rule.name: [] for rule in RULES}
    for one in found:
        by_rule[one.rule].append(one)
    return {
        name: Record(
            held=sum(one.held for one in of_rule),
            held_kept=sum(one.held and one.kept for one in of_rule),
            run=len(of_rule),
            run_kept=sum(one.kept for one in of_rule),
        )
        for name, of_rule in by_rule.items()
        if of_rule
    }


def wilson(part: int, whole: int, deviations: float = 1.96) -> tuple[float, float]:
    """The 95 % interval of a share by Wilson's score: within 0 and 1 and good for few."""
    if not whole:
        return 0.0, 1.0
    share, square = part / whole, deviations * deviations
    middle = (share + square / (2 * whole)) / (1 + square / whole)
    half = (
        deviations
        * math.sqrt(share * (1 - share) / whole + square / (4 * whole * whole))
        / (1 + square / whole)
    )
    return max(middle - half, 0.0), min(middle + half, 1.0)


@dataclass(frozen=True, slots=True)
class Reliability:
    """Links of which about the same was said.

    Attributes:
        said: the mean probability that was given.
        seen: the share that was kept.
        links: how many.
    """

    said: float
    seen: float
    links: int


def reliability(pairs: Sequence[tuple[float, bool]], bins: int = 10) -> list[Reliability]:
    """What was said beside what was seen, in bins of equal width that hold any."""
    parts: list[list[tuple[float, bool]]] = [[] for _ in range(bins)]
    for said, seen in pairs:
        parts[min(int(said * bins), bins - 1)].append((said, seen))
    return [
        Reliability(
            math.fsum(said for said, _ in part) / len(part),
            sum(seen for _, seen in part) / len(part),
            len(part),
        )
        for part in parts
        if part
    ]
