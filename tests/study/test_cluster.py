"""Studies on a Dask cluster of real processes give the same table, even if processes die."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from goodqueue.errors import RequestError
from goodqueue.study.model import Keep, Run, Stop, Variant
from goodqueue.study.plan import run_of
from goodqueue.study.sweep import Study
from helpers.processes import started

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from goodqueue.study.cluster import Cluster
    from goodqueue.study.results import Results

pytest.importorskip("distributed", reason="run `make setup`: requirements.lock has it")

STUDY = """\
schema_version = 1
seeds = 15
[sweep]
"topology.bottleneck.queue.limit" = ["4p", "10p", "25p", "60p"]
[scenario]
schema_version = 1
duration = "{duration}"
[scenario.topology]
shape = "dumbbell"
access = {{ rate = "100Mbps", delay = "5ms" }}
bottleneck = {{ rate = "2Mbps", delay = "20ms" }}
[[scenario.flow]]
name = "upload"
count = 3
start_jitter = "1s"
workload = {{ kind = "bulk" }}
tcp = {{ profile = "linux" }}
"""


def study(duration: str = "5s") -> Study:
    return Study(STUDY.format(duration=duration))


class Machines:
    """A scheduler and its workers, each in a process of its own."""

    def __init__(self, folder: Path, **environment: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        self._folder = folder
        # A worker imports this file, and this file the helpers.
        here = Path(__file__).parent
        known = (str(here), str(here.parent), os.environ.get("PYTHONPATH"))
        path = os.pathsep.join(filter(None, known))
        self._environment = {**os.environ, "PYTHONPATH": path, **environment}
        self._stack = ExitStack()
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", str(port))

    def add(self, count: int) -> None:
        here = str(self._folder)
        for _ in range(count):
            self.workers.append(
                self._start(
                    *("worker", self.address, "--nthreads", "1", "--no-nanny"),
                    *("--local-directory", here, "--host", "127.0.0.1"),
                )
            )

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *arguments, "--no-dashboard"]
        return self._stack.enter_context(
            started(
                command,
                env=self._environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )

    def stop(self) -> None:
        self._stack.close()


@contextmanager
def connected(machines: Machines, threads: int) -> Iterator[Cluster]:
    """Yields the cluster once this many workers have joined."""
    from goodqueue.study.cluster import Cluster

    deadline = time.monotonic() + 60
    while not answers(machines.address):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    cluster = Cluster(machines.address)
    while cluster.workers < threads:
        assert time.monotonic() < deadline
        time.sleep(0.1)
        cluster.count()
    try:
        yield cluster
    finally:
        cluster.close()


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    made = Machines(tmp_path, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")
    yield made
    made.stop()


def what_counts(results: Results) -> pl.DataFrame:
    """Returns the table without columns that may differ: the time of a run, and its host."""
    return results.wide().drop("wall_s", "host")


def test_threads_clusters_and_shards_give_one_table(tmp_path: Path, machines: Machines) -> None:
    machines.add(2)
    one = study().run(tmp_path / "one", jobs=1)
    assert one.wide()["bottleneck.utilization"].n_unique() > 10
    tables = {"two threads": what_counts(study().run(tmp_path / "two", jobs=2))}
    for count in (2, 4):
        machines.add(count - len(machines.workers))
        with connected(machines, count) as cluster:
            results = study().run(tmp_path / f"dask-{count}", executor=cluster)
            tables[f"{count} processes"] = what_counts(results)
    parts = [tmp_path / f"part-{part}" for part in (1, 2, 3)]
    sizes = [
        len(study().run(folder, part=(number, 3))) for number, folder in enumerate(parts, start=1)
    ]
    assert sum(sizes) == 60
    assert min(sizes) > 5
    tables["three shards"] = what_counts(merged(parts))
    for name, table in tables.items():
        assert table.equals(what_counts(one)), name


def merged(parts: list[Path]) -> Results:
    from goodqueue.study.record.store import Store
    from goodqueue.study.results import Results

    store = Store.open(parts[0], keep_both=True)
    for other in parts[1:]:
        store.merge(other)
    store.close()
    return Results(parts[0])


def test_a_worker_that_dies_costs_only_its_current_runs(tmp_path: Path, machines: Machines) -> None:
    machines.add(2)
    runs = [run_of(variant, seed) for variant in study("20s").plan.variants for seed in range(15)]
    recorded: list[bytes] = []
    with connected(machines, 2) as cluster:
        for results in cluster.execute(runs, Keep(), Stop()):
            assert all(result.error is None for result in results)
            if not recorded:
                machines.workers[0].send_signal(signal.SIGKILL)
            recorded += [result.run.identity for result in results]
    assert sorted(recorded) == sorted(run.identity for run in runs), "each once, none lost"
    assert len(recorded) == 60
    del tmp_path


class Deadly:
    """A scenario that kills its worker process."""

    def with_seed(self, seed: int) -> Deadly:
        os._exit(seed)


def test_a_run_that_kills_its_worker_fails_alone(machines: Machines) -> None:
    # The run ends two workers: first one that also holds other runs, and then one that holds no
    # other.
    machines.add(3)
    good = study().plan.variants[0]
    deadly = Variant(9, {}, Deadly(), b"")  # type: ignore[arg-type]
    runs = [run_of(good, seed) for seed in range(8)]
    runs.insert(6, Run(deadly, 1, b"deadly"))
    with connected(machines, 3) as cluster:
        batches = cluster.execute(runs, Keep(), Stop())
        results = [result for batch in batches for result in batch]
    assert len(results) == 9
    failed = [result for result in results if result.error is not None]
    assert [result.run.identity for result in failed] == [b"deadly"]
    assert "died" in str(failed[0].error)


def test_a_lost_scheduler_is_reported_and_the_study_finishes_without_it(
    tmp_path: Path, machines: Machines
) -> None:
    machines.add(1)
    slow = study("60s")
    folder = tmp_path / "runs"
    with connected(machines, 1) as cluster:
        started = cluster.execute([], Keep(), Stop())
        assert list(started) == []
        executed = cluster.execute

        def interrupted(runs: list[Run], keep: Keep, stop: Stop) -> Iterator[list[object]]:
            for number, results in enumerate(executed(runs, keep, stop)):
                yield list(results)
                if number == 0:
                    machines.scheduler.kill()

        cluster.execute = interrupted  # type: ignore[method-assign, assignment]
        with pytest.raises(RequestError, match="recorded runs are kept"):
            slow.run(folder, executor=cluster)
    results = slow.run(folder)
    assert len(results) == 60


def test_a_missing_scheduler_gives_one_sentence() -> None:
    from goodqueue.study.cluster import Cluster

    with pytest.raises(RequestError, match="no scheduler answers there; start one") as error:
        Cluster("tcp://127.0.0.1:9")
    assert "\n" not in str(error.value)
    for nonsense in ("nonsense", "other://host:1", "tcp://host", "tcp://host:x"):
        with pytest.raises(RequestError, match="this is not an address; start one with `dask"):
            Cluster(nonsense)


def test_a_scheduler_without_workers_gives_one_sentence(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    from goodqueue.study import cluster

    deadline = time.monotonic() + 60
    while not answers(machines.address):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    monkeypatch.setattr(cluster, "WORKERS_S", 1)
    with pytest.raises(RequestError, match="has no workers; start some: dask worker tcp://"):
        cluster.Cluster(machines.address)


def answers(address: str) -> bool:
    host, port = address.removeprefix("tcp://").split(":")
    try:
        socket.create_connection((host, int(port))).close()
    except OSError:
        return False
    return True
