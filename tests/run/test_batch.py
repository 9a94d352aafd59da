"""Short runs that one call of the core runs have the results of single runs."""

from __future__ import annotations

import pytest

from conftest import SMALL
from goodqueue import load
from goodqueue._core import Cancel
from goodqueue.study.engine import execute_run, execute_runs
from goodqueue.study.model import Keep, Run, Stop
from goodqueue.study.plan import run_of, variant_of
from goodqueue.study.threads import Threads, _Source

COUNT = 12


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    """Runs of two variants, alternately, which have metrics of other names."""
    short = load(SMALL, set={"duration": "1s"})
    other = load(SMALL, set={"duration": "1s", "flow.0.name": "other"})
    variants = [variant_of(short, {"a": 1}, 0), variant_of(other, {"a": 2}, 1)]
    return [run_of(variants[seed % 2], seed) for seed in range(COUNT)]


def test_runs_of_one_call_equal_single_runs_in_their_order(runs: list[Run]) -> None:
    together = execute_runs(runs, Keep(), Cancel(), 60.0)
    alone = [execute_run(run, Keep()) for run in runs]
    assert [result.run for result in together] == runs
    for one, two in zip(together, alone, strict=True):
        assert two is not None
        assert (one.names, one.values, one.error) == (two.names, two.values, None)
    assert together[0].names != together[1].names


def test_a_call_ends_when_its_time_is_over_but_runs_at_least_one(runs: list[Run]) -> None:
    assert [result.run for result in execute_runs(runs, Keep(), Cancel(), 0.0)] == runs[:1]


def test_a_cancelled_call_returns_nothing(runs: list[Run]) -> None:
    cancel = Cancel()
    cancel.set()
    assert execute_runs(runs, Keep(), cancel, 60.0) == []


def test_runs_that_were_not_run_are_taken_next(runs: list[Run]) -> None:
    source = _Source(runs, Stop())
    taken = source.take(4)
    assert taken == runs[:4]
    source.give_back(taken[1:])
    assert source.take(5) == runs[1:6]
    assert source.take(COUNT) == runs[6:]
    assert source.take(1) == []


def test_no_run_is_taken_after_a_stop(runs: list[Run]) -> None:
    stop = Stop()
    source = _Source(runs, stop)
    stop.drain()
    assert source.take(1) == []


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_every_run_is_run_once_whatever_the_number_of_threads(runs: list[Run], jobs: int) -> None:
    results = [result for some in Threads(jobs).execute(runs, Keep(), Stop()) for result in some]
    assert sorted(result.run.seed for result in results) == list(range(COUNT))
    expected = {
        result.run.seed: result.values for result in execute_runs(runs, Keep(), Cancel(), 9)
    }
    assert {result.run.seed: result.values for result in results} == expected
