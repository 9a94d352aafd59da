"""Sizing a buffer: published rules, the search by simulation, and lines to paste into devices.

    from goodqueue.sizing import Link, judge_rules, rtt_range, size_link, size_scenario
    answer = size_link(Link(10e6, rtt_range(0.020, 0.100), flows=8, max_loss_rate=0.02))
    answer.buffer                  # packets, or None if no buffer suffices
    answer.rules, answer.curve     # polars frames

docs/sizing.md ("From Python") is a tutorial.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goodqueue.sizing.answer.answer import Answer
    from goodqueue.sizing.answer.effort import Effort
    from goodqueue.sizing.api import judge_rules, size_link, size_scenario
    from goodqueue.sizing.link import Asked, Link, as_in_theory, rtt_range
    from goodqueue.sizing.rules import RULES

__all__ = [
    "RULES",
    "Answer",
    "Asked",
    "Effort",
    "Link",
    "as_in_theory",
    "judge_rules",
    "rtt_range",
    "size_link",
    "size_scenario",
]

# Modules that import slowly are imported when they are first used, as in goodqueue itself.
_HOMES = {
    "RULES": "goodqueue.sizing.rules",
    "Answer": "goodqueue.sizing.answer.answer",
    "Asked": "goodqueue.sizing.link",
    "Effort": "goodqueue.sizing.answer.effort",
    "Link": "goodqueue.sizing.link",
    "as_in_theory": "goodqueue.sizing.link",
    "judge_rules": "goodqueue.sizing.api",
    "rtt_range": "goodqueue.sizing.link",
    "size_link": "goodqueue.sizing.api",
    "size_scenario": "goodqueue.sizing.api",
}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'goodqueue.sizing' has no attribute {name!r}")
