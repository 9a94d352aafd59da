"""Cost of a study beside its runs: time and bytes per run, and the time to load many runs.

    python -m evidence.studies.cost [runs]

prints the figures of docs/studies.md. The measured load of 100,000 runs uses results of real runs,
each recorded under its own identity.
"""

from __future__ import annotations

import hashlib
import resource
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from evidence.studies.endurance import STUDY
from goodqueue.core.parallel import workers
from goodqueue.study.engine import execute_run
from goodqueue.study.model import Keep, Stop
from goodqueue.study.plan import run_of
from goodqueue.study.record.store import Store
from goodqueue.study.results import Results
from goodqueue.study.sweep import Study, Sweep
from goodqueue.study.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from goodqueue._core import Cancel, Scenario

TINY = """\
schema_version = 1
title = "Ten packets behind four buffers"
seeds = 250
[sweep]
"topology.bottleneck.queue.limit" = ["4p", "10p", "25p", "60p"]
[scenario]
schema_version = 1
duration = "1s"
[scenario.topology]
shape = "dumbbell"
access = { rate = "100Mbps", delay = "5ms" }
bottleneck = { rate = "2Mbps", delay = "20ms" }
[[scenario.flow]]
name = "upload"
start_jitter = "100ms"
workload = { kind = "bulk", size = "14600B" }
tcp = { profile = "linux" }
"""
"""A thousand runs of one transfer of ten packets, whose simulation takes a tenth of their time."""

RUNS = 2000
ROUNDS = 3
LOADED = 100_000
BATCH = 1000


@dataclass(frozen=True, slots=True)
class Time:
    """Seconds of wall-clock time, and of processors."""

    wall: float
    cpu: float


def timed(call: Callable[[], object]) -> Time:
    """Returns the time that a call takes."""

    def cpu() -> float:
        used = resource.getrusage(resource.RUSAGE_SELF)
        return used.ru_utime + used.ru_stime

    wall, before = time.perf_counter(), cpu()
    call()
    return Time(time.perf_counter() - wall, cpu() - before)


def bare(study: Study, jobs: int) -> None:
    """Runs the runs by the engine alone, without summaries, plan and store."""
    plan = study.plan
    pairs = [(variant.scenario, seed) for variant in plan.variants for seed in plan.seeds]

    def some(part: list[tuple[Scenario, int]]) -> Callable[[Cancel], None]:
        def call(cancel: Cancel) -> None:
            for scenario, seed in part:
                scenario.with_seed(seed).run(series=False, packets=False, cancel=cancel)

        return call

    with workers(jobs) as threads:
        parts = [pairs[start : start + 50] for start in range(0, len(pairs), 50)]
        for future in [threads.submit(some(part)) for part in parts]:
            future.result()


def recorded(study: Study, folder: Path, jobs: int) -> None:
    """Runs the same runs as `goodqueue sweep` does."""
    store = Store.open(folder, study.plan.text)
    Sweep(study.plan, store, Threads(jobs), Stop()).run()
    store.close()


def overhead(runs: int, jobs: int = 2) -> None:
    """Compares a sweep with the bare engine, the best of several rounds each."""
    study = Study(STUDY.format(seeds=runs // 4).replace('"10s"', '"16s"'))
    engine, sweep = [], []
    for _ in range(ROUNDS):
        engine.append(timed(partial(bare, study, jobs)))
        with tempfile.TemporaryDirectory() as folder:
            sweep.append(timed(partial(recorded, study, Path(folder), jobs)))
    for what, of in (("wall clock", "wall"), ("processor time", "cpu")):
        alone, whole = (min(getattr(one, of) for one in some) for some in (engine, sweep))
        print(
            f"{what}: {1000 * alone / runs:.2f} ms a run by the engine alone on {jobs} threads, "
            f"{1000 * whole / runs:.2f} ms in a study ({whole / alone - 1:+.1%})"
        )


def tiny(jobs: int = 2) -> None:
    """Measures the rate of runs whose cost is mainly their set-up, summary and record."""
    study, took = Study(TINY), []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            took.append(timed(partial(recorded, study, Path(folder), jobs)).cpu)
    runs = len(study.plan.variants) * len(study.plan.seeds)
    print(f"tiny runs: {runs / min(took):,.0f} in a second of processor time")


def load(count: int) -> None:
    """Records many rows, and reads them back."""
    study = Study(STUDY.format(seeds=250).replace('"10s"', '"16s"'))
    runs = [run_of(variant, seed) for variant in study.plan.variants for seed in study.plan.seeds]
    real = [result for run in runs if (result := execute_run(run, Keep())) is not None]
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(folder, study.plan.text)
        for start in range(0, count, BATCH):
            batch = []
            for number in range(start, start + BATCH):
                result = real[number % len(real)]
                identity = hashlib.sha256(str(number).encode()).digest()
                run = replace(result.run, seed=number, identity=identity)
                batch.append(replace(result, run=run))
            store.record(batch)
        store.close()
        taken = [timed(lambda: Results(folder).wide()) for _ in range(ROUNDS)]
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
        metrics = len(Results(folder).metrics)
    wall, cpu = min(one.wall for one in taken), min(one.cpu for one in taken)
    print(f"loading {count:,} runs of {metrics} metrics: {wall:.2f} s ({cpu:.2f} s of processor)")
    print(f"on disk: {size / count:,.0f} bytes a run")


def main(runs: int = RUNS) -> None:
    """Prints the figures."""
    overhead(runs)
    tiny()
    load(LOADED)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
