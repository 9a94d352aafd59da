"""The memory that a run needs, estimated before it starts, and the limit on it."""

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
    from goodqueue.runs.engines import Engine

USUAL_SHARE = 0.75
"""Share of the machine's memory that runs may take, unless `--memory` sets a limit."""

CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")

RECORDS = {"packets in time series", "recorded hops of packets"}

BY_FLOW = {"flows", "flows in the summary", "links of routes"}
"""Kinds of parts whose number is proportional to the number of flows."""

REMEDIES = {
    "flows": "reduce the flows (to at most {flows:,})",
    "flows in the summary": "reduce the flows (to at most {flows:,}), or omit record.flows",
    "links of routes": "reduce the flows (to at most {flows:,}), or shorten routes",
    "links": "reduce the links",
    "links of hosts": "reduce the hosts",
    "packets under way": "lower the queue limits or the receive windows",
    "packets in time series": "omit the series with --no-series, or shorten the duration",
    "recorded hops of packets": "omit record.packets, or shorten the duration",
    "open connections": "lower the load of transfers, or the connections of web pages",
    "connections in TIME-WAIT": "lower the load of transfers, or shorten the duration",
}


@dataclass(frozen=True, slots=True)
class Part:
    """The memory for all parts of one kind.

    Attributes:
        what: name of the kind, in the plural.
        count: number of parts.
        bytes_each: bytes that each part takes.
    """

    what: str
    count: int
    bytes_each: int

    @property
    def total(self) -> int:
        """Bytes of all parts of the kind."""
        return self.count * self.bytes_each

    @property
    def is_record(self) -> bool:
        """True if the part is recorded during the run and turned into tables afterwards."""
        return self.what in RECORDS

    def __str__(self) -> str:
        each, total = size(self.bytes_each), size(self.total)
        return f"{self.count:,} {self.what} of {each} are {total}"


@cache
def machine_bytes() -> int:
    """Returns the bytes of memory that this process may use: the machine's or its cgroup's."""
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
    """Returns the limit of `--memory` in bytes; without one, a share of the machine's memory."""
    if text is None:
        return int(USUAL_SHARE * machine_bytes())
    limit = _core.parse_size("--memory", text)
    if limit == 0:
        raise RequestError(f"--memory {text}: a run needs some memory; write a size such as 8GiB")
    return limit


def parts(
    scenario: Scenario,
    *,
    series: bool | None = None,
    packets: bool | None = None,
    engine: Engine = "packets",
) -> list[Part]:
    """Returns the parts of a run's memory, largest first.

    Args:
        scenario: the scenario.
        series: if True, time series are recorded; None for the scenario's own setting.
        packets: if True, packet events are recorded; None for the scenario's own setting.
        engine: the engine that runs the scenario.
    """
    made = [Part(*part) for part in scenario.memory(series=series, packets=packets, engine=engine)]
    return sorted(made, key=lambda part: -part.total)


def needed(made: Iterable[Part]) -> int:
    """Returns the bytes of all parts."""
    return sum(part.total for part in made)


def check(made: Sequence[Part], limit: int, what: str = "this run") -> None:
    """Refuses a run that does not fit into memory.

    Raises:
        RequestError: if the run needs more than the limit; the message has the sum and the remedy.
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
    """Refuses runs if one of them alone does not fit into memory.

    Raises:
        RequestError: as `check` does.
    """
    for scenario in scenarios:
        check(parts(scenario, series=series, packets=False, engine=engine), limit, "a run")


class Room:
    """Memory shared by concurrent runs: one that does not fit waits for others to end."""

    def __init__(self, limit: int) -> None:
        """Takes the number of bytes that all runs together may have."""
        self._limit = limit
        self._taken = 0
        self._change = threading.Condition()

    @contextmanager
    def taken(self, wanted: int) -> Iterator[None]:
        """Waits until there is room for this number of bytes, or no other run is in progress."""
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
    """Formats a number of bytes in a suitable unit."""
    for factor, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= factor:
            return f"{count / factor:.3g} {unit}"
    return f"{count:.0f} B"
