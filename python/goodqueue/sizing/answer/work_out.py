"""The answer to how much buffer a link needs, by theory and by simulation.

A `Link` is judged by every rule. A search finds the smallest buffer that keeps all bounds. Each
rule's buffer is simulated. A few changes of the link show how sensitive the answer is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from goodqueue.errors import RequestError, ScenarioError
from goodqueue.sizing.answer.answer import Answer
from goodqueue.sizing.answer.effort import MOST_REPLICATES
from goodqueue.sizing.answer.listener import SILENT, Listener
from goodqueue.sizing.answer.outlook import more_s
from goodqueue.sizing.answer.parts import Alternative, Change, RuleAnswer, figures_at
from goodqueue.sizing.calibrated.record import records
from goodqueue.sizing.calibrated.smallest import LIKELY, calibrated, chances_kept
from goodqueue.sizing.rules import rules_for
from goodqueue.sizing.rules.loss.bscl import bscl
from goodqueue.sizing.search.budget import BudgetSpent
from goodqueue.sizing.search.smallest import (
    COARSE_REPLICATES,
    FIRST_REPLICATES,
    Target,
    Trials,
    smallest,
    so_far,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goodqueue.sizing.answer.effort import Effort
    from goodqueue.sizing.link import Link
    from goodqueue.sizing.rules import Advice, Rule
    from goodqueue.sizing.search.budget import Plan
    from goodqueue.sizing.search.laboratory import Laboratory, Trial

MOST_OF_LEAN = 10_000
"""Largest number of replicates of a limit in a search that a budget ends."""

VERY_MANY_FLOWS = 10_000
"""Number of flows beyond those of the study of calibrated theory. BSCL then asks for far too much:
for 40 times as much as the hybrid engine at 100 Gb/s with 80,000 flows."""

FARTHEST = 1 << 20
"""Largest limit tried, in packets (1.5 GB), if larger buffers do not need longer runs."""


def targets(link: Link) -> tuple[list[Target], list[Target]]:
    """Returns the link's bounds: those that a larger buffer helps, and those that it hurts."""
    helped = [Target("utilization", link.min_utilization, at_least=True)]
    if link.max_loss_rate is not None:
        helped.append(Target("loss_rate", link.max_loss_rate, at_least=False))
    hurt = []
    if link.max_delay_s is not None:
        hurt.append(Target("p99_delay_s", link.max_delay_s, at_least=False))
    return helped, hurt


def judge(link: Link) -> tuple[RuleAnswer, ...]:
    """Returns every rule's answer by theory alone; none if no rule applies to the flows."""
    if not link.flows:
        return ()
    rules = rules_for(link)
    advice = [rule.advise(link) for rule in rules]
    # All rules are evaluated at once. The values for rules without a number are not used.
    buffers = np.array([float(one.whole_packets or 1) for one in advice])
    chances = chances_kept(link, buffers)
    return tuple(
        _by_theory(rule, its, {name: float(of[place]) for name, of in chances.items()})
        for place, (rule, its) in enumerate(zip(rules, advice, strict=True))
    )


def _by_theory(rule: Rule, advice: Advice, chances: dict[str, float]) -> RuleAnswer:
    if advice.whole_packets is None:
        return RuleAnswer(rule, advice, record=records().get(rule.name))
    unmet = tuple(name for name, chance in chances.items() if chance < LIKELY)
    return RuleAnswer(rule, advice, unmet=unmet, chances=chances, record=records().get(rule.name))


def by_theory(link: Link, trial: Trial, why: str, notes: tuple[str, ...] = ()) -> Answer:
    """Returns the answer of the rules alone.

    Args:
        link: the link.
        trial: exporter of its buffer.
        why: reason why nothing was simulated.
        notes: sentences about the interpretation of the link.
    """
    answer = Answer(link, judge(link), notes, why_theory_only=why, calibrated=calibrated(link))
    limit = answer.buffer or max(round(link.bdp_packets), 1)
    return replace(_exported(answer, trial), scenario=trial.scenario(link, limit))


def work_out(
    link: Link,
    laboratory: Laboratory,
    effort: Effort,
    *,
    notes: tuple[str, ...] = (),
    listener: Listener = SILENT,
) -> Answer:
    """Judges, searches and simulates. Ctrl-C or the budget ends it with the finished parts.

    Args:
        link: the link.
        laboratory: runner of replicates, which has the budget and the engine.
        effort: the parts to simulate, and the largest number of replicates.
        notes: sentences about the interpretation of the link.
        listener: callbacks for the bracket and the recommendation.
    """
    trial = laboratory.trial
    for queue in effort.queues:
        _check_queue(trial, link, queue)
    helped, hurt = targets(link)

    def report_bracket(trials: Trials) -> None:
        shown = so_far(trials, helped, hurt)
        if shown is not None:
            listener.on_bracket(shown.low, shown.high)

    trials = Trials(laboratory.sampler(link), on_change=report_bracket)
    answer = Answer(link, judge(link), notes, trials=trials, calibrated=calibrated(link))
    with laboratory.within_budget():
        answer = _search(answer, laboratory, effort.replicates)
        listener.on_answer(answer)
        if not answer.ended:
            answer = _extras(answer, laboratory, effort)
    return answer


def _search(answer: Answer, laboratory: Laboratory, most_replicates: int) -> Answer:
    """Adds the result of the search, or what it had shown when it was stopped, to the answer."""
    link, trials = answer.link, answer.trials
    assert trials is not None
    helped, hurt = targets(link)
    first = first_reach(link)
    try:
        laboratory.calibrate(link, first)
        found = smallest(
            trials,
            helped,
            hurt,
            reach=(first, last_reach(link, laboratory)),
            most_replicates=_most(most_replicates, laboratory.plan),
            lean=laboratory.plan.lean,
            near=expected_packets(link),
            least=laboratory.least(link, first),
        )
    except (KeyboardInterrupt, BudgetSpent) as stopped:
        answer = _named(answer, laboratory)
        shown = so_far(trials, helped, hurt)
        is_over = isinstance(stopped, BudgetSpent) and not (shown and shown.proved)
        answer = replace(
            answer,
            found=shown,
            interrupted=isinstance(stopped, KeyboardInterrupt),
            budget_over=is_over,
            more_s=more_s(trials, helped, shown, first, laboratory) if is_over else None,
        )
        if shown is None:
            return answer
        found = shown
    at = found.limit or found.floor or found.reached
    doubt, error = laboratory.doubt(link, found, trials.interval(at, "loss_rate").high)
    answer = replace(
        _named(answer, laboratory),
        found=found,
        doubt=doubt,
        widened=error,
        epochs=_epochs(trials, at),
        share=laboratory.plan.share,
        scenario=laboratory.scenario(link, found.limit or found.ceiling or at),
    )
    return _exported(answer, laboratory.trial)


def _named(answer: Answer, laboratory: Laboratory) -> Answer:
    """Adds the engine, and the reason for its choice, to the answer."""
    return replace(
        answer,
        engine=laboratory.engine,
        packets_s=laboratory.packets_s,
        why_not_hybrid=laboratory.why_not_hybrid,
    )


def _most(most_replicates: int, plan: Plan) -> int:
    """Returns the most replicates of a limit; a lean search runs until its budget ends."""
    return MOST_OF_LEAN if plan.lean and most_replicates == MOST_REPLICATES else most_replicates


def _extras(answer: Answer, laboratory: Laboratory, effort: Effort) -> Answer:
    """Adds the other parts for which the budget suffices, and names those that it leaves out."""
    link, trials = answer.link, answer.trials
    assert trials is not None
    left = list(effort.parts(laboratory.engine))
    try:
        while left:
            if left[0] == "rules":
                simulate_rules(link, trials, answer.by_rule, laboratory, effort.replicates)
            elif left[0] == "queues":
                for queue in effort.queues:
                    other = try_queue(link, laboratory, queue, effort.replicates)
                    answer = replace(answer, alternatives=(*answer.alternatives, other))
            else:
                for change in what_changes(link, laboratory):
                    answer = replace(answer, changes=(*answer.changes, change))
            del left[0]
    except KeyboardInterrupt:
        answer = replace(answer, interrupted=True)
    except BudgetSpent:
        answer = replace(answer, left_out=tuple(left))
    if effort.rules:
        by_rule = tuple(_simulated(link, trials, one, laboratory) for one in answer.by_rule)
        answer = replace(answer, by_rule=by_rule)
    return answer


def _check_queue(trial: Trial, link: Link, queue: str) -> None:
    """Refuses a misspelt queue before anything is run, with the user's text."""
    try:
        trial.scenario(link, 1, queue)
    except ScenarioError as error:
        help_ = f"\n  help: {error.help}" if error.help else ""
        raise RequestError(f"--aqm {queue}: {error.message}{help_}") from error


def first_reach(link: Link) -> int:
    """Returns the first reach of a search in packets, above the expected answer."""
    if not link.flows:
        return max(int(2 * link.bdp_packets) + 1, 8)
    return max(int(1.5 * expected_packets(link)) + 1, 8)


def expected_packets(link: Link) -> int:
    """Returns the packets near which theory expects the answer.

    Calibrated theory has priority over the rules. If no rule applies to the flows, the answer is
    one BDP. With very many flows only the rule of the root of N is used.
    """
    if not link.flows:
        return max(int(link.bdp_packets), 1)
    theory = calibrated(link)
    if theory is not None and theory.least is not None and not theory.outside:
        return theory.least
    by_root = link.bdp_packets / link.flows**0.5
    if link.flows > VERY_MANY_FLOWS:
        return max(int(by_root), 1)
    return max(int(max(min(bscl(link).packets, link.bdp_packets), by_root)), 1)


def last_reach(link: Link, laboratory: Laboratory) -> int:
    """Returns the largest limit of a search in packets.

    The limit is 1.5 times the buffer that the delay bound allows. Without such a bound it is eight
    bandwidth-delay products, or twice the answer of BSCL. If larger buffers do not need longer
    runs, it is unlimited.
    """
    if link.max_delay_s is not None:
        # The limit includes the expected answer, so that the search finds the delay that would be
        # needed.
        last = max(1.5 * link.max_delay_s / link.packet_time_s, first_reach(link))
    elif laboratory.trial.elastic:
        last = max(8 * link.bdp_packets, 2 * bscl(link).packets)
    else:
        last = FARTHEST
    return max(int(last), 8)


def simulate_rules(
    link: Link,
    trials: Trials,
    rules: Sequence[RuleAnswer],
    laboratory: Laboratory,
    most_replicates: int = MOST_REPLICATES,
) -> None:
    """Runs replicates at the rules' buffers to which the engine applies."""
    limits = {one.advice.whole_packets for one in rules}
    known = sorted(limit for limit in limits if limit is not None)
    wanted = [limit for limit in known if laboratory.why_not(link, limit) is None]
    trials.ensure(wanted, min(FIRST_REPLICATES, most_replicates))


def _simulated(link: Link, trials: Trials, one: RuleAnswer, laboratory: Laboratory) -> RuleAnswer:
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
    link: Link, laboratory: Laboratory, queue: str, most_replicates: int = MOST_REPLICATES
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
        helped, hurt = targets(other)
        theory = calibrated(other)
        expected = None if theory is None else theory.packets
        why_not = laboratory.why_not(other, first_reach(other))
        if why_not is not None:
            yield Change(what, None, expected, why_not=why_not)
            continue
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


def _epochs(trials: Trials, limit: int) -> float | None:
    known = "epochs" in trials.replicates[limit][0]
    return trials.interval(limit, "epochs").mean if known else None


def _exported(answer: Answer, trial: Trial) -> Answer:
    if answer.buffer is None:
        return answer
    return replace(answer, exports=trial.exports(answer.link, answer.buffer))
