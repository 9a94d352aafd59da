"""Record of the rules: the result of each rule's buffer, and the prediction for it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evidence.rules_on_trial.fitting.fit import without_link
from evidence.rules_on_trial.plan import CLASSIC_RULES
from goodqueue.sizing.answer.parts import PROMISED, SURE
from goodqueue.sizing.calibrated.record import Record
from goodqueue.sizing.calibrated.smallest import chances_kept

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evidence.rules_on_trial.fitting.data import OfLink
    from goodqueue.sizing.calibrated.surface import Surfaces

CLEARLY = 1.25
"""Factor on the allowed idle share or loss above which a promise is clearly broken."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One rule on one link.

    Attributes:
        rule: its name.
        link: number of the link.
        held: True if all its assumptions that can be checked held.
        kept: True if the mean utilisation and loss kept the bounds at its buffer.
        clearly_broken: True if idle share or loss were more than 1.25 times the allowed value.
        chance: the probability of keeping it by surfaces that were not fitted to the link.
        flows: long flows.
        bdp: packets of a bandwidth-delay product.
        window: packets in flight per flow with the queue full.
        loss_bounded: True if there was a bound on loss.
        alone: True if the long flows were the only traffic.
        as_in_theory: True if its TCP is that of the rules: Reno of the RFCs, growth per ACK.
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
        """True if the rule holds: all its checks pass, and calibrated theory does not doubt it."""
        return self.held and self.chance >= SURE


def trials(links: Iterable[OfLink], made: Surfaces) -> list[Trial]:
    """Returns every rule on every link on which its buffer was run."""
    found = []
    for one in links:
        means, table = one.means(), without_link(made, one.index)
        run = [
            (rule, advice, packets)
            for rule, advice in ((rule, rule.advise(one.link)) for rule in CLASSIC_RULES)
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
    """Returns the record of each rule, in the order of the rules."""
    by_rule: dict[str, list[Trial]] = {rule.name: [] for rule in CLASSIC_RULES}
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
    """Returns Wilson's 95 % interval of a share, which is accurate for few samples."""
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
    """Links with about the same prediction.

    Attributes:
        said: the mean predicted probability.
        seen: the share of kept promises.
        links: number of links.
    """

    said: float
    seen: float
    links: int


def reliability(pairs: Sequence[tuple[float, bool]], bins: int = 10) -> list[Reliability]:
    """Returns predictions and results, in non-empty bins of equal width."""
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
