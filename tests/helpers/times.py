"""A pytest plugin that measures the time of every test and writes `tests/slow.txt`.

`make slow` uses it. The time of a test is its CPU time, which hardly depends on other load. Tests
that wait for other programs use little CPU time, so a long time on the clock counts, too. A fixture
that several tests share is charged to each of them, because one of them alone would need it.
"""

from __future__ import annotations

import resource
import time
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from helpers.slow import renewed, slow_tests, write_slow

if TYPE_CHECKING:
    from collections.abc import Generator

LONG_WAIT_S = 1.5
"""Time on the clock above which a test is charged with it instead of its CPU time, in seconds."""

OWN = pytest.StashKey[float]()
"""Time of a test so far, without the fixtures that it shares."""
SHARED_S: dict[str, float] = {}
"""Time in which each shared fixture was set up, by the name of the fixture."""
MEASURED: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
"""Own time and time of the shared fixtures of each case, by the name of the test."""


class Stopwatch:
    """Time that passes from the creation of the object, on the clock and in CPU time."""

    def __init__(self) -> None:
        self._cpu_s, self._clock_s = _cpu_s(), time.monotonic()

    def elapsed_s(self) -> float:
        """Returns the CPU time, or the time on the clock if it is long, in seconds."""
        clock_s = time.monotonic() - self._clock_s
        return max(_cpu_s() - self._cpu_s, clock_s if clock_s > LONG_WAIT_S else 0)


def _cpu_s() -> float:
    """Returns the CPU time of this process and of its children that have ended, in seconds."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    watch = Stopwatch()
    try:
        return (yield)
    finally:
        if request.scope == "function":
            request.node.stash[OWN] += watch.elapsed_s()
        else:
            SHARED_S[fixturedef.argname] = watch.elapsed_s()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    item.stash[OWN] = 0.0
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    watch = Stopwatch()
    try:
        return (yield)
    finally:
        item.stash[OWN] += watch.elapsed_s()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    if call.when == "teardown":
        names = item.fixturenames if isinstance(item, pytest.Function) else []
        shared_s = sum(SHARED_S.get(name, 0.0) for name in names)
        item.user_properties.append(("times_s", f"{item.stash[OWN]} {shared_s}"))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "teardown":
        own_s, shared_s = str(dict(report.user_properties)["times_s"]).split()
        MEASURED[report.nodeid.partition("[")[0]].append((float(own_s), float(shared_s)))


def pytest_sessionfinish(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput"):  # workers of xdist report to the controller
        times = {
            name: sum(own for own, _ in cases) + max(shared for _, shared in cases)
            for name, cases in MEASURED.items()
        }
        write_slow(renewed(slow_tests(), times))
