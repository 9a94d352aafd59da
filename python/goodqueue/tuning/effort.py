"""Limits on the cost of answers that take several searches."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from goodqueue.sizing.search.budget import BUDGET_PACKETS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from goodqueue.sizing.search.trials import Trials
    from goodqueue.tuning.axis import Axis
    from goodqueue.tuning.several.space import Space

MAX_REPLICATES = 24
"""Usual largest number of runs of a value."""


@dataclass(frozen=True, slots=True)
class Effort:
    """Limits on the cost of an answer.

    Attributes:
        replicates: largest number of runs of a value.
        budget: packets of all runs.
        time_s: largest wall-clock time of each search in seconds; None for no limit.
        jobs: threads; None for one per processor.
        memory: largest memory of all runs, such as `8GiB`.
        store: folder that stores the runs; None for one in the user's cache.
        on_run: function called after every run with the number of runs known to follow.
        on_change: function called with the parameter and its runs, after further runs.
    """

    replicates: int = MAX_REPLICATES
    budget: float = BUDGET_PACKETS
    time_s: float | None = None
    jobs: int | None = None
    memory: str | None = None
    store: Path | None = None
    on_run: Callable[[int], None] = field(default=lambda _left: None)
    on_change: Callable[[Axis | Space, Trials], None] = field(default=lambda _axis, _trials: None)

    def options(self) -> dict[str, Any]:
        """Returns the limits as options of `tune`."""
        return {limit.name: getattr(self, limit.name) for limit in fields(self)}
