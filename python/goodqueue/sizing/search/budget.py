"""Time budget of a search.

The budget is wall-clock time. The cost of a replicate is measured on its beginning, as in the dry
run of a sweep. It determines the length of replicates and the kind of search. A clock ends the
current runs when the budget is over.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING

from goodqueue.errors import RequestError
from goodqueue.runs.cost import TRIAL_S, cost_of
from goodqueue.sizing.search.smallest import COARSE, COARSE_REPLICATES, FIRST_REPLICATES, grid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goodqueue._core import Scenario
    from goodqueue.runs.engines import Engine
    from goodqueue.study.model import Stop

BUDGET_S = 60.0
"""Default budget in seconds."""

SEARCH_SHARE = 0.6
"""Largest planned share of the budget for a search. The rest is a reserve for estimates that are
too low, and for the rules, queues and changes that follow."""

HYBRID_S = 8.0
"""Longest planned search by the hybrid engine in seconds, however large the budget is: this engine
gives a quick answer where the packet engine cannot give one."""

TRIAL_SHARE = 0.02
"""Largest share of the budget for measuring a replicate's cost."""

SETTLING_RUNS = 80
"""Planned number of replicates that settle the limits around an answer: 20 for each of four limits.
Up to 64 each are run if a mean lies close to its bound."""

STRIDES = 4
"""Planned number of steps of a lean search away from the expected answer, and of halvings of the
last step. These steps find an answer that differs from the expected one by less than a factor of
two.
"""

LEAN_SETTLING_RUNS = 128
"""Planned number of replicates that settle a lean search: 64, the most at full length, for each of
two limits.
"""

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
        lean: True if the search omits the coarse scan that checks monotonicity.
        run_s: expected processor time of a replicate in seconds.
        search_s: expected wall-clock time of the search in seconds.
        fits: True if the search fits into its part of the budget.
    """

    share: float = 1.0
    lean: bool = False
    run_s: float = 0.0
    search_s: float = 0.0
    fits: bool = True


class Budget:
    """Wall-clock time that begins now."""

    def __init__(self, seconds: float = BUDGET_S) -> None:
        """Starts the clock.

        Raises:
            RequestError: if the budget is not positive.
        """
        if not seconds > 0:
            raise RequestError(
                f"the budget of {seconds:g} s is too short: write a positive time, such as 60s"
            )
        self.seconds = seconds
        self.spent = False
        self._begun = time.monotonic()

    @property
    def used_s(self) -> float:
        """Seconds since the clock was started."""
        return time.monotonic() - self._begun

    @property
    def left_s(self) -> float:
        """Seconds until the budget is over; 0 after that."""
        return max(self.seconds - self.used_s, 0.0)

    @contextmanager
    def enforced(self, stop: Stop) -> Iterator[None]:
        """Ends runs under `stop` when the budget is over."""

        def end() -> None:
            self.spent = True
            stop.abort()

        # A timer accepts no longer time than this one, which exceeds the time of any search.
        clock = threading.Timer(min(self.left_s, threading.TIMEOUT_MAX), end)
        clock.daemon = True
        clock.start()
        try:
            yield
        finally:
            clock.cancel()

    def plan(
        self,
        scenario: Callable[[float], Scenario],
        reach: int,
        workers: int,
        engine: Engine = "packets",
    ) -> Plan:
        """Returns the most thorough search that fits into the remaining time.

        Args:
            scenario: function that returns a replicate of a share of the full length.
            reach: first reach of the search in packets.
            workers: number of concurrent runs.
            engine: engine of replicates.
        """
        trial_s = min(TRIAL_S, TRIAL_SHARE * self.seconds)
        whole = scenario(1.0)
        run_s = cost_of(*whole.calibrate(trial_s, engine))
        at_most_s = SEARCH_SHARE * self.left_s
        if engine == "hybrid":
            at_most_s = min(at_most_s, HYBRID_S)
        search_s = run_s * _thorough_runs(reach) / workers
        # For the hybrid engine, the smallest buffers of a coarse scan take by far the longest runs.
        if search_s <= at_most_s and engine == "packets":
            return Plan(run_s=run_s, search_s=search_s)
        runs = _lean_runs() / workers
        # A lean search with full replicates is preferred to a full search with shorter ones.
        share, cost_s = 1.0, run_s
        for shorter in SHARES[1:]:
            shorter_s = run_s * scenario(shorter).duration_s / whole.duration_s
            # Equal costs mean that the scenario cannot be shortened any further.
            if cost_s * runs <= at_most_s or shorter_s == cost_s:
                break
            share, cost_s = shorter, shorter_s
        search_s = cost_s * runs
        return Plan(share, True, cost_s, search_s, fits=search_s <= at_most_s)


def _thorough_runs(reach: int) -> int:
    coarse = len(grid(reach)[::COARSE])
    halvings = round(log2(COARSE) + 0.5)
    return COARSE_REPLICATES * coarse + halvings * FIRST_REPLICATES + SETTLING_RUNS


def _lean_runs() -> int:
    return COARSE_REPLICATES * 2 * STRIDES + LEAN_SETTLING_RUNS
