"""Budget of a search: the work of its runs, counted in packets.

The work of a run follows from its scenario, and not from a clock. So the plan, the runs and the
answer are the same on an idle and on a busy machine. Only an explicit time ends a search earlier.
"""

from __future__ import annotations

import re
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING

from goodqueue._core import COARSE, grid, parse_span
from goodqueue.errors import RequestError
from goodqueue.sizing.search.trials import COARSE_REPLICATES, FIRST_REPLICATES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goodqueue.runs.engines import Engine
    from goodqueue.study.model import Stop

BUDGET_PACKETS = 120_000_000
"""Default budget in packets: about a minute of one processor (`PACKETS_PER_S`)."""

PACKETS_PER_S = 2e6
"""Usual packets of all runs that one processor simulates in a second, for statements of time."""

SEARCH_SHARE = 0.6
"""Largest planned share of the budget for a search. The rest is a reserve for searches that take
longer than planned, and for the rules, queues and changes that follow."""

HYBRID_PACKETS = 40_000_000
"""Largest planned work of a search by the hybrid engine, however large the budget is: this engine
gives a quick answer where the packet engine cannot give one."""

CROWDED_FLOWS = 1500
"""Number of flows with which a packet takes twice as long as with few, because the state of the
flows does not stay in the processor's caches."""

PACKETS_PER_FLOW = 100
"""Packets that the engine simulates in the time in which it builds a flow."""

PACKETS_PER_ROUND = 2.0
"""Packets that the packet engine simulates in the time in which the hybrid engine simulates one
round trip of one flow."""

PACKETS_PER_STEP = 25.0
"""The same for one time step of the hybrid engine, whose length is that of the full queue."""

SETTLING_RUNS = 80
"""Planned number of replicates that settle the limits around an answer: 20 for each of four limits.
Up to 64 each are run if a mean lies close to its bound."""

STRIDES = 4
"""Planned number of steps of a lean search away from the expected answer, and of halvings of the
last step. These steps find an answer that differs from the expected one by less than a factor of
two.
"""

LEAN_SETTLING_RUNS = 64
"""Planned number of replicates that settle a lean search: 32 for each of two limits."""

SHARES = tuple(0.5**halvings for halvings in range(11))
"""Possible lengths of the measured part of a replicate, as shares of its full length. Trials also
have minimum lengths.
"""


class BudgetSpent(Exception):  # noqa: N818 - it ends a search and is no error
    """The budget was over before a search had ended."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Plan of a search.

    Attributes:
        share: measured part of a replicate, as a share of its full length.
        lean: True if the search omits the coarse scan that looks for several sets of limits.
        run: expected work of a replicate in packets.
        search: expected work of the search in packets.
        fits: True if the search fits into the budget.
    """

    share: float = 1.0
    lean: bool = False
    run: float = 0.0
    search: float = 0.0
    fits: bool = True


class Budget:
    """Packets that all runs of an answer may simulate, and at most a wall-clock time.

    Attributes:
        packets: the budget.
        seconds: largest wall-clock time from now on; None for no limit.
        used: work of the runs so far, in packets.
        held: packets that are kept for later parts.
        over_time: True if the time was over.
    """

    def __init__(
        self,
        packets: float = BUDGET_PACKETS,
        seconds: float | None = None,
        on_charge: Callable[[float], None] = lambda _share: None,
    ) -> None:
        """Starts the clock, and takes a function to call with the done share of the planned work.

        Raises:
            RequestError: if the budget or the time is not positive.
        """
        if not packets > 0:
            raise RequestError(
                f"the budget of {packets:g} packets is too small: write a positive number, such as "
                "100M"
            )
        if seconds is not None and not seconds > 0:
            raise RequestError(
                f"the time of {seconds:g} s is too short: write a positive time, such as 60s"
            )
        self.packets = packets
        self.seconds = seconds
        self.used = self.held = 0.0
        self.over_time = False
        self._planned = 0.0
        self._on_charge = on_charge
        self._begun = time.monotonic()

    @property
    def left(self) -> float:
        """Packets that are left, without those that are held; 0 if the budget is spent."""
        return max(self.packets - self.held - self.used, 0.0)

    def charge(self, work: float) -> None:
        """Subtracts the work of runs in packets."""
        self.used += work
        if self._planned:
            self._on_charge(min(self.used / self._planned, 1.0))

    @contextmanager
    def enforced(self, stop: Stop) -> Iterator[None]:
        """Ends runs under `stop` when the time is over, if there is a limit."""
        if self.seconds is None:
            yield
            return

        def end() -> None:
            self.over_time = True
            stop.abort()

        left_s = max(self.seconds - (time.monotonic() - self._begun), 0.0)
        # A timer accepts no longer time than this one, which exceeds the time of any search.
        clock = threading.Timer(min(left_s, threading.TIMEOUT_MAX), end)
        clock.daemon = True
        clock.start()
        try:
            yield
        finally:
            clock.cancel()

    def plan(self, work: Callable[[float], float], reach: int, engine: Engine = "packets") -> Plan:
        """Returns the most thorough search that fits into the rest of the budget, and notes it.

        Args:
            work: function that returns the work of a replicate in packets, by the share of its
                full length.
            reach: first reach of the search in packets.
            engine: engine of replicates.
        """
        plan = self._planned_search(work, reach, engine)
        self._planned = min(self.used + plan.search, self.packets)
        return plan

    def _planned_search(self, work: Callable[[float], float], reach: int, engine: Engine) -> Plan:
        run = work(1.0)
        at_most = SEARCH_SHARE * self.left
        if engine == "hybrid":
            at_most = min(at_most, HYBRID_PACKETS)
        search = run * _thorough_runs(reach)
        # For the hybrid engine, the smallest buffers of a coarse scan take by far the longest runs.
        if search <= at_most and engine == "packets":
            return Plan(run=run, search=search)
        # A lean search with full replicates is preferred to a full search with shorter ones.
        share, cost = 1.0, run
        for shorter in SHARES[1:]:
            less = work(shorter)
            # Equal work means that the scenario cannot be shortened any further.
            if cost * _lean_runs() <= at_most or less == cost:
                break
            share, cost = shorter, less
        search = cost * _lean_runs()
        return Plan(share, True, cost, search, fits=search <= self.left)


def packet_work(flows: int, packets: float) -> float:
    """Returns the work of a run of the packet engine, in packets of a run with few flows.

    Args:
        flows: number of long flows.
        packets: packets that the link sends.
    """
    return packets * (1 + flows / CROWDED_FLOWS) + PACKETS_PER_FLOW * flows


def hybrid_work(flows: int, rounds: float, steps: float) -> float:
    """Returns the work of a run of the hybrid engine, in packets of the packet engine.

    Args:
        flows: number of long flows.
        rounds: duration over the mean base round-trip time.
        steps: duration over the time that the full queue takes.
    """
    return PACKETS_PER_ROUND * flows * rounds + PACKETS_PER_STEP * steps


def _thorough_runs(reach: int) -> int:
    coarse = len(grid(reach)[::COARSE])
    halvings = round(log2(COARSE) + 0.5)
    return COARSE_REPLICATES * coarse + halvings * FIRST_REPLICATES + SETTLING_RUNS


def _lean_runs() -> int:
    return COARSE_REPLICATES * 2 * STRIDES + LEAN_SETTLING_RUNS


SUFFIXES = "kMG"
"""Suffixes of a number of packets: thousands, millions and milliards."""


def parse_packets(what: str, text: str) -> float:
    """Returns a number of packets that a user wrote, such as 200M.

    Raises:
        RequestError: if the text is no such number.
    """
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([kMG]?)", text)
    if found is None:
        time_too = ""
        if re.fullmatch(r"[0-9.]+(s|ms|min|h)", text):
            time_too = f"; --time {text} ends the search after that time"
        raise RequestError(
            f"{what} {text}: write a number of packets, such as 100M (with k, M or G){time_too}"
        )
    thousands = SUFFIXES.index(found[2]) + 1 if found[2] else 0
    return float(found[1]) * 1000.0**thousands


def budget_of(typed: str | None) -> float:
    """Returns the packets of `--budget`, or the usual ones without it.

    Raises:
        RequestError: if the text is no number of packets.
    """
    return BUDGET_PACKETS if typed is None else parse_packets("--budget", typed)


def time_of(typed: str | None) -> float | None:
    """Returns the seconds of `--time`; None without it.

    Raises:
        ScenarioError: if the text is no time.
    """
    return None if typed is None else parse_span("--time", typed)
