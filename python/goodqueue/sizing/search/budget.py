"""How long a search may take, and what fits into that.

The budget is wall-clock time. What a replicate costs is measured on its beginning (as the dry run
of a sweep does it); the length of replicates and the kind of search follow from that. A clock ends
the runs under way when the budget is over.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.errors import RequestError
from goodqueue.sizing.search.smallest import COARSE, COARSE_REPLICATES, FIRST_REPLICATES, grid
from goodqueue.study.estimate import TRIAL_S, cost_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goodqueue._core import Scenario
    from goodqueue.runs.engines import Engine
    from goodqueue.study.model import Stop

BUDGET_S = 60.0
"""The budget unless another is asked for."""

SEARCH_SHARE = 0.6
"""A search is planned to take at most this share of the budget. The rest is for estimates that are
too low, and for the rules, queues and changes that follow."""

HYBRID_S = 8.0
"""A search by the hybrid engine is planned to take at most so many seconds, however large the
budget: it is there to answer at once what packets cannot answer at all."""

TRIAL_SHARE = 0.02
"""A trial of a replicate's cost takes at most this share of the budget."""

SETTLING_RUNS = 80
"""Replicates that the limits around an answer take until they are settled, as planned: four limits
with 20 each. Up to 64 each are run where a mean lies close to its bound."""

STRIDES = 4
"""Steps of a lean search from where the answer is expected, as planned, and halvings of the last of
them: an answer that is off by less than a factor of two is found."""

LEAN_SETTLING_RUNS = 128
"""The same of a lean search: two limits with 64 each, the most that they get at full length."""

SHARES = tuple(0.5**halvings for halvings in range(11))
"""What a replicate's measured part may be cut to, as a share. Trials have floors besides."""


def parse_budget(text: str) -> float:
    """Seconds of `--budget`, as in `60s` or `5min`.

    Raises:
        ScenarioError: of what is no time.
    """
    return _core.parse_span("--budget", text)


class BudgetSpent(Exception):  # noqa: N818 - it ends a search and is no error
    """The budget was over before a search had ended."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a link is searched.

    Attributes:
        share: what a replicate measures, as a share of what it measures in full.
        lean: whether the search leaves out the coarse scan that checks monotony.
        run_s: seconds of one processor that a replicate is expected to take.
        search_s: seconds of wall-clock time that the search is expected to take.
        fits: whether that is within the part of the budget that a search may take.
    """

    share: float = 1.0
    lean: bool = False
    run_s: float = 0.0
    search_s: float = 0.0
    fits: bool = True


class Budget:
    """So many seconds of wall-clock time, from now on."""

    def __init__(self, seconds: float = BUDGET_S) -> None:
        """Starts the clock.

        Raises:
            RequestError: of a budget that is not positive.
        """
        if not seconds > 0:
            raise RequestError(f"a budget of {seconds:g} s: a search needs some time, as in 60s")
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
        """Ends what runs under `stop` when the budget is over."""

        def end() -> None:
            self.spent = True
            stop.abort()

        # A clock cannot wait for longer than this, which is as good as for ever.
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
        """The most thorough search that fits into what is left, on so many processors.

        Args:
            scenario: a replicate of a share of the full length.
            reach: packets up to which the search looks at first.
            workers: runs side by side.
            engine: what runs replicates.
        """
        trial_s = min(TRIAL_S, TRIAL_SHARE * self.seconds)
        whole = scenario(1.0)
        run_s = cost_of(*whole.calibrate(trial_s, engine))
        at_most_s = SEARCH_SHARE * self.left_s
        if engine == "hybrid":
            at_most_s = min(at_most_s, HYBRID_S)
        search_s = run_s * _thorough_runs(reach) / workers
        # Of the hybrid engine the smallest buffers of a coarse scan take by far the longest runs.
        if search_s <= at_most_s and engine == "packets":
            return Plan(run_s=run_s, search_s=search_s)
        runs = _lean_runs() / workers
        share, cost_s = 1.0, run_s  # rather fewer limits than shorter replicates
        for shorter in SHARES[1:]:
            shorter_s = run_s * scenario(shorter).duration_s / whole.duration_s
            if cost_s * runs <= at_most_s or shorter_s == cost_s:  # or it cannot be cut any further
                break
            share, cost_s = shorter, shorter_s
        search_s = cost_s * runs
        return Plan(share, True, cost_s, search_s, fits=search_s <= at_most_s)


def _thorough_runs(reach: int) -> int:
    coarse = len(grid(reach)[::COARSE])
    return COARSE_REPLICATES * coarse + _halvings(COARSE) * FIRST_REPLICATES + SETTLING_RUNS


def _lean_runs() -> int:
    return COARSE_REPLICATES * 2 * STRIDES + LEAN_SETTLING_RUNS


def _halvings(points: int) -> int:
    return round(log2(points) + 0.5)
