"""Who is told how a search goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from goodqueue.sizing.answer.answer import Answer


@dataclass(frozen=True, slots=True)
class Listener:
    """What is called while an answer is worked out.

    Attributes:
        on_run: after every run, with how many more there are known to be.
        on_bracket: when more has run, with the largest limit shown to fail (0 if none was) and the
            least shown to suffice, if one was.
        on_answer: once the search has ended, with its answer; rules, queues and changes follow.
    """

    on_run: Callable[[int], None] = lambda _left: None
    on_bracket: Callable[[int, int | None], None] = lambda _low, _high: None
    on_answer: Callable[[Answer], None] = lambda _answer: None


SILENT = Listener()
