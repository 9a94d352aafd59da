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
from goodqueue.sizing.answer.effort import MAX_REPLICATES
from goodqueue.sizing.answer.extras import (
    guard_of,
    half_and_double,
    simulate_rules,
    simulated,
    try_queue,
    what_changes,
    world_of,
)
from goodqueue.sizing.answer.facts import facts_of
from goodqueue.sizing.answer.listener import SILENT, Listener
from goodqueue.sizing.answer.longer import LONGER, bias_of_full, checked, unchecked
from goodqueue.sizing.answer.page import page_of
from goodqueue.sizing.answer.parts import RuleAnswer, figures_at
from goodqueue.sizing.answer.world import by_theory as world_by_theory
from goodqueue.sizing.calibrated.record import records
from goodqueue.sizing.calibrated.smallest import LIKELY, calibrated, chances_kept
from goodqueue.sizing.rules import rules_for
from goodqueue.sizing.search.bounds import targets
from goodqueue.sizing.search.budget import BudgetSpent
from goodqueue.sizing.search.filled import for_bursts
from goodqueue.sizing.search.outlook import more_packets
from goodqueue.sizing.search.reach import (
    expected_packets,
    farthest_reach,
    first_reach,
    last_reach,
)
from goodqueue.sizing.search.smallest import smallest, so_far
from goodqueue.sizing.search.trials import COARSE_REPLICATES, Trials
from goodqueue.sizing.shared.memory import Memory, with_times

if TYPE_CHECKING:
    from goodqueue.sizing.answer.effort import Effort
    from goodqueue.sizing.link import Link
    from goodqueue.sizing.rules import Advice, Rule
    from goodqueue.sizing.search.laboratory import Laboratory, Trial

CHECK_SHARE = 0.2
"""Share of the budget that is kept to compare shortened replicates with longer ones."""

MAX_OF_LEAN = 10_000
"""Largest number of replicates of a limit in a search that a budget ends."""


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
    answer = _hosts_by_theory(answer, trial)
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
        if not answer.ended and answer.found is not None:
            answer = _extras(answer, laboratory, effort)
    if effort.hosts and answer.world is None:
        answer = _hosts_by_theory(answer, trial)
    budget = laboratory.budget
    return answer if budget is None else replace(answer, used_packets=budget.used)


def _search(answer: Answer, laboratory: Laboratory, most_replicates: int) -> Answer:
    """Adds the result of the search, or what it had shown when it was stopped, to the answer."""
    link, trials = answer.link, answer.trials
    assert trials is not None
    helped, hurt = targets(link)
    first = first_reach(link)
    bias = None
    try:
        laboratory.calibrate(link, first)
        bursts = for_bursts(link, laboratory)
        if bursts is not None:
            return _search(_of_bursts(answer, laboratory, *bursts), laboratory, most_replicates)
        laboratory.hold(CHECK_SHARE)
        found = smallest(
            trials,
            helped,
            hurt,
            reach=(first, last_reach(link, laboratory)),
            farthest=farthest_reach(link, laboratory),
            most_replicates=_most(most_replicates, laboratory),
            lean=laboratory.plan.lean,
            near=expected_packets(link),
            least=laboratory.least(link, first),
        )
        if found.limit is not None:
            bias = bias_of_full(link, trials, laboratory, found.limit)
        if bias is not None and laboratory.may_search_again(LONGER):
            laboratory.lengthen(link, LONGER)
            again = Trials(laboratory.sampler(link), spent=trials.spent, on_change=trials.on_change)
            return _search(replace(answer, trials=again), laboratory, most_replicates)
    except (KeyboardInterrupt, BudgetSpent) as stopped:
        answer = _named(answer, laboratory)
        shown = so_far(trials, helped, hurt)
        is_over = isinstance(stopped, BudgetSpent) and not (shown and shown.proved)
        answer = replace(
            answer,
            found=shown,
            interrupted=isinstance(stopped, KeyboardInterrupt),
            budget_over=is_over,
            more_packets=more_packets(trials, helped, shown, first, laboratory)
            if is_over
            else None,
        )
        if shown is None:
            return answer
        found = shown
    facts = facts_of(link, trials, found)
    if not answer.interrupted:
        laboratory.hold(0)
        try:
            found, facts = checked(link, trials, laboratory, found, facts, bias)
        except KeyboardInterrupt:
            found = unchecked(found)
            answer = replace(answer, interrupted=True)
    at = found.limit or found.floor or found.reached
    doubt, error = laboratory.doubt(link, found, trials.interval(at, "loss_rate").high)
    answer = replace(
        _named(answer, laboratory),
        found=found,
        facts=facts,
        doubt=doubt,
        widened=error,
        epochs=_epochs(trials, at),
        share=laboratory.plan.share,
        scenario=laboratory.scenario(link, found.limit or found.ceiling or at),
    )
    return _exported(answer, laboratory.trial)


def _of_bursts(answer: Answer, laboratory: Laboratory, link: Link, why: str) -> Answer:
    """Returns an answer without runs for a link that no buffer fills; no rule applies to it."""
    trials = Trials(laboratory.sampler(link))
    notes = (*answer.notes, why)
    return replace(answer, link=link, trials=trials, notes=notes, by_rule=(), calibrated=None)


def _named(answer: Answer, laboratory: Laboratory) -> Answer:
    """Adds the engine, and the reason for its choice, to the answer."""
    return replace(
        answer,
        engine=laboratory.engine,
        packets_s=laboratory.packets_s,
        why_not_hybrid=laboratory.why_not_hybrid,
    )


def _most(most_replicates: int, laboratory: Laboratory) -> int:
    """Returns the most replicates of a limit; a lean search runs until its budget ends.

    The error of the hybrid engine exceeds that of a few replicates.
    """
    if laboratory.engine == "hybrid":
        return min(most_replicates, COARSE_REPLICATES)
    is_lean = laboratory.plan.lean and most_replicates == MAX_REPLICATES
    return MAX_OF_LEAN if is_lean else most_replicates


def _extras(answer: Answer, laboratory: Laboratory, effort: Effort) -> Answer:
    """Adds the other parts for which the budget suffices, and names those that it leaves out."""
    link, trials = answer.link, answer.trials
    assert trials is not None
    left = list(effort.parts(laboratory.engine))
    if answer.memory is not None:
        left.insert(0, "queries")
    try:
        while left:
            answer = _part(left[0], answer, laboratory, effort)
            del left[0]
    except KeyboardInterrupt:
        answer = replace(answer, interrupted=True)
    except BudgetSpent:
        answer = replace(answer, left_out=tuple(left))
    if effort.rules:
        by_rule = tuple(simulated(link, trials, one, laboratory) for one in answer.by_rule)
        answer = replace(answer, by_rule=by_rule)
    return answer


def _hosts_by_theory(answer: Answer, trial: Trial) -> Answer:
    """Adds the range over hosts by theory to an answer that was ended before its runs."""
    if answer.buffer is None or not trial.hosts(answer.link):
        return answer
    return _exported(replace(answer, world=world_by_theory(answer.link, answer.buffer)), trial)


def _part(name: str, answer: Answer, laboratory: Laboratory, effort: Effort) -> Answer:
    """Adds one of the other parts to the answer."""
    link, trials = answer.link, answer.trials
    assert trials is not None
    if name == "queries" and answer.memory is not None:
        answer = replace(answer, memory=with_times(link, laboratory, answer.memory))
    if name == "cost":
        at = answer.number
        half_and_double(link, trials, laboratory, at)
    if name == "guard":
        at = answer.number
        guard = guard_of(link, laboratory, at, figures_at(trials, at))
        return replace(answer, guard=guard)
    if name == "world" and answer.buffer is not None:
        answer = replace(answer, world=world_of(link, laboratory, answer.buffer))
        return _exported(answer, laboratory.trial)
    if name == "page":
        return replace(answer, page=page_of(link, laboratory, answer.number))
    if name == "rules":
        simulate_rules(link, trials, answer.by_rule, laboratory, effort.replicates)
    if name == "queues":
        others = (try_queue(link, laboratory, one, effort.replicates) for one in effort.queues)
        return replace(answer, alternatives=tuple(others))
    if name == "changes":
        return replace(answer, changes=tuple(what_changes(link, laboratory)))
    return answer


def _check_queue(trial: Trial, link: Link, queue: str) -> None:
    """Refuses a misspelt queue before anything is run, with the user's text."""
    try:
        trial.scenario(link, 1, queue)
    except ScenarioError as error:
        help_ = f"\n  help: {error.help}" if error.help else ""
        raise RequestError(f"--aqm {queue}: {error.message}{help_}") from error


def _epochs(trials: Trials, limit: int) -> float | None:
    known = "epochs" in trials.replicates[limit][0]
    return trials.interval(limit, "epochs").mean if known else None


def _exported(answer: Answer, trial: Trial) -> Answer:
    packets = answer.device_packets
    if packets is None:
        return answer
    memory = answer.memory
    if trial.pool is not None and (memory is None or memory.packets != packets):
        memory = Memory(trial.pool, packets)
    return replace(answer, exports=trial.exports(answer.link, packets), memory=memory)
