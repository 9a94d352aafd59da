"""How much buffer does a link need? Theory, simulation, and what follows from both.

One straight line: a `Link` is judged by every rule; a search finds the smallest buffer that keeps
all bounds; each rule's buffer is simulated; and a few changes of the link show what the answer
hangs on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from goodqueue.errors import RequestError, ScenarioError
from goodqueue.sizing.result import (
    Alternative,
    Answer,
    Change,
    RuleAnswer,
    figures_at,
)
from goodqueue.sizing.rules import RULES
from goodqueue.sizing.rules.bscl import bscl
from goodqueue.sizing.smallest import (
    COARSE_REPLICATES,
    FIRST_REPLICATES,
    Target,
    Trials,
    smallest,
)
from goodqueue.sizing.theory import promised, theory_only, unmet_by_theory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodqueue.intervals import Interval
    from goodqueue.sizing.laboratory import Laboratory, Trial
    from goodqueue.sizing.link import Link
    from goodqueue.sizing.rules import Rule

MOST_REPLICATES = 64
"""No limit gets more replicates."""

QUEUES = ("codel", "fq_codel", "pie")
"""What is tried in place of the link's queue."""

FARTHEST = 1 << 20
"""Packets beyond which nothing is tried where larger buffers cost no longer runs: 1.5 GB."""


def targets(link: Link) -> tuple[list[Target], list[Target]]:
    """The link's bounds: those that more buffer helps, and those that it hurts."""
    helped = [Target("utilization", link.min_utilization, at_least=True)]
    if link.max_loss_rate is not None:
        helped.append(Target("loss_rate", link.max_loss_rate, at_least=False))
    hurt = []
    if link.max_delay_s is not None:
        hurt.append(Target("p99_delay_s", link.max_delay_s, at_least=False))
    return helped, hurt


def judge(link: Link) -> tuple[RuleAnswer, ...]:
    """Every rule's answer, by theory alone; none where there are no flows that a rule knows."""
    if not link.flows:
        return ()
    promising = promised(link)
    return tuple(_by_theory(link, rule, promises=rule.name in promising) for rule in RULES)


def _by_theory(link: Link, rule: Rule, *, promises: bool) -> RuleAnswer:
    advice = rule.advise(link)
    packets = advice.whole_packets
    broken = () if packets is None else unmet_by_theory(link, packets)
    return RuleAnswer(rule, advice, unmet=broken, promises=promises)


def by_theory(link: Link, trial: Trial, why: str, notes: tuple[str, ...] = ()) -> Answer:
    """The answer of the rules alone.

    Args:
        link: the link.
        trial: how its buffer is exported.
        why: why nothing was simulated.
        notes: what was understood of the link.
    """
    answer = Answer(link, judge(link), notes, why_theory_only=why)
    limit = answer.buffer or max(round(link.bdp_packets), 1)
    return replace(_exported(answer, trial), scenario=trial.scenario(link, limit))


def work_out(  # noqa: PLR0913 - what is asked, and how much is done for it
    link: Link,
    laboratory: Laboratory,
    *,
    notes: tuple[str, ...] = (),
    changes: bool = True,
    queues: Sequence[str] = QUEUES,
    most_replicates: int = MOST_REPLICATES,
) -> Answer:
    """Judges, searches and simulates. Ctrl-C ends it with what had finished.

    Args:
        link: the link.
        laboratory: what runs replicates.
        notes: what was understood of the link.
        changes: whether to look what would change the answer.
        queues: queue disciplines to try in place of the link's.
        most_replicates: no limit gets more.
    """
    trial = laboratory.trial
    for queue in queues:
        _check_queue(trial, link, queue)
    first = first_reach(link)
    why = laboratory.too_long(link, first)
    if why is not None:
        return by_theory(link, trial, why, notes)
    answer = Answer(link, judge(link), notes)
    try:
        laboratory.calibrate(link, first)
        why = laboratory.too_long(link, first)
        if why is not None:
            return by_theory(link, trial, why, notes)
        trials = Trials(laboratory.sampler(link))
        answer = replace(answer, trials=trials)
        helped, hurt = targets(link)
        reach = (first, last_reach(link, laboratory))
        found = smallest(trials, helped, hurt, reach=reach, most_replicates=most_replicates)
        at = found.limit or found.floor or found.reached
        answer = replace(
            answer,
            found=found,
            epochs=_epochs(trials, at),
            scenario=laboratory.scenario(link, found.limit or found.ceiling or at),
        )
        answer = _exported(answer, trial)
        by_rule = simulate_rules(link, laboratory, trials, answer.by_rule, most_replicates)
        answer = replace(answer, by_rule=by_rule)
        answer = replace(
            answer, alternatives=tuple(try_queues(link, laboratory, queues, most_replicates))
        )
        if changes:
            answer = replace(answer, changes=tuple(what_changes(link, laboratory)))
    except KeyboardInterrupt:
        return replace(answer, interrupted=True)
    return answer


def _check_queue(trial: Trial, link: Link, queue: str) -> None:
    """Refuses a queue that is misspelt before anything is run, by what the user wrote."""
    try:
        trial.scenario(link, 1, queue)
    except ScenarioError as error:
        help_ = f"\n  help: {error.help}" if error.help else ""
        raise RequestError(f"--aqm {queue}: {error.message}{help_}") from error


def first_reach(link: Link) -> int:
    """Packets up to which a search looks at first: beyond what theory expects."""
    if not link.flows:
        return max(int(2 * link.bdp_packets) + 1, 8)
    by_bscl = bscl(link).packets
    by_root = link.bdp_packets / link.flows**0.5
    return max(int(1.5 * max(min(by_bscl, link.bdp_packets), by_root)) + 1, 8)


def last_reach(link: Link, laboratory: Laboratory) -> int:
    """Packets beyond which no search looks.

    Half as much again as the delay allows. Without a bound on it eight bandwidth-delay products, or
    twice what BSCL wants; and as far as it takes where larger buffers cost no longer runs. Nothing
    that takes too long to run.
    """
    if link.max_delay_s is not None:
        # Or as far as theory expects an answer, to tell how much delay would be needed.
        last = max(1.5 * link.max_delay_s / link.packet_time_s, first_reach(link))
    elif laboratory.trial.elastic:
        last = max(8 * link.bdp_packets, 2 * bscl(link).packets)
    else:
        last = FARTHEST
    low, high = 1, max(int(last), 8)
    if laboratory.too_long(link, high) is None:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if laboratory.too_long(link, middle) is None else (low, middle)
    return low


def simulate_rules(
    link: Link,
    laboratory: Laboratory,
    trials: Trials,
    rules: Sequence[RuleAnswer],
    most_replicates: int = MOST_REPLICATES,
) -> tuple[RuleAnswer, ...]:
    """The rules' answers with what happens at their buffers."""
    limits = {one.advice.whole_packets for one in rules}
    reasons = {limit: laboratory.too_long(link, limit) for limit in limits if limit is not None}
    wanted = sorted(limit for limit in reasons if reasons[limit] is None)
    trials.ensure(wanted, min(FIRST_REPLICATES, most_replicates))
    return tuple(
        _simulated(link, trials, one, reasons.get(one.advice.whole_packets or 0)) for one in rules
    )


def _simulated(link: Link, trials: Trials, one: RuleAnswer, why_not: str | None) -> RuleAnswer:
    packets = one.advice.whole_packets
    if packets is None or why_not is not None:
        return replace(one, why_not=why_not)
    figures = figures_at(trials, packets)
    return replace(one, simulated=figures, unmet=unmet(link, figures))


def unmet(link: Link, figures: Mapping[str, Interval]) -> tuple[str, ...]:
    """The bounds that means do not keep."""
    helped, hurt = targets(link)
    return tuple(
        target.figure
        for target in (*helped, *hurt)
        if not target.met_by(figures[target.figure].mean)
    )


def try_queues(
    link: Link,
    laboratory: Laboratory,
    queues: Sequence[str],
    most_replicates: int = MOST_REPLICATES,
) -> list[Alternative]:
    """Queue disciplines with their defaults in place of the link's."""
    made = []
    for queue in queues:
        trials = Trials(laboratory.sampler(link, queue))
        trials.ensure([0], min(FIRST_REPLICATES, most_replicates))
        figures = figures_at(trials, 0)
        made.append(Alternative(queue, figures, unmet(link, figures)))
    return made


def what_changes(link: Link, laboratory: Laboratory) -> list[Change]:
    """What the answer hangs on: fewer flows, longer round trips, another control."""
    made = []
    for what, other in laboratory.trial.others(link).items():
        reach = first_reach(other)
        packets = None
        if laboratory.too_long(other, reach) is None:
            helped, hurt = targets(other)
            # The means of a few replicates, not settled: a direction, not a recommendation.
            packets = smallest(
                Trials(laboratory.sampler(other)),
                helped,
                hurt,
                reach=(reach, last_reach(other, laboratory)),
                most_replicates=COARSE_REPLICATES,
            ).limit
        made.append(Change(what, packets, theory_only(other)))
    return made


def _epochs(trials: Trials, limit: int) -> float | None:
    known = "epochs" in trials.replicates[limit][0]
    return trials.interval(limit, "epochs").mean if known else None


def _exported(answer: Answer, trial: Trial) -> Answer:
    if answer.buffer is None:
        return answer
    return replace(answer, exports=trial.exports(answer.link, answer.buffer))
