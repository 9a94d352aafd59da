"""Tuning from Python: `goodqueue.tune`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.errors import RequestError
from goodqueue.runs.memory import check_runs, limit_of
from goodqueue.runs.plugins import named_controls, named_queues
from goodqueue.runs.settings import overrides
from goodqueue.sizing.search.budget import BUDGET_PACKETS, Budget, BudgetSpent
from goodqueue.sizing.search.trials import FIRST_REPLICATES, Trials
from goodqueue.study.runner import Runner, user_store
from goodqueue.study.threads import Threads
from goodqueue.tuning.answer import Tuned
from goodqueue.tuning.axis import axis_of
from goodqueue.tuning.bounds import goal_of, keep_of
from goodqueue.tuning.replicates import Replicates
from goodqueue.tuning.search import Wanted, search
from goodqueue.tuning.shown import best_of, kept_sets, miss_of
from goodqueue.tuning.subject import Subject

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from goodqueue.runs.api import Source
    from goodqueue.runs.controls import ControlFactory
    from goodqueue.runs.queues import QueueFactory
    from goodqueue.runs.settings import Overrides
    from goodqueue.tuning.axis import Axis
    from goodqueue.tuning.bounds import Keep

MAX_REPLICATES = 64
"""Largest number of replicates of a value."""


def tune(  # noqa: PLR0913 - all but the scenario and its parameter are options, by name
    source: Source,
    vary: str,
    *,
    keep: Sequence[str] = (),
    most: str | None = None,
    least: str | None = None,
    set: Overrides = (),  # noqa: A002
    seed: int | None = None,
    replicates: int = MAX_REPLICATES,
    budget: float = BUDGET_PACKETS,
    time_s: float | None = None,
    jobs: int | None = None,
    memory: str | None = None,
    store: Path | None = None,
    controls: Mapping[str, ControlFactory] | None = None,
    queues: Mapping[str, QueueFactory] | None = None,
    allow_python: bool = False,
    on_run: Callable[[int], None] = lambda _left: None,
    on_change: Callable[[Axis, Trials], None] = lambda _axis, _trials: None,
) -> Tuned:
    """Finds the values of one parameter of a scenario that keep bounds on its figures.

    After Ctrl-C the call returns what is known.

    Args:
        source: path of a scenario file, its text, or a mapping of the same shape.
        vary: the parameter and its range, `PATH=LOW..HIGH`, such as
            `topology.bottleneck.queue.limit=10p..1000p`; ends in % are shares of the file's value.
        keep: bounds, such as `ping.p99<=60ms`; docs/tune.md has the names of figures.
        most: figure that should be as large as the bounds allow, or the path of the parameter.
        least: figure that should be as small as the bounds allow, or the path of the parameter.
        set: values that replace the file's, by path.
        seed: seed of the first replicate; replaces the scenario's seed.
        replicates: largest number of runs of a value, at least 8, below
            which no interval exists.
        budget: packets that all runs may send.
        time_s: largest wall-clock time in seconds; None for no limit.
        jobs: threads; None for one per processor.
        memory: largest memory of all runs together, such as `8GiB`.
        store: folder that stores the runs; None for one in the user's cache.
        controls: congestion controls in Python, by group of flows.
        queues: queues in Python in place of those of links, by link.
        allow_python: True to import the classes that the scenario names.
        on_run: function called after every run with the number of runs known to follow.
        on_change: function called with the parameter and its runs, after further runs.

    Raises:
        ScenarioError: with place, mistake and remedy.
        RequestError: if a bound, a figure or the range is wrong.

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> import goodqueue
        >>> answer = goodqueue.tune(
        ...     goodqueue.EXAMPLE,
        ...     "topology.bottleneck.queue.limit=2p..100p",
        ...     keep=["ping.p99<=150ms"],
        ...     most="upload.goodput",
        ...     set={"duration": "20s", "warmup": "5s"},
        ...     replicates=8,
        ...     store=Path(mkdtemp()),
        ... )
        >>> answer.value is not None
        True
    """
    own_queues = named_queues(queues)
    given = (*overrides(set), *named_controls(controls))
    subject = Subject(source, given, seed, allow_python or bool(controls), tuple(own_queues))
    if replicates < FIRST_REPLICATES:
        raise RequestError(
            f"--replicates {replicates}: write {FIRST_REPLICATES} or more; fewer give no interval"
        )
    own = subject.scenario()
    limit = limit_of(memory)
    check_runs([own], limit)  # the names of its metrics come from its network
    names = own.metric_names()
    keeps = _keeps(names, keep)
    if most is not None and least is not None:
        raise RequestError("--most and --least: give one of them, and bound the other with --keep")
    axis = axis_of(vary, subject)
    named = most if most is not None else least
    goal = None
    if named is not None:
        goal = goal_of(named, names, axis.path, axis.suffix, most=most is not None)
    figures = [keep.figure for keep in keeps] + ([] if goal is None else [goal.figure])
    budgeted = Budget(budget, time_s)
    with user_store("tuning", store) as opened:
        runner = Runner(opened, Threads(jobs, limit), on_run)
        source_of_runs = Replicates(subject, axis, figures, runner, budgeted, limit)
        trials = Trials(source_of_runs, on_change=lambda trials: on_change(axis, trials))
        targets = [one.bound for one in keeps]
        wanted = Wanted(axis.marks, targets, goal, axis.own, replicates)
        interrupted = over = False
        try:
            with budgeted.enforced(runner.stop):
                search(trials, wanted)
        except KeyboardInterrupt:
            interrupted = True
        except BudgetSpent:
            over = True
        kept = kept_sets(trials, axis, keeps)
        best = best_of(trials, axis, keeps, goal, kept) if trials.limits else None
        miss = miss_of(trials, keeps) if trials.limits and best is None else None
        at = best or miss
        return Tuned(
            axis=axis,
            keeps=keeps,
            goal=goal,
            trials=trials,
            kept=tuple(kept),
            best=best,
            miss=miss,
            scenario=None if at is None else source_of_runs.scenario(at.mark),
            budget=budget,
            used=budgeted.used,
            packets_per_run=source_of_runs.meter.work,
            interrupted=interrupted,
            budget_over=over,
            stored=opened.lasting,
        )


def _keeps(names: Sequence[str], keep: Sequence[str]) -> tuple[Keep, ...]:
    """Returns the bounds.

    Raises:
        RequestError: if there is none, or one is wrong.
    """
    if not keep:
        raise RequestError(
            "nothing is to be kept: give a bound, as in --keep 'ping.p99<=60ms'; docs/tune.md has "
            "the names of figures"
        )
    return tuple(keep_of(one, names) for one in keep)
