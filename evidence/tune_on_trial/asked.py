"""Answers of `goodqueue tune` to drawn problems, as plain values."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import goodqueue
from goodqueue import _core

if TYPE_CHECKING:
    from evidence.tune_on_trial.draw import Problem


def asked(problem: Problem) -> dict[str, Any]:
    """Returns the recommended value and its interval in the unit of the range, and the cost.

    The value is None if no value was found that keeps the bounds.
    """
    with TemporaryDirectory() as store:
        answer = goodqueue.tune(
            problem.text,
            problem.vary,
            keep=problem.keep,
            most=problem.goal if problem.most else None,
            least=None if problem.most else problem.goal,
            store=Path(store),
        )
    best, unit = answer.best, _core.measure(f"1{problem.unit}")
    assert unit is not None
    found: dict[str, Any] = {"value": None, "interval": None}
    if best is not None:
        numbers = (answer.axis.values[best.mark].number, best.low, best.high)
        value, low, high = (float(f"{number / unit[0]:.6g}") for number in numbers)
        found = {"value": value, "interval": [low, high]}
    return found | {
        "shown": answer.proved,
        "impossible": answer.impossible,
        "runs": answer.trials.spent,
    }
