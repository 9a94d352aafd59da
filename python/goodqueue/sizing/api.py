"""Sizing from Python: `size_link`, `size_scenario`, `judge_rules`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from goodqueue.errors import RequestError
from goodqueue.runs.memory import limit_of
from goodqueue.sizing.answer.effort import Effort
from goodqueue.sizing.answer.listener import SILENT, Listener
from goodqueue.sizing.answer.work_out import by_theory, work_out
from goodqueue.sizing.link import Asked
from goodqueue.sizing.trials.described import LinkTrial, notes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goodqueue.runs.api import Source
    from goodqueue.runs.controls import ControlFactory
    from goodqueue.runs.queues import QueueFactory
    from goodqueue.runs.settings import Overrides
    from goodqueue.sizing.answer.answer import Answer
    from goodqueue.sizing.link import Link
    from goodqueue.sizing.search.laboratory import Trial

UNASKED = "theory only; nothing was run"


def judge_rules(link: Link) -> Answer:
    """Returns every published rule's buffer for a link and whether it holds; runs nothing.

    Raises:
        RequestError: if the link has no flows, because the rules are about flows.

    Examples:
        >>> from goodqueue.sizing import Link, judge_rules
        >>> answer = judge_rules(Link(10e6, (0.060,), flows=1))
        >>> answer.rules.filter(rule="bdp")["packets"].to_list()
        [50]
    """
    _check_flows(link)
    return by_theory(link, LinkTrial(), UNASKED, notes_of(link))


def size_link(
    link: Link,
    effort: Effort = Effort(),  # noqa: B008 - it is frozen
    *,
    seed: int = 1,
    on_run: Callable[[int], None] = lambda _left: None,
) -> Answer:
    """Finds the smallest buffer of a described link that keeps its bounds, and judges every rule.

    After Ctrl-C the call returns the finished parts.

    Args:
        link: the link, its traffic and its bounds.
        effort: extent of the simulations.
        seed: seed of the first replicate of every limit.
        on_run: function called after every run with the number of runs known to follow.

    Raises:
        RequestError: if the link has no flows.

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> from goodqueue.sizing import Effort, Link, size_link
        >>> few = Effort(3, queues=(), changes=False, rules=False, store=Path(mkdtemp()))
        >>> answer = size_link(Link(1e6, (0.040,), flows=1), few)
        >>> answer.buffer <= 10
        True
    """
    _check_flows(link)
    listener = Listener(on_run)
    return simulate(LinkTrial(), link, effort, seed, notes=notes_of(link), listener=listener)


def size_scenario(  # noqa: PLR0913 - all but the scenario are options, by name
    source: Source,
    asked: Asked = Asked(),  # noqa: B008 - it is frozen
    effort: Effort = Effort(),  # noqa: B008 - it is frozen
    *,
    link: str | None = None,
    jitter_s: float | None = None,
    set: Overrides = (),  # noqa: A002
    seed: int | None = None,
    controls: Mapping[str, ControlFactory] | None = None,
    queues: Mapping[str, QueueFactory] | None = None,
    allow_python: bool = False,
    on_run: Callable[[int], None] = lambda _left: None,
) -> Answer:
    """Finds the smallest buffer of a scenario's link that keeps the bounds with its own traffic.

    Args:
        source: path of a scenario file, its text, or a mapping of the same shape.
        asked: the bounds, and the facts that the file does not contain.
        effort: extent of the simulations.
        link: name of the link; None for the one called `bottleneck`, or the only one.
        jitter_s: largest random delay of the start of flows that do not set it, in seconds; None
            for one base round-trip time of the link.
        set: values that replace the file's, by path.
        seed: seed of the first replicate; replaces the scenario's seed.
        controls: congestion controls in Python, by group of flows: classes at the top of a module.
        queues: queues in Python in place of those of links, by link: classes at the top of a
            module. That of the link that is sized takes its limit as `limit_packets`.
        allow_python: True to import the classes that the scenario names as congestion controls
            and queues, which runs their modules' code.
        on_run: function called after every run with the number of runs known to follow.

    Raises:
        ScenarioError: with place, mistake and remedy.
        RequestError: if nothing could keep the bounds on this link, or if the queue in Python of
            the link has no limit, or is to be run by the hybrid engine.

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> import goodqueue
        >>> from goodqueue.sizing import Asked, Effort, size_scenario
        >>> few = Effort(3, queues=(), changes=False, rules=False, store=Path(mkdtemp()))
        >>> answer = size_scenario(goodqueue.EXAMPLE, Asked(min_utilization=0.9), few)
        >>> answer.buffer < 100
        True
    """
    from goodqueue.runs.api import load
    from goodqueue.runs.plugins import named_controls, named_queues, with_queues
    from goodqueue.runs.settings import overrides
    from goodqueue.sizing.trials.file import FileTrial, link_name

    given = [*overrides(set), *named_controls(controls)]
    scenario = load(source, set=given, seed=seed, allow_python=allow_python or bool(controls))
    scenario = with_queues(scenario, named_queues(queues))
    trial = FileTrial(scenario, link_name(scenario, link), asked, jitter_s)
    return simulate(
        trial,
        trial.link,
        effort,
        scenario.seed,
        notes=trial.notes,
        listener=Listener(on_run),
    )


def simulate(  # noqa: PLR0913 - what is run, how much of it, and its callbacks
    trial: Trial,
    link: Link,
    effort: Effort,
    seed: int,
    *,
    notes: tuple[str, ...] = (),
    listener: Listener = SILENT,
) -> Answer:
    """Computes the answer on this machine's threads."""
    from goodqueue.sizing.search.budget import Budget
    from goodqueue.sizing.search.laboratory import Laboratory
    from goodqueue.study.runner import Runner, user_store
    from goodqueue.study.threads import Threads

    budget = Budget(effort.budget, effort.time_s, listener.on_budget)
    limit = limit_of(effort.memory)
    with user_store("sizing", effort.store) as store:
        runner = Runner(store, Threads(effort.jobs, limit), listener.on_run)
        laboratory = Laboratory(runner, trial, seed, limit, budget, effort.engine)
        answer = work_out(link, laboratory, effort, notes=notes, listener=listener)
        return replace(answer, kept=store.lasting)


def _check_flows(link: Link) -> None:
    if link.flows < 1:
        raise RequestError("a buffer rule needs at least one flow")
