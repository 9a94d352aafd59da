"""Sizing from Python: `size_link`, `size_scenario`, `judge_rules`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goodqueue.errors import RequestError
from goodqueue.runs.memory import limit_of
from goodqueue.sizing.answer.listener import SILENT, Listener
from goodqueue.sizing.answer.work_out import MOST_REPLICATES, QUEUES, by_theory, work_out
from goodqueue.sizing.link import Asked
from goodqueue.sizing.search.budget import BUDGET_S
from goodqueue.sizing.search.smallest import COARSE_REPLICATES
from goodqueue.sizing.trials.described import LinkTrial

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from goodqueue.runs.api import Source
    from goodqueue.runs.engines import Choice
    from goodqueue.runs.settings import Overrides
    from goodqueue.sizing.answer.answer import Answer
    from goodqueue.sizing.link import Link
    from goodqueue.sizing.search.laboratory import Trial

UNASKED = "theory only; nothing was run"


@dataclass(frozen=True, slots=True)
class Effort:
    """Extent of the simulations, and the place where they are stored.

    Attributes:
        replicates: largest number of runs per limit, each under its own seed; at least 3.
        queues: queue disciplines to try in place of the link's, with their defaults.
        changes: True to simulate changes of the link.
        rules: True to simulate the rules' buffers.
        budget_s: largest wall-clock time in seconds. Replicates are shortened so that the search
            fits; the answer is what has been shown when the budget ends.
        jobs: threads; None for one per processor.
        store: folder that stores every run and returns it if it is needed again; None for one in
            the user's cache.
        memory: largest memory of all runs together, such as `8GiB`; None for three quarters of the
            machine's.
        engine: engine of replicates: `packets`, `hybrid` (docs/hybrid.md), or `auto`: the hybrid
            engine if the budget is too short for packets and the hybrid engine applies, else
            packets.
    """

    replicates: int = MOST_REPLICATES
    queues: tuple[str, ...] = QUEUES
    changes: bool = True
    rules: bool = True
    budget_s: float = BUDGET_S
    jobs: int | None = None
    store: Path | None = None
    memory: str | None = None
    engine: Choice = "auto"

    def __post_init__(self) -> None:
        if self.replicates < COARSE_REPLICATES:
            raise RequestError(
                f"{self.replicates} replicates: a search needs at least {COARSE_REPLICATES}"
            )


def judge_rules(link: Link) -> Answer:
    """Returns every published rule's buffer for a link and whether it holds; runs nothing.

    Raises:
        RequestError: if the link has no flows, because the rules are about flows.
    """
    _check_flows(link)
    return by_theory(link, LinkTrial(), UNASKED)


def size_link(
    link: Link,
    effort: Effort = Effort(),
    *,
    seed: int = 1,
    on_run: Callable[[int], None] = lambda _left: None,
) -> Answer:
    """Finds the smallest buffer of a described link that keeps its bounds, and judges every rule.

    Ctrl-C ends it with the finished parts.

    Args:
        link: the link, its traffic and its bounds.
        effort: extent of the simulations.
        seed: seed of the first replicate of every limit.
        on_run: function called after every run with the number of runs known to follow.

    Raises:
        RequestError: if the link has no flows.
    """
    _check_flows(link)
    return simulate(LinkTrial(), link, effort, seed, listener=Listener(on_run))


def size_scenario(  # noqa: PLR0913 - all but the scenario are options, by name
    source: Source,
    asked: Asked = Asked(),  # noqa: B008 - it is frozen
    effort: Effort = Effort(),
    *,
    link: str | None = None,
    jitter_s: float | None = None,
    set: Overrides = (),  # noqa: A002
    seed: int | None = None,
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
        on_run: function called after every run with the number of runs known to follow.

    Raises:
        ScenarioError: with place, mistake and remedy.
        RequestError: if nothing could keep the bounds on this link.
    """
    from goodqueue.runs.api import load
    from goodqueue.sizing.trials.file import FileTrial, link_name

    scenario = load(source, set=set, seed=seed)
    trial = FileTrial(scenario, link_name(scenario, link), asked, jitter_s)
    return simulate(
        trial, trial.link, effort, scenario.seed, notes=trial.notes, listener=Listener(on_run)
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

    budget = Budget(effort.budget_s)
    limit = limit_of(effort.memory)
    with user_store("sizing", effort.store) as store:
        runner = Runner(store, Threads(effort.jobs, limit), listener.on_run)
        answer = work_out(
            link,
            Laboratory(runner, trial, seed, limit, budget, effort.engine),
            notes=notes,
            changes=effort.changes,
            queues=effort.queues,
            most_replicates=effort.replicates,
            rules=effort.rules,
            listener=listener,
        )
        return replace(answer, kept=store.lasting)


def _check_flows(link: Link) -> None:
    if link.flows < 1:
        raise RequestError("a buffer rule needs at least one flow")
