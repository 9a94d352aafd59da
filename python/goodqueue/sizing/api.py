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

UNASKED = "theory only, nothing was run"


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is simulated, and where it is kept.

    Attributes:
        replicates: no limit gets more runs, each under its own seed; at least 3.
        queues: queue disciplines to try in place of the link's, with their defaults.
        changes: whether to look what would change the answer.
        rules: whether to simulate the rules' buffers.
        budget_s: wall-clock seconds that all of it may take. Replicates are made shorter so that
            the search fits, and what is shown by the end of the budget is the answer.
        jobs: threads; None for one per processor.
        store: folder that keeps every run, and has none run that it holds; None for one in the
            user's cache.
        memory: the most that runs may take together, as in `8GiB`; None for three quarters of the
            machine's.
        engine: what runs replicates: `packets`, `hybrid` (docs/hybrid.md), or `auto` for the packet
            engine unless the budget is too short for it and the hybrid engine answers.
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
    """Every published rule's buffer for a link and whether it holds there; nothing is run.

    Raises:
        RequestError: of a link without flows, of which no rule speaks.
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
    """The smallest buffer of a described link that keeps its bounds, beside what every rule says.

    Ctrl-C ends it with what had finished.

    Args:
        link: the link, its traffic and its bounds.
        effort: how much is simulated.
        seed: of the first replicate of every limit.
        on_run: called after every run with how many more there are known to be.

    Raises:
        RequestError: of a link without flows.
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
    """The smallest buffer of one link of a scenario that keeps the bounds, by its own traffic.

    Args:
        source: the path of a scenario file, its text, or a mapping of the same shape.
        asked: the bounds, and what the file does not say.
        effort: how much is simulated.
        link: the link's name; None for the one called `bottleneck`, or the only one.
        jitter_s: by how much flows that say nothing of it start later, at most, in seconds; None
            for one base round-trip time of the link.
        set: values that replace the file's, by path.
        seed: replaces the scenario's seed, which the first replicate has.
        on_run: called after every run with how many more there are known to be.

    Raises:
        ScenarioError: with place, mistake and remedy.
        RequestError: of bounds that nothing could keep on this link.
    """
    from goodqueue.runs.api import load
    from goodqueue.sizing.trials.file import FileTrial, link_name

    scenario = load(source, set=set, seed=seed)
    trial = FileTrial(scenario, link_name(scenario, link), asked, jitter_s)
    return simulate(
        trial, trial.link, effort, scenario.seed, notes=trial.notes, listener=Listener(on_run)
    )


def simulate(  # noqa: PLR0913 - what is run, how much of it, and who is told
    trial: Trial,
    link: Link,
    effort: Effort,
    seed: int,
    *,
    notes: tuple[str, ...] = (),
    listener: Listener = SILENT,
) -> Answer:
    """Works the answer out on this machine's threads."""
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
