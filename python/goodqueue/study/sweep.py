"""Running a study, from its file to its results."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from goodqueue import _core
from goodqueue.core.extras import require
from goodqueue.core.shown import html_of, words_of
from goodqueue.errors import RequestError, ScenarioError
from goodqueue.study.model import Stop
from goodqueue.study.plan import longest_first, plan, run_of, seeds_of, shard
from goodqueue.study.record.cache import cache_folder
from goodqueue.study.record.store import Store
from goodqueue.study.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from goodqueue.runs.api import Source
    from goodqueue.runs.controls import ControlFactory
    from goodqueue.runs.queues import QueueFactory
    from goodqueue.runs.settings import Overrides
    from goodqueue.study.model import Executor, Run, RunResult, StopSpec, StudyPlan
    from goodqueue.study.results import Results


HEX_DIGITS = 16
"""Letters of the name of a study's folder in the cache."""


class Watcher(Protocol):
    """Observer of a study's progress, called from the thread that writes its results."""

    def planned(self, runs: int, weight: float, known: int) -> None:
        """Reports the number of runs to do, besides those that are known already."""

    def recorded(self, results: Sequence[RunResult]) -> None:
        """Reports results that are on the disk."""

    def worst(self, line: str | None) -> None:
        """Reports the interval that exceeds its bound most."""


class Silent:
    """Observer that does nothing."""

    def planned(self, runs: int, weight: float, known: int) -> None:
        """Does nothing."""

    def recorded(self, results: Sequence[RunResult]) -> None:
        """Does nothing."""

    def worst(self, line: str | None) -> None:
        """Does nothing."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts at the end of a sweep.

    Attributes:
        done: number of runs that were run.
        failed: number of these that failed.
        known: number of runs that the store contained already.
        interrupted: True if runs are left because the sweep was stopped.
    """

    done: int
    failed: int
    known: int
    interrupted: bool


class Study:
    """A scenario with several values of some of its keys, each under several seeds.

    Attributes:
        plan: its variants and seeds.

    Examples:
        >>> import goodqueue
        >>> from tempfile import mkdtemp
        >>> study = goodqueue.Study(
        ...     goodqueue.EXAMPLE,
        ...     sweep={"topology.bottleneck.queue.limit": ["10p", "100p"]},
        ...     seeds=3,
        ... )
        >>> len(study.run(mkdtemp()))
        6
    """

    def __init__(  # noqa: PLR0913 - all but the scenario are options, by name
        self,
        source: Source,
        *,
        sweep: Mapping[str, Any] | None = None,
        seeds: int | Iterable[int] | None = None,
        set: Overrides = (),  # noqa: A002
        controls: Mapping[str, ControlFactory] | None = None,
        queues: Mapping[str, QueueFactory] | None = None,
        allow_python: bool = False,
    ) -> None:
        """Reads a study.

        Args:
            source: a scenario, or a study with a sweep and seeds of its own (docs/studies.md): the
                path of a file, its text, or a mapping of the same shape.
            sweep: values by the path of their key, such as
                `{"topology.bottleneck.rate": ["10Mbps", "20Mbps"]}`; the first key varies slowest.
                Values are a sequence, in which classes stand for queues and controls in Python; a
                range such as `{"from": "10p", "to": "100p", "points": 7}`; or one value. `zip` and
                `exclude` are lists of such mappings.
            seeds: number of seeds of each variant, from that of the scenario on, or the seeds; one
                by default.
            set: values that replace those of its base scenario, by path.
            controls: congestion controls in Python, by group of flows. Each is a class at the top
                of a module; a checksum of its source is a part of the identity of the runs.
            queues: queues in Python in place of those of links, by link: classes as for
                `controls`. One with a parameter `limit_packets` gets the limit of the link.
            allow_python: True to import the classes that the study names as congestion controls
                and queues, which runs their modules' code.

        Raises:
            ScenarioError: with place, mistake and remedy.
            RequestError: if `source` is a study and `sweep` or `seeds` are given, or if a class is
                not found by its name.
        """
        from goodqueue.runs.kind import of_other_kind
        from goodqueue.runs.plugins import checksum_of, named_controls, named_queues
        from goodqueue.runs.settings import overrides

        data, name, has_classes = _study_of(source, sweep, seeds)
        checksum = checksum_of if allow_python or controls or has_classes else None
        given = [*overrides(set), *named_controls(controls)]
        try:
            study = _core.Study.parse(data, name, given, checksum)
        except ScenarioError as error:
            raise of_other_kind(error, data, name, "study") from None
        self.plan = plan(study, named_queues(queues))

    def run(  # noqa: PLR0913 - all but the folder are options, by name
        self,
        folder: str | Path | None = None,
        *,
        jobs: int | None = None,
        executor: Executor | None = None,
        part: tuple[int, int] = (1, 1),
        keep_both: bool = False,
        retry_failed: bool = False,
    ) -> Results:
        """Runs the runs that the folder does not contain yet.

        Ctrl-C ends the call and keeps the finished runs; the same call continues later.

        Args:
            folder: folder of results, which may contain some already; by default one of the study
                in the user's cache.
            jobs: number of threads, or None for one per processor.
            executor: executor in place of threads.
            part: (k, n) for the k-th of n machines; merge their folders afterwards.
            keep_both: True to keep results of another version of the engine.
            retry_failed: True to run failed runs again.

        Raises:
            RequestError: if the folder cannot be used, or holds results of another version, or if
                polars is missing.
        """
        from goodqueue.study.results import Results

        require("polars")
        check_part(self.plan, part)
        if folder is None:
            folder, keep_both = self._usual_folder(), True
        store = Store.open(folder, self.plan.text, keep_both=keep_both)
        stop = Stop()
        try:
            sweep = Sweep(self.plan, store, executor or Threads(jobs), stop, part=part)
            sweep.run(retry_failed=retry_failed)
        except KeyboardInterrupt:
            stop.abort()
            raise
        finally:
            store.close()
        return Results(folder).within(self.plan)

    def __repr__(self) -> str:
        return words_of(self)

    def _repr_html_(self) -> str:
        return html_of(self)

    def _usual_folder(self) -> Path:
        """Returns the folder of the user's cache for a study with these runs."""
        name = hashlib.sha256(self.plan.text.encode()).hexdigest()[:HEX_DIGITS]
        return cache_folder("studies") / name


def _study_of(
    source: Source, sweep: Mapping[str, Any] | None, seeds: int | Iterable[int] | None
) -> tuple[bytes, str, bool]:
    """Returns the text of a study, the name by which messages call it, and if it has classes.

    Raises:
        RequestError: if `source` is a study and a sweep or seeds are given.
    """
    from goodqueue.runs.api import text_of
    from goodqueue.runs.kind import kind_of, settings_in
    from goodqueue.runs.settings import sweep_toml, toml_of

    data, name = text_of(source)
    if sweep is None and seeds is None:
        return data, name, False
    if kind_of(data) == "study":
        raise RequestError(
            f"{name} is a study, which has its own sweep and seeds: change them there"
        )
    scenario = settings_in(data, name)
    head = {
        "schema_version": 1,
        "title": scenario.get("title", ""),
        "seeds": 1 if seeds is None else seeds,
        "scenario": str(Path(name).absolute()) if Path(name).is_file() else scenario,
    }
    axes = {} if sweep is None else sweep
    if not isinstance(axes, Mapping):
        raise RequestError(f"sweep is a mapping of keys to values, and not {axes!r}")
    text = toml_of(head) + sweep_toml(axes).encode()
    return text, "<study>", any(map(_has_class, axes.values()))


def _has_class(value: object) -> bool:
    """Returns True if a class is among the values of an axis."""
    if isinstance(value, Mapping):
        return any(map(_has_class, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_has_class, value))
    return isinstance(value, type)


def check_part(plan: StudyPlan, part: tuple[int, int]) -> None:
    """Refuses to run a part of a study whose stopping rule needs all runs."""
    if plan.stop is not None and part != (1, 1):
        raise RequestError(
            "a stopping rule needs all runs, and a shard has only some of them; write "
            '"seeds" in place of [stop], or omit --shard'
        )


class Sweep:
    """Runs the runs of a plan and records them in a store."""

    def __init__(  # noqa: PLR0913
        self,
        plan: StudyPlan,
        store: Store,
        executor: Executor,
        stop: Stop,
        *,
        watcher: Watcher | None = None,
        part: tuple[int, int] = (1, 1),
    ) -> None:
        self._plan = plan
        self._store = store
        self._executor = executor
        self._stop = stop
        self._watcher = watcher or Silent()
        self._part = part
        self._done = self._failed = self._known = 0
        self._order = longest_first(plan.variants)
        self._weights = [variant.scenario.weight() for variant in plan.variants]

    def run(self, *, retry_failed: bool = False) -> Tally:
        """Runs the runs that the store does not contain."""
        plan = self._plan
        rule, samples = None, None
        if plan.stop is not None:
            from goodqueue.study.stopping import SequentialRule

            rule, samples = SequentialRule(plan.stop), Samples(plan, plan.stop, self._store)
        least = plan.stop.min_replicates if plan.stop else len(plan.seeds)
        counts, before = [least] * len(plan.variants), [0] * len(plan.variants)
        begun = time.monotonic()
        while True:
            pending = self._pending(before, counts, retry_failed=retry_failed)
            self._execute(pending, samples)
            if samples is None or rule is None or self._stop.draining:
                break
            columns = samples.columns(counts)
            self._watcher.worst(rule.worst(columns))
            more = rule.more(columns)
            if not any(more) or not self._in_time(begun):
                break
            before = counts
            counts = [count + extra for count, extra in zip(counts, more, strict=True)]
        return Tally(self._done, self._failed, self._known, self._stop.draining)

    def _in_time(self, begun: float) -> bool:
        """Returns True if the budget has time for another round."""
        limit = self._plan.stop.max_time_s if self._plan.stop else None
        return limit is None or time.monotonic() - begun < limit

    def _known_already(self, run: Run, *, retry_failed: bool) -> bool:
        store = self._store
        failed = store.failed(run.identity) and not retry_failed
        return failed or store.has(run.identity, self._plan.keep)

    def _pending(
        self, before: Sequence[int], counts: Sequence[int], *, retry_failed: bool
    ) -> list[Run]:
        """Yields the runs that are new and not recorded, longest first."""
        pending: list[Run] = []
        known: list[Run] = []
        seen: set[bytes] = set()  # several points of the grid may have the same scenario
        for run in shard(self._runs(before, counts), *self._part):
            if self._known_already(run, retry_failed=retry_failed):
                known.append(run)
            elif run.identity not in seen:
                pending.append(run)
                seen.add(run.identity)
        self._store.adopt(known)
        self._known += len(known)
        weight = sum(self._weights[run.variant.index] for run in pending)
        self._watcher.planned(len(pending), weight, len(known))
        return pending

    def _runs(self, before: Sequence[int], counts: Sequence[int]) -> Iterator[Run]:
        seeds = seeds_of(self._plan, max(counts, default=0))
        for variant in self._order:
            for seed in seeds[before[variant.index] : counts[variant.index]]:
                yield run_of(variant, seed)

    def _execute(self, pending: Sequence[Run], samples: Samples | None) -> None:
        keep = self._plan.keep
        for results in self._executor.execute(pending, keep, self._stop):
            self._store.record(results, keep)
            self._done += len(results)
            self._failed += sum(result.error is not None for result in results)
            if samples is not None:
                samples.add(results)
            self._watcher.recorded(results)


class Samples:
    """Metrics that a stopping rule needs, by run."""

    def __init__(self, plan: StudyPlan, stop: StopSpec, store: Store) -> None:
        self._plan = plan
        self._metrics = list(stop.width)
        self._store = store
        self._values: dict[bytes, list[float]] = {}

    def add(self, results: Sequence[RunResult]) -> None:
        """Adds results that were just recorded."""
        for result in results:
            found = result.metrics
            self._values[result.run.identity] = [
                found.get(metric, float("nan")) for metric in self._metrics
            ]

    def columns(self, counts: Sequence[int]) -> list[dict[str, list[float]]]:
        """Returns, for each variant, the values of each metric in the order of the seeds."""
        seeds = seeds_of(self._plan, max(counts))
        runs = [
            [run_of(variant, seed).identity for seed in seeds[: counts[variant.index]]]
            for variant in self._plan.variants
        ]
        missing = [one for some in runs for one in some if one not in self._values]
        if missing:  # recorded by an earlier sweep
            self._values.update(self._store.values(missing, self._metrics))
        return [
            {
                metric: [self._values[one][place] for one in some]
                for place, metric in enumerate(self._metrics)
            }
            for some in runs
        ]
