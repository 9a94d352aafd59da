"""The question of a switch, and its answer: `goodqueue.box`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.boxes.answer import ALPHA, BUSY, DEGREE, LARGEST, MEMORY, Answer, Found
from goodqueue.boxes.scenario import (
    ALPHA_PATH,
    BUSY_PATH,
    CAPACITY,
    SENDERS,
    SESSIONS,
    Box,
    check_frames,
)
from goodqueue.boxes.switch import Switch, from_config, groups_of, incast_of
from goodqueue.boxes.worlds import Pairs
from goodqueue.errors import RequestError, as_arguments, as_typed, nearest
from goodqueue.runs.memory import limit_of
from goodqueue.sizing.controls import CONTROLS
from goodqueue.sizing.question import threshold_of
from goodqueue.sizing.search.budget import BUDGET_PACKETS, Budget
from goodqueue.sizing.search.trials import FIRST_REPLICATES
from goodqueue.study.runner import Runner, user_store
from goodqueue.study.threads import Threads
from goodqueue.tuning.api import tune
from goodqueue.tuning.effort import MAX_REPLICATES, Effort

if TYPE_CHECKING:
    from collections.abc import Sequence

USUAL_RTT, USUAL_INCAST, USUAL_KEEP = "100us", "32x64kB", "query.p99<=5ms"

ALPHAS = tuple(2.0**exponent for exponent in range(-7, 4))
"""Factors of dynamic thresholds that switch chips have: 1/128 to 8."""

MEMORY_SPAN = 64
"""Ratio of the memory of the question to the smallest one that is tried."""

MEMORY_ABOVE = 4
"""Ratio of the largest memory that is tried to that of the question."""

SHARES = {MEMORY: 0.2, ALPHA: 0.15, DEGREE: 0.2, BUSY: 0.2}
"""Shares of the budget that the searches may take, in their order; other hosts take the rest."""

OVER_HOSTS = (ALPHA, DEGREE, MEMORY)
"""Searches that are repeated for other hosts."""

MIN_RTT_S, MAX_RTT_S = 1e-6, 1.0


@dataclass(frozen=True, slots=True)
class Question:
    """The options of `goodqueue box`, as typed; None if absent."""

    ports: str | None = None
    memory: str | None = None
    rtt: str = USUAL_RTT
    incast: str = USUAL_INCAST
    keep: tuple[str, ...] = (USUAL_KEEP,)
    alpha: float | None = None
    cell: str = "256B"
    reserved: str | None = None
    control: str = "cubic"
    mark_at: str | None = None
    config: str | None = None
    seed: int | None = None

    def box(self) -> tuple[Box, tuple[str, ...]]:
        """Returns the switch with its traffic, and sentences about a file that was read.

        Raises:
            ScenarioError: if a value cannot be read; the message names its option.
            RequestError: if a value is wrong or missing.
        """
        switch, notes = self._switch()
        rtt_s = _core.parse_span("--rtt", self.rtt)
        if not MIN_RTT_S <= rtt_s <= MAX_RTT_S:
            raise RequestError(f"--rtt {self.rtt}: write a time from 1us to 1s")
        if self.control not in CONTROLS:
            raise RequestError(f"--control {self.control}: {nearest(self.control, CONTROLS)}")
        mark = threshold_of(self.mark_at, ((self.control, 1.0),))
        if self.control == "dctcp" and mark is None:
            raise RequestError("--control dctcp needs marks: add --mark-at, as in --mark-at 65p")
        box = Box(
            switch,
            incast_of(self.incast),
            rtt_s,
            self.control,
            mark,
            1 if self.seed is None else self.seed,
        )
        check_frames(box)
        return box, notes

    def _switch(self) -> tuple[Switch, tuple[str, ...]]:
        """Returns the switch of the file and the options, which replace the file's values."""
        notes: tuple[str, ...] = ()
        if self.config is not None:
            switch, notes = from_config(*split(self.config))
            if self.ports is not None:
                switch = replace(switch, groups=groups_of(self.ports))
        elif self.ports is None or self.memory is None:
            missing = [
                name
                for name, value in (("--ports", self.ports), ("--memory", self.memory))
                if value is None
            ]
            raise RequestError(
                f"{' and '.join(missing)}: missing; write for example --ports "
                "48x10Gbps,4x100Gbps --memory 12MB, or --config config_db.json"
            )
        else:
            switch = Switch(groups_of(self.ports), 0)
        if self.memory is not None:
            switch = replace(switch, memory_bytes=_core.parse_size("--memory", self.memory))
        if self.alpha is not None:
            switch = replace(switch, alpha=self.alpha)
        if not ALPHAS[0] / 2 <= switch.alpha <= 2 * ALPHAS[-1]:
            raise RequestError(f"--alpha {switch.alpha:g}: write a number from 1/256 to 16")
        if self.reserved is not None:
            reserved = _core.parse_size("--reserved", self.reserved)
            switch = replace(switch, reserved_bytes=reserved)
        cell = _core.parse_size("--cell", self.cell)
        if not 1 <= cell <= MAX_CELL:
            raise RequestError(f"--cell {self.cell}: write 1B to {MAX_CELL}B")
        return replace(switch, cell_bytes=cell), notes


MAX_CELL = 65_536


def split(config: str) -> tuple[Path, str | None]:
    """Returns the file and the queue of `--config FILE[:QUEUE]`; a file may have a colon, too."""
    path, colon, queue = config.rpartition(":")
    if not colon or Path(config).exists():
        return Path(config), None
    return Path(path), queue or None


@as_arguments()
def box(  # noqa: PLR0913 - all are options, by name
    ports: str | None = None,
    memory: str | None = None,
    *,
    rtt: str = USUAL_RTT,
    incast: str = USUAL_INCAST,
    keep: str | tuple[str, ...] | list[str] = USUAL_KEEP,
    alpha: float | None = None,
    cell: str = "256B",
    reserved: str | None = None,
    control: str = "cubic",
    mark_at: str | None = None,
    config: str | None = None,
    seed: int | None = None,
    replicates: int = MAX_REPLICATES,
    budget: float = BUDGET_PACKETS,
    store: Path | None = None,
) -> Answer:
    """Finds the memory that a switch needs, its threshold, and the incasts that it survives.

    Args:
        ports: numbers and rates of its ports, such as `48x10Gbps,4x100Gbps`.
        memory: memory that all ports share, such as `12MB`.
        rtt: base round-trip time between two hosts.
        incast: number of servers that answer at once, and the size of an answer.
        keep: bounds on figures of the flow `query`; docs/tune.md has their names.
        alpha: factor of the dynamic thresholds; 1 if neither it nor a file says otherwise.
        cell: cell of the memory.
        reserved: memory that is reserved for each port.
        control: congestion control of all hosts.
        mark_at: queue above which a port marks packets, such as `65p`.
        config: path of a `config_db.json` of SONiC, and the queue after a colon.
        seed: seed of the first run.
        replicates: largest number of runs of a value.
        budget: packets that all runs may send.
        store: folder that stores the runs; None for one in the user's cache.

    Raises:
        ScenarioError: if a value cannot be read.
        RequestError: if the question is wrong.

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> import goodqueue
        >>> answer = goodqueue.box(
        ...     "8x1Gbps",
        ...     "200kB",
        ...     incast="4x16kB",
        ...     keep="query.p99<=20ms",
        ...     replicates=8,
        ...     budget=2e6,
        ...     store=Path(mkdtemp()),
        ... )
        >>> answer.box.switch.held(1)
        100000.0
    """
    bounds = (keep,) if isinstance(keep, str) else tuple(keep)
    question = Question(
        ports, memory, rtt, incast, bounds, alpha, cell, reserved, control, mark_at, config, seed
    )
    return answer_box(question, Effort(replicates=replicates, budget=budget, store=store))


def answer_box(question: Question, effort: Effort) -> Answer:
    """Searches the memory, the threshold, the number of senders, and the other busy ports.

    The numbers of senders and of busy ports are those with the threshold that was found, or with
    that of the question if none keeps the bounds.

    Raises:
        ScenarioError: if a value of the question cannot be read.
        RequestError: if the question is wrong.
    """
    asked, notes = question.box()
    answer = Answer(asked, question.keep, notes, budget=effort.budget)
    for what in SHARES:
        vary = _vary(what, answer)
        if vary is None:
            continue
        found = _search(what, vary, answer, effort)
        answer = replace(answer, found={**answer.found, what: found})
        if found.tuned.interrupted:
            return answer
    return _with_worlds(answer, effort)


def _vary(what: str, answer: Answer) -> str | None:
    """Returns the parameter of a search with its values, as `--vary` has it; None for no search."""
    switch = answer.box.switch
    if what == MEMORY:
        least = switch.ports * switch.reserved_bytes + switch.least_shared
        low = max(switch.memory_bytes // MEMORY_SPAN, least)
        return f"{CAPACITY}={low}B..{MEMORY_ABOVE * switch.memory_bytes}B"
    if what == ALPHA:
        holds = [one for one in ALPHAS if replace(switch, alpha=one).holds_a_frame]
        return _values(ALPHA_PATH, holds)
    if what == DEGREE:
        return _values(SENDERS, _core.grid(answer.box.most_senders))
    return _values(BUSY_PATH, [SESSIONS * ports for ports in answer.busy_tried])


def _values(path: str, values: Sequence[float]) -> str | None:
    """Returns a parameter with its values one by one; None for fewer than two."""
    return f"{path}={','.join(map(str, values))}" if len(values) > 1 else None


def _search(what: str, vary: str, answer: Answer, effort: Effort) -> Found:
    """Returns the outermost value of a parameter that keeps the bounds."""
    path = vary.partition("=")[0]
    largest = what in LARGEST
    limits = replace(
        effort,
        replicates=FIRST_REPLICATES if what == BUSY else effort.replicates,
        budget=max(SHARES[what] * effort.budget, 1.0),
    )
    tuned = as_typed(tune)(
        answer.source(what),
        vary,
        keep=answer.keep,
        most=path if largest else None,
        least=None if largest else path,
        set=answer.settings(what),
        **limits.options(),
    )
    return Found(what, vary, tuned)


def _with_worlds(answer: Answer, effort: Effort) -> Answer:
    """Adds the answers for other hosts, as far as the budget suffices."""
    budget = Budget(max(effort.budget - answer.used, 1.0), effort.time_s)
    limit = limit_of(effort.memory)
    with user_store("tuning", effort.store) as store:
        runner = Runner(store, Threads(effort.jobs, limit), effort.on_run)
        for what in OVER_HOSTS:
            found = answer.found.get(what)
            if found is None or found.value is None:
                continue
            pairs = Pairs(answer.box, found.vary, answer.keep, runner, budget, limit)
            try:
                with budget.enforced(runner.stop):
                    world = pairs.world(found.value, answer.settings(what), what in LARGEST)
            except KeyboardInterrupt:
                return replace(answer, stopped=True)
            answer = answer.with_world(what, world)
    return replace(answer, worlds_used=budget.used)
