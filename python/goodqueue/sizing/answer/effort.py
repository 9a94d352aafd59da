"""The extent of the simulations behind an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue.errors import RequestError
from goodqueue.sizing.search.budget import BUDGET_PACKETS
from goodqueue.sizing.search.trials import COARSE_REPLICATES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from goodqueue.runs.engines import Choice, Engine

MAX_REPLICATES = 64
"""Largest number of replicates of a limit."""

QUEUES = ("codel", "fq_codel", "pie")
"""Queue disciplines that are tried in place of the link's queue."""


@dataclass(frozen=True, slots=True)
class Effort:
    """Extent of the simulations, and the place where they are stored.

    Attributes:
        replicates: largest number of runs per limit, each under its own seed; at least 3.
        queues: queue disciplines to try in place of the link's, with their defaults.
        changes: True to simulate changes of the link.
        rules: True to simulate the rules' buffers.
        budget: packets that all runs may simulate. Replicates are shortened so that the search
            fits; the answer is what has been shown when the budget ends.
        time_s: largest wall-clock time in seconds, after which the answer is what has been shown;
            None for no limit.
        hosts: True to find the answer for hosts that the link's description does not exclude.
        jobs: threads; None for one per processor.
        store: folder that stores every run and returns it if it is needed again; None for one in
            the user's cache.
        memory: largest memory of all runs together, such as `8GiB`; None for three quarters of the
            machine's.
        engine: engine of replicates: `packets`, `hybrid` (docs/hybrid.md), or `auto`: the hybrid
            engine if the budget is too short for packets and the hybrid engine applies, else
            packets.

    Examples:
        >>> from goodqueue.sizing import Effort
        >>> Effort(replicates=5, budget=50e6).replicates
        5
    """

    replicates: int = MAX_REPLICATES
    queues: tuple[str, ...] = QUEUES
    changes: bool = True
    rules: bool = True
    budget: float = BUDGET_PACKETS
    time_s: float | None = None
    hosts: bool = True
    jobs: int | None = None
    store: Path | None = None
    memory: str | None = None
    engine: Choice = "auto"

    def __post_init__(self) -> None:
        if self.replicates < COARSE_REPLICATES:
            raise RequestError(
                f"{self.replicates} replicates: a search needs at least {COARSE_REPLICATES}"
            )

    def parts(self, engine: Engine) -> Iterator[str]:
        """Yields the requested parts beside the answer, in the order in which they are run.

        For the hybrid engine, the smallest of the rules' buffers take by far the longest.
        """
        wanted = {
            "cost": True,
            "guard": True,
            "page": True,
            "world": self.hosts,
            "rules": self.rules,
            "queues": bool(self.queues),
            "changes": self.changes,
        }
        last = "rules" if engine == "hybrid" else ""
        return (part for part in sorted(wanted, key=last.__eq__) if wanted[part])
