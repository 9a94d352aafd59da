"""A pytest plugin that measures the CPU time of every test and writes `tests/slow.txt`.

`make slow` uses it. CPU time, unlike time on a clock, hardly depends on other load.
"""

from __future__ import annotations

import resource
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from helpers.slow import renewed, slow_tests, write_slow

if TYPE_CHECKING:
    from collections.abc import Generator

BEGUN = pytest.StashKey[float]()
MEASURED: defaultdict[str, float] = defaultdict(float)


def cpu_s() -> float:
    """Returns the CPU time of this process and of its children that have ended, in seconds."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    item.stash[BEGUN] = cpu_s()
    return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    if call.when == "teardown":
        item.user_properties.append(("cpu_s", cpu_s() - item.stash[BEGUN]))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "teardown":
        MEASURED[report.nodeid.partition("[")[0]] += float(
            str(dict(report.user_properties)["cpu_s"])
        )


def pytest_sessionfinish(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput"):  # workers of xdist report to the controller
        write_slow(renewed(slow_tests(), MEASURED))
