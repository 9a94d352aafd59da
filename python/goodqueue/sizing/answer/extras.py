"""The parts beside an answer: other hosts, the rules' buffers, other queues and changed links."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from goodqueue.sizing.answer.effort import MAX_REPLICATES
from goodqueue.sizing.answer.facts import GOOD_LOSS, LONG_DELAY_S, MUCH_LOSS, Guard
from goodqueue.sizing.answer.parts import Alternative, Change, RuleAnswer, figures_at
from goodqueue.sizing.answer.world import by_theory, paired
from goodqueue.sizing.calibrated.smallest import calibrated
from goodqueue.sizing.search.bounds import targets
from goodqueue.sizing.search.budget import BudgetSpent
from goodqueue.sizing.search.reach import (
    FARTHEST,
    expected_packets,
    first_reach,
    last_reach,
)
from goodqueue.sizing.search.smallest import smallest
from goodqueue.sizing.search.trials import COARSE_REPLICATES, FIRST_REPLICATES, Trials

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from goodqueue.core.intervals import Interval
    from goodqueue.sizing.answer.world import World
    from goodqueue.sizing.link import Link
    from goodqueue.sizing.search.laboratory import Laboratory
    from goodqueue.sizing.search.trials import Target

MAX_TRIED = 3
"""Largest number of buffers that are run for one change of the hosts."""

USUAL_SLOPE, MIN_SLOPE = -1.0, 0.3
"""Assumed change of the miss (`Target.miss`) with the logarithm of the buffer before two buffers
were run, and the smallest fall that is believed: few replicates of a flat curve show any slope."""

BEYOND = 1.5
"""Largest factor by which a buffer for other hosts lies outside those that were run."""

SAME = 0.05
"""Logarithm of the ratio of two buffers that count as the same: a step of the grid."""

GOOD_WINDOW = 12
"""Mean window in packets of a Reno flow with a loss of 1 %: 1.2 / sqrt(p)."""

AROUND = 8
"""Largest factor between the expected buffer and those that are tried for other hosts."""

MIN_HOSTS = 4
"""Smallest number of changes of the hosts that give an interval if the budget ends."""

WORLD_SHARE = 0.25
"""Length of the paired runs over other hosts, as a share of full replicates: five loss epochs."""


def simulate_rules(
    link: Link,
    trials: Trials,
    rules: Sequence[RuleAnswer],
    laboratory: Laboratory,
    most_replicates: int = MAX_REPLICATES,
) -> None:
    """Runs replicates at the rules' buffers to which the engine applies."""
    limits = {one.advice.whole_packets for one in rules}
    known = sorted(limit for limit in limits if limit is not None)
    wanted = [limit for limit in known if laboratory.why_not(link, limit) is None]
    trials.ensure(wanted, min(FIRST_REPLICATES, most_replicates))


def simulated(link: Link, trials: Trials, one: RuleAnswer, laboratory: Laboratory) -> RuleAnswer:
    """Returns a rule's answer with the figures at its buffer, if that was run."""
    packets = one.advice.whole_packets
    if packets is None:
        return one
    why_not = laboratory.why_not(link, packets)
    if why_not is None and packets not in trials.replicates:
        why_not = "the search was stopped before it"
    if why_not is not None:
        return replace(one, why_not=why_not)
    helped, hurt = targets(link)
    figures, broken = figures_at(trials, packets), trials.unmet(packets, [*helped, *hurt])
    return replace(one, simulated=figures, unmet=broken, engine=laboratory.engine)


def try_queue(
    link: Link, laboratory: Laboratory, queue: str, most_replicates: int = MAX_REPLICATES
) -> Alternative:
    """Simulates a queue discipline with its defaults in place of the link's."""
    why_not = laboratory.why_not(link, 1, queue)
    if why_not is not None:
        return Alternative(queue, {}, (), why_not=why_not)
    trials = Trials(laboratory.sampler(link, queue))
    trials.ensure([0], min(FIRST_REPLICATES, most_replicates))
    helped, hurt = targets(link)
    broken = trials.unmet(0, [*helped, *hurt])
    return Alternative(queue, figures_at(trials, 0), broken, laboratory.engine)


def what_changes(link: Link, laboratory: Laboratory) -> Iterator[Change]:
    """Yields the answer for changed links: fewer flows, longer round trips, another control."""
    for what, other in laboratory.trial.others(link).items():
        theory = calibrated(other)
        expected = None if theory is None else theory.packets
        why_not = laboratory.why_not(other, first_reach(other))
        if why_not is not None:
            yield Change(what, None, expected, why_not=why_not)
            continue
        helped, hurt = targets(other)
        # The answers are means of a few replicates. They show a direction and are not
        # recommendations.
        found = smallest(
            Trials(laboratory.sampler(other)),
            helped,
            hurt,
            reach=(first_reach(other), last_reach(other, laboratory)),
            most_replicates=COARSE_REPLICATES,
            lean=laboratory.plan.lean,
            near=expected_packets(other),
            least=laboratory.least(other, first_reach(other)),
        )
        yield Change(what, found.limit, expected, laboratory.engine)


def _nearby(
    link: Link,
    laboratory: Laboratory,
    near: int,
    share: float,
    helped: Sequence[Target] | None = None,
) -> int | None:
    """Returns about the smallest buffer that keeps the bounds; None if none does near a buffer.

    The expected buffer and at most two others are tried with few short replicates. The next one
    lies where the line through the misses of the last two is 0. Between a buffer that misses the
    bounds and one that keeps them the miss is interpolated; beyond all that were tried the answer
    is at most half as large again.
    """
    trials = Trials(laboratory.sampler(link, share=share))
    helped = targets(link)[0] if helped is None else helped
    least, most = max(near / AROUND, 1.0), min(AROUND * near, max(FARTHEST, near))
    at, slope = float(near), USUAL_SLOPE
    tried: list[tuple[float, float]] = []
    while len(tried) < MAX_TRIED and max(round(at), 1) not in trials.replicates:
        limit = max(round(at), 1)
        trials.ensure([limit], COARSE_REPLICATES)
        tried.append((math.log(limit), trials.miss(limit, helped)))
        if len(tried) > 1:
            slope = min(_slope(tried), -MIN_SLOPE)
        at = min(max(math.exp(tried[-1][0] - tried[-1][1] / slope), least), most)
        if abs(math.log(at) - tried[-1][0]) < SAME and len(tried) > 1:
            break
    found = _crossing(tried, at)
    longest = math.inf if link.max_delay_s is None else link.max_delay_s
    is_beyond = found >= most and tried[-1][1] > 0
    return None if is_beyond or link.seconds(found) > longest else found


def _crossing(tried: Sequence[tuple[float, float]], at: float) -> int:
    """Returns the buffer at which the miss is 0, by the logarithms and misses of those tried.

    Args:
        tried: logarithm and miss of each buffer.
        at: the buffer by the line through the last two.
    """
    kept = min((one for one in tried if one[1] <= 0), default=None)
    missed = max((one for one in tried if one[1] > 0 and (not kept or one < kept)), default=None)
    if kept and missed:
        share = missed[1] / (missed[1] - kept[1])
        return max(round(math.exp(missed[0] + share * (kept[0] - missed[0]))), 1)
    if kept:
        return max(round(max(at, math.exp(kept[0]) / BEYOND)), 1)
    return max(round(min(at, math.exp(max(tried)[0]) * BEYOND)), 1)


def _slope(tried: Sequence[tuple[float, float]]) -> float:
    """Returns the change of the miss with the logarithm of the buffer, between the last two."""
    (log, miss), (other_log, other_miss) = tried[-2:]
    return (other_miss - miss) / (other_log - log)


def world_of(link: Link, laboratory: Laboratory, packets: int) -> World | None:
    """Returns the answer over the hosts that were not described; None if all were described.

    The hybrid engine was not compared with packets for all of these hosts, so calibrated theory
    answers in its place.
    """
    others = laboratory.trial.hosts(link)
    if not others:
        return None
    if laboratory.engine == "hybrid":
        return by_theory(link, packets)
    share = min(laboratory.plan.share, WORLD_SHARE)
    itself = _nearby(link, laboratory, packets, share)
    if itself is None:
        return by_theory(link, packets)
    changes = []
    for what, other in others.items():
        laboratory.as_long_as(other, link)
        near = max(round(itself * _by_theory(other, link)), 1)
        try:
            changes.append(Change(what, _nearby(other, laboratory, near, share), None))
        except BudgetSpent:
            if len(changes) < MIN_HOSTS:
                raise
            break
    return paired(packets, itself, changes, len(others))


def _by_theory(other: Link, link: Link) -> float:
    """Returns the ratio of two links' buffers by calibrated theory; 1 if it does not apply."""
    buffers = [calibrated(one) for one in (other, link)]
    theirs, own = (None if one is None else one.least for one in buffers)
    return theirs / own if theirs and own else 1.0


def guard_of(
    link: Link, laboratory: Laboratory, packets: int, figures: Mapping[str, Interval]
) -> Guard | None:
    """Returns facts that the answer must not hide, with the buffer that loses little; or None."""
    loss = figures["loss_rate"].mean if link.max_loss_rate is None else 0.0
    delay = figures["p99_delay_s"].mean if link.max_delay_s is None else 0.0
    is_lossy, is_slow = loss > MUCH_LOSS and bool(link.flows), delay > LONG_DELAY_S
    if not is_lossy and not is_slow:
        return None
    good = None
    if is_lossy:
        bounded = replace(link, max_loss_rate=GOOD_LOSS, max_delay_s=None)
        theory = calibrated(bounded)
        if theory is not None and not theory.outside:
            good = theory.least
        if good is None:
            windows = round(GOOD_WINDOW * link.flows - link.bdp_packets)
            near = max(expected_packets(bounded), windows, packets)
            share = laboratory.plan.share
            good = _nearby(link, laboratory, near, min(share, WORLD_SHARE), targets(bounded)[0])
    return Guard(loss if is_lossy else None, good, delay if is_slow else None)


def half_and_double(link: Link, trials: Trials, laboratory: Laboratory, packets: int) -> None:
    """Runs half and twice a buffer, to show what they cost."""
    limits = [one for one in (packets // 2, 2 * packets) if one > 0]
    wanted = [one for one in limits if laboratory.why_not(link, one) is None]
    trials.ensure(wanted, COARSE_REPLICATES)
