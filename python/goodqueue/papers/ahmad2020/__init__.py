"""Ahmad, Wisdom, Isaac and Arinze, buffer sizes with drop tail in ns-2 (2020)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.papers.experiment import Experiment


def experiments() -> Sequence[Experiment]:
    """Returns the figures; the tables are data."""
    from goodqueue.papers.ahmad2020.figures import drop_tail

    return drop_tail()
