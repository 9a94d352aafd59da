"""Answers of `goodqueue tune` to drawn problems of two parameters, beside dense grids."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import goodqueue
from evidence.core.derived import Derived, relative, scratch
from evidence.core.pages import with_part
from evidence.tune_on_trial.make import cells
from evidence.tune_several.draw import DRAWS, problems
from evidence.tune_several.truth import (
    FINE_SEEDS,
    FIRST_SEED,
    JUDGED_SEED,
    POINTS,
    SEEDS,
    row,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evidence.tune_several.draw import Problem

DATA = Path(__file__).parent / "data" / "problems.jsonl"
"""One line for each problem: the question, the answer, and the truth."""

PAGE = Path("docs/tune.md")
PART = "trial-of-two"

GAP = 0.02
"""Share by which the goal of a recommended point may be worse than that of the grid's best."""

GRID_RUNS = POINTS * POINTS * SEEDS
MOST_RUNS = GRID_RUNS // 10
"""Runs of the grid, and those that a search may take to count."""

WORDS = {
    "shaper": "rate of a shaper and CoDel's target, modem and ping bounded, largest goodput",
    "codel": "CoDel's target and interval, utilisation bounded, shortest ping",
    "red": "RED's thresholds, ping bounded, largest goodput",
    "pie": "PIE's target and period, utilisation bounded, shortest ping",
    "window": "queue limit and initial window, loss bounded, shortest transfers",
}
"""The kinds of problems in words."""


def make() -> None:
    """Asks every problem, finds its truth, and writes both and the part of the page."""
    unfinished = scratch() / "tune_several.jsonl"
    done = unfinished.read_text(encoding="utf-8").count("\n") if unfinished.exists() else 0
    with unfinished.open("a", encoding="utf-8") as file:
        for number, problem in enumerate(islice(problems(), done, DRAWS), done + 1):
            print(f"    {number} of {DRAWS}", file=sys.stderr, flush=True)
            file.write(json.dumps(row(problem, asked(problem))) + "\n")
            file.flush()
    DATA.parent.mkdir(exist_ok=True)
    DATA.write_text(unfinished.read_text(encoding="utf-8"), encoding="utf-8")
    unfinished.unlink()
    before = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_part(before, PART, text(rows())), encoding="utf-8")


def asked(problem: Problem) -> dict[str, Any]:
    """Returns the answer of `goodqueue tune`: the recommended point, and its cost.

    The point is None if none was found that keeps the bounds.
    """
    with TemporaryDirectory() as store:
        answer = goodqueue.tune(
            problem.text,
            [str(one) for one in problem.vary],
            keep=problem.keep,
            most=problem.goal if problem.most else None,
            least=None if problem.most else problem.goal,
            store=Path(store),
        )
    return {
        "point": None if answer.values is None else list(answer.values.values()),
        "shown": answer.proved,
        "impossible": answer.impossible,
        "points": len(answer.trials.limits),
        "runs": answer.trials.spent,
    }


def rows() -> list[dict[str, Any]]:
    """Returns the recorded problems, each with its answer and its truth."""
    return [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]


def hit(one: dict[str, Any]) -> bool:
    """Returns True if a point was found that is good enough, keeps the bounds, and was cheap."""
    if one["runs"] > MOST_RUNS:
        return False
    if one["point"] is None or one["best"] is None:
        return one["point"] is None and one["best"] is None
    return bool(one["gap"] <= GAP and not one["broken"])


def text(found: Sequence[dict[str, Any]]) -> str:
    """Returns the part of the page: how often a point is as good as that of a dense grid."""
    by_kind = defaultdict(list)
    for one in found:
        by_kind[one["kind"]].append(one)
    lines = [
        "| problem | drawn | within 2 % | bounds kept | shown | median gap, % | runs |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for kind, words in [*WORDS.items(), ("", "all")]:
        of = by_kind[kind] if kind else found
        kept = sum(not one["broken"] for one in of)
        shown = sum(one["shown"] or one["impossible"] for one in of)
        gap = 100 * median(one["gap"] for one in of if one["gap"] is not None)
        runs = round(median(one["runs"] for one in of))
        counts = f"{len(of)} | {sum(map(hit, of))} | {kept} | {shown}"
        lines.append(f"| {words} | {counts} | {gap:.1f} | {runs} |")
    return "\n".join([*lines, "", _sentence(found), ""])


def _sentence(found: Sequence[dict[str, Any]]) -> str:
    most = max(one["runs"] for one in found)
    return (
        f"In {sum(map(hit, found))} of {len(found)} problems the recommended point keeps the "
        f"bounds, its goal is at most 2 % worse than that of the best point of a dense grid, and "
        f"the search took at most a tenth of the grid's runs. The grid has {POINTS} values of each "
        f"parameter under {SEEDS} seeds, {GRID_RUNS:,} runs; the longest search took {most:,}. The "
        f"recommended point and the {FINALISTS_WORD} best points of the grid are compared under "
        f"{FINE_SEEDS} other seeds. A bound counts as broken if a mean under these seeds misses it "
        "by more than two standard errors. A gap below 0 is a point that is better than all of the "
        "grid."
    )


FINALISTS_WORD = "twelve"

THINGS = [
    Derived(
        "tune_several",
        make,
        products=(relative(DATA), f"{PAGE}#{PART}"),
        cells=cells,
        seeds=f"1 to 64 of each point; {FIRST_SEED:,} to {FIRST_SEED + SEEDS - 1:,}; "
        f"{JUDGED_SEED:,} to {JUDGED_SEED + FINE_SEEDS - 1:,}",
    )
]
