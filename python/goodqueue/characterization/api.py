"""Characterisation from Python: `goodqueue.characterize`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodqueue.characterization.guide import guide
from goodqueue.characterization.measure import Characterization
from goodqueue.characterization.measure import characterize as measured
from goodqueue.characterization.stack import Programs, StackSubject, stack_of, subject_of
from goodqueue.characterization.subject import Subject, control_of, own, queue_of
from goodqueue.errors import RequestError
from goodqueue.study.runner import Runner, user_store
from goodqueue.study.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from goodqueue.characterization.guide import Guide
    from goodqueue.runs.controls import ControlFactory
    from goodqueue.runs.queues import QueueFactory
    from goodqueue.study.model import Executor

SEEDS = 10
"""Usual number of seeds of each scenario."""

QUICK_SEEDS = 2
"""Number of seeds of `--quick`."""

NOTHING = "none"
"""Name of no subject of comparison."""

STORE = "characterize"
"""Name of the store of runs in the user's cache."""


def characterize(  # noqa: PLR0913 - all are options, by name
    *,
    queue: str | QueueFactory | None = None,
    control: str | ControlFactory | None = None,
    stack: str | None = None,
    against: str | QueueFactory | ControlFactory | None = None,
    sections: Sequence[str] = (),
    seeds: int = SEEDS,
    store: str | Path | None = None,
    executor: Executor | None = None,
    jobs: int | None = None,
    allow_python: bool = False,
    on_run: Callable[[int], None] = lambda _left: None,
) -> Characterization:
    """Characterises a queue by RFC 7928, or a congestion control by RFC 9743.

    Runs are stored, so that the same call continues after an interruption, and a second call needs
    no runs. Those of a class in Python are identified by its source.

    Args:
        queue: a queue as in `tc` or as a table of scenario files, or a class at the top of a
            module (docs/queues/own.md).
        control: a congestion control by its name, as a table of scenario files, or a class at the
            top of a module (docs/own-control.md). With a stack it is the stack's name of the
            control.
        stack: the program of another transport stack, whose control is characterised: its path, or
            a name such as "quinn" for `goodqueue-quinn` on PATH (docs/foreign-stacks.md).
        against: subject of comparison; None for drop tail of one bandwidth-delay product or for
            `cubic`, and "none" for no comparison.
        sections: numbers of sections, such as "8.2"; all if there are none.
        seeds: number of seeds of each scenario, 1 to this number.
        store: folder of the stored runs; None for one in the user's cache.
        executor: executor in place of threads, such as a cluster.
        jobs: number of threads; None for one per processor.
        allow_python: True to import the classes that tables `{ kind = "python", class =
            "module:Class" }` name, which runs their modules' code.
        on_run: called after each run with the number of runs left.

    Raises:
        RequestError: if neither or both of `queue` and `control` are given, or a section is
            unknown, or a class or the program of a stack is not found, or this program fails.
        ScenarioError: if the queue or the control cannot be read.

    Examples:
        >>> from tempfile import mkdtemp
        >>> import goodqueue
        >>> small, long = '{ limit = "10p" }', '{ limit = "100p" }'
        >>> found = goodqueue.characterize(
        ...     queue=small, against=long, sections=["5.1.1"], seeds=2, store=mkdtemp()
        ... )
        >>> {score.measure.metric: score.verdict for score in found.found[0].scores}[
        ...     "bottleneck.mean_queueing_delay_s"
        ... ]
        'better'
    """
    if (queue is None) == (control is None):
        raise RequestError("name a queue or a congestion control, and not both")
    document = guide("rfc9743" if queue is None else "rfc7928")
    chosen = document.chosen(sections)
    read = _Reader(allow_python=allow_python)
    if stack is not None:
        if not isinstance(control, str):
            raise RequestError("--stack needs --control with the name of one of its controls")
        subject: Subject = subject_of(stack_of(stack), control)
    else:
        subject = read.control(control) if control is not None else read.queue(queue or "")
    other = read.against(document, subject, against)
    executor = executor or Threads(jobs)
    with user_store(STORE, None if store is None else Path(store)) as runs:
        runner = Runner(runs, executor, on_run)
        own_runner = None
        if isinstance(subject, StackSubject):
            own_runner = Runner(runs, Programs(subject, jobs), on_run)
        return measured(document, subject, other, chosen, range(1, seeds + 1), runner, own_runner)


@dataclass(frozen=True)
class _Reader:
    """Reader of subjects.

    Attributes:
        allow_python: True if tables may name classes in Python.
    """

    allow_python: bool

    def control(self, control: str | ControlFactory) -> Subject:
        """Returns a congestion control."""
        if isinstance(control, str):
            return control_of(control, allow_python=self.allow_python)
        return own(control)

    def queue(self, queue: str | QueueFactory) -> Subject:
        """Returns a queue."""
        if isinstance(queue, str):
            return queue_of(queue, allow_python=self.allow_python)
        return own(queue)

    def against(
        self,
        document: Guide,
        subject: Subject,
        against: str | QueueFactory | ControlFactory | None,
    ) -> Subject | None:
        """Returns the subject of comparison; None if there is none, or if both are the same."""
        if against == NOTHING:
            return None
        chosen: Any = document.against if against is None else against
        is_control = document.document == "RFC 9743"
        other = self.control(chosen) if is_control else self.queue(chosen)
        if other.value == subject.value and type(other) is type(subject):
            return None
        return replace(other, name=document.against_name) if against is None else other
