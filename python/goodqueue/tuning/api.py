"""Tuning from Python: `goodqueue.tune`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, TypedDict, overload

from goodqueue.core.extras import require
from goodqueue.errors import RequestError, as_arguments
from goodqueue.runs.memory import check_runs, limit_of
from goodqueue.runs.plugins import named_controls, named_queues
from goodqueue.runs.settings import overrides
from goodqueue.sizing.search.budget import BUDGET_PACKETS, Budget, BudgetSpent
from goodqueue.sizing.search.trials import FIRST_REPLICATES, Trials
from goodqueue.study.runner import Runner, user_store
from goodqueue.study.threads import Threads
from goodqueue.tuning.answer import tuned
from goodqueue.tuning.axis import Axis, axis_of
from goodqueue.tuning.bounds import goal_of, keep_of
from goodqueue.tuning.replicates import Replicates
from goodqueue.tuning.search import Aim, Wanted, search
from goodqueue.tuning.several.answer import tuned_point
from goodqueue.tuning.several.search import Search
from goodqueue.tuning.several.space import space_of
from goodqueue.tuning.subject import Subject

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Unpack

    from goodqueue.runs.api import Source
    from goodqueue.runs.controls import ControlFactory
    from goodqueue.runs.queues import QueueFactory
    from goodqueue.runs.settings import Overrides
    from goodqueue.tuning.answer import Tuned
    from goodqueue.tuning.bounds import Goal, Keep
    from goodqueue.tuning.several.answer import TunedPoint
    from goodqueue.tuning.several.space import Space

Parameters: TypeAlias = "list[str] | tuple[str, ...]"
"""Several parameters with their ranges."""

MAX_REPLICATES = 64
"""Largest number of replicates of a value."""


class Options(TypedDict, total=False):
    """The options of `tune`, for the types of its answers."""

    keep: Sequence[str]
    most: str | None
    least: str | None
    set: Overrides
    seed: int | None
    replicates: int
    budget: float
    time_s: float | None
    jobs: int | None
    memory: str | None
    store: Path | None
    controls: Mapping[str, ControlFactory] | None
    queues: Mapping[str, QueueFactory] | None
    allow_python: bool
    on_run: Callable[[int], None]
    on_change: Callable[[Axis | Space, Trials], None]


@overload
def tune(source: Source, vary: str, **options: Unpack[Options]) -> Tuned: ...


@overload
def tune(source: Source, vary: Parameters, **options: Unpack[Options]) -> TunedPoint: ...


@overload
def tune(
    source: Source, vary: str | Parameters, **options: Unpack[Options]
) -> Tuned | TunedPoint: ...


@as_arguments()
def tune(  # noqa: PLR0913 - all but the scenario and its parameter are options, by name
    source: Source,
    vary: str | Parameters,
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
    on_change: Callable[[Axis | Space, Trials], None] = lambda _axis, _trials: None,
) -> Tuned | TunedPoint:
    """Finds the values of one parameter, or of two to four, that keep bounds on figures.

    After Ctrl-C the call returns what is known.

    Args:
        source: path of a scenario file, its text, or a mapping of the same shape.
        vary: the parameter and its range, `PATH=LOW..HIGH`, such as
            `topology.bottleneck.queue.limit=10p..1000p`; ends in % are shares of the file's value.
            A list has two to four parameters, which Optuna searches together.
        keep: bounds, such as `ping.p99<=60ms`; docs/tune.md has the names of figures.
        most: figure that should be as large as the bounds allow, or the path of a parameter.
        least: figure that should be as small as the bounds allow, or the path of a parameter.
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
        on_change: function called with the parameter, or the space of several, and its runs,
            after further runs.

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
    points = axis_of(vary, subject) if isinstance(vary, str) else space_of(vary, subject)
    goal = _goal(names, most, least, points)
    figures = [keep.figure for keep in keeps] + ([] if goal is None else [goal.figure])
    budgeted = Budget(budget, time_s)
    with user_store("tuning", store) as opened:
        runner = Runner(opened, Threads(jobs, limit), on_run)
        source_of_runs = Replicates(subject, points, figures, runner, budgeted, limit)
        trials = Trials(source_of_runs, on_change=lambda trials: on_change(points, trials))
        aim = Aim([one.bound for one in keeps], goal, replicates)
        interrupted = over = False
        find, answer_of = _ways(points, trials, aim, keeps, own.seed)
        try:
            with budgeted.enforced(runner.stop):
                find()
        except KeyboardInterrupt:
            interrupted = True
        except BudgetSpent:
            over = True
        answer = answer_of(
            budget=budget,
            used=budgeted.used,
            packets_per_run=source_of_runs.meter.work,
            interrupted=interrupted,
            budget_over=over,
            stored=opened.lasting,
        )
        at = answer.best or answer.miss
        return replace(answer, scenario=None if at is None else source_of_runs.scenario(at.mark))


def _ways(
    points: Axis | Space, trials: Trials, aim: Aim, keeps: Sequence[Keep], seed: int
) -> tuple[Callable[[], None], Callable[..., Tuned | TunedPoint]]:
    """Returns the search over one parameter or several, and the reader of its answer."""
    if isinstance(points, Axis):
        wanted = Wanted(aim.targets, aim.goal, aim.most, points.marks, points.own)
        return partial(search, trials, wanted), partial(tuned, trials, points, keeps, aim.goal)
    require("optuna")
    several = Search(trials, points, aim, seed)
    return several.run, partial(tuned_point, trials, points, keeps, several)


def _goal(
    names: Sequence[str], most: str | None, least: str | None, points: Axis | Space
) -> Goal | None:
    """Returns the goal; None without one.

    Raises:
        RequestError: if there are two, or the scenario has no such figure.
    """
    if most is not None and least is not None:
        raise RequestError("--most and --least: give one of them, and bound the other with --keep")
    named = most if most is not None else least
    if named is None:
        return None
    axes = [points] if isinstance(points, Axis) else points.axes
    columns = {axis.path: axis.column for axis in axes}
    return goal_of(named, names, columns, most=most is not None)


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
