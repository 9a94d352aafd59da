"""Memory that a run needs, estimated before it starts, and the limit on it."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from goodqueue._core import Scenario
    from goodqueue.engines import Engine

USUAL_SHARE = 0.75
"""The share of the machine's memory that runs may take unless `--memory` says otherwise."""

CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")

RECORDS = {"packets in time series", "recorded hops of packets"}

BY_FLOW = {"flows", "links of routes"}
"""Parts that are there once for each flow, or some times."""

REMEDIES = {
    "flows": "have fewer flows (at most {flows:,})",
    "links of routes": "have fewer flows (at most {flows:,}), or shorter routes",
    "links": "have fewer links",
    "links of hosts": "have fewer hosts",
    "packets under way": "lower the queue limits or the receive windows",
    "packets in time series": "leave the series out with --no-series, or shorten the duration",
    "recorded hops of packets": "leave out record.packets, or shorten the duration",
}


@dataclass(frozen=True, slots=True)
class Part:
    """Memory that one kind of part takes.

    Attributes:
        what: what it is, in the plural.
        count: how many there are.
        bytes_each: bytes that each takes.
    """

    what: str
    count: int
    bytes_each: int

    @property
    def total(self) -> int:
        """Bytes of all of them."""
        return self.count * self.bytes_each

    @property
    def is_record(self) -> bool:
        """Whether it is recorded during the run, and turned into tables afterwards."""
        return self.what in RECORDS

    def __str__(self) -> str:
        each, total = size(self.bytes_each), size(self.total)
        return f"{self.count:,} {self.what} of {each} are {total}"


@cache
def machine_bytes() -> int:
    """Bytes of memory that this process may use: the machine's, or its control group's."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for name in CGROUP_LIMITS:
        try:
            text = Path(name).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if text.isdecimal():
            limits.append(int(text))
    return min(limits)


def limit_of(text: str | None) -> int:
    """Bytes that runs may take, as `--memory` says or else a share of the machine's."""
    if text is None:
        return int(USUAL_SHARE * machine_bytes())
    limit = _core.parse_size("--memory", text)
    if limit == 0:
        raise RequestError(f"--memory {text}: no run fits in no memory; write a size, as in 8GiB")
    return limit


def parts(
    scenario: Scenario,
    *,
    series: bool | None = None,
    packets: bool | None = None,
    engine: Engine = "packets",
) -> list[Part]:
    """What a run takes, the most first; what is recorded is as the scenario says unless given."""
    made = [Part(*part) for part in scenario.memory(series=series, packets=packets, engine=engine)]
    return sorted(made, key=lambda part: -part.total)


def needed(made: Iterable[Part]) -> int:
    """Bytes of all parts."""
    return sum(part.total for part in made)


def check(made: Sequence[Part], limit: int, what: str = "this run") -> None:
    """Refuses a run that would not fit.

    Raises:
        RequestError: with the arithmetic and the nearest remedy.
    """
    total = needed(made)
    if total <= limit:
        return
    largest = made[0]
    shown = [part for part in made if 20 * part.total >= total]
    rest = total - needed(shown)
    sums = [str(part) for part in shown] + ([f"the rest is {size(rest)}"] if rest else [])
    flows = sum(part.count for part in made if part.what == "flows")
    of_flows = needed(part for part in made if part.what in BY_FLOW)
    fitting = max(0, limit - (total - of_flows)) * flows // of_flows
    remedy = REMEDIES[largest.what].format(flows=fitting)
    raise RequestError(
        f"{what} would take about {size(total)} of memory, and may take {size(limit)}: "
        f"{'; '.join(sums)}\n  help: {remedy}, or raise the limit, as in "
        f"--memory {-(-total // 2**30)}GiB (this machine has {size(machine_bytes())})"
    )


def check_runs(
    scenarios: Iterable[Scenario], limit: int, *, series: bool = False, engine: Engine = "packets"
) -> None:
    """Refuses runs of which one alone does not fit.

    Raises:
        RequestError: as `check` does.
    """
    for scenario in scenarios:
        check(parts(scenario, series=series, packets=False, engine=engine), limit, "a run")


class Room:
    """Memory that runs side by side share: one that does not fit now waits for others to end."""

    def __init__(self, limit: int) -> None:
        """Takes the bytes that all of them may have."""
        self._limit = limit
        self._taken = 0
        self._change = threading.Condition()

    @contextmanager
    def of(self, scenario: Scenario, *, series: bool, engine: Engine = "packets") -> Iterator[None]:
        """Waits until there is room for a run, or no other run is under way."""
        wanted = needed(parts(scenario, series=series, packets=False, engine=engine))
        with self._change:
            self._change.wait_for(lambda: not self._taken or self._taken + wanted <= self._limit)
            self._taken += wanted
        try:
            yield
        finally:
            with self._change:
                self._taken -= wanted
                self._change.notify_all()


def resident_bytes() -> int | None:
    """Returns the resident memory of this process in bytes; None if the system does not say."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return None
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def size(count: float) -> str:
    """Bytes in a unit that suits."""
    for factor, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= factor:
            return f"{count / factor:.3g} {unit}"
    return f"{count:.0f} B"
