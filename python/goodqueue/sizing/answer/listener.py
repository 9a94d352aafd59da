"""Callbacks that follow the progress of a search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from goodqueue.sizing.answer.answer import Answer


@dataclass(frozen=True, slots=True)
class Listener:
    """Functions that are called while an answer is computed.

    Attributes:
        on_run: called after every run, with the number of runs known to follow.
        on_bracket: called after further runs, with the largest limit shown to fail (0 if none was)
            and the smallest shown to suffice (None if none was).
        on_answer: called with the answer when the search has ended; rules, queues and changes
            follow.
        on_budget: called before runs, with the share of the planned work that is done with them.
    """

    on_run: Callable[[int], None] = lambda _left: None
    on_bracket: Callable[[int, int | None], None] = lambda _low, _high: None
    on_answer: Callable[[Answer], None] = lambda _answer: None
    on_budget: Callable[[float], None] = lambda _share: None


SILENT = Listener()
