"""Answers of `goodqueue tune` to drawn problems of one parameter, beside dense grids."""

from __future__ import annotations

import json
import math
import sys
from collections import defaultdict
from itertools import islice
from pathlib import Path
from statistics import median
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from evidence.core.cells import Cell
from evidence.core.derived import Derived, relative, scratch
from evidence.core.pages import with_part
from evidence.tune_on_trial.asked import asked
from evidence.tune_on_trial.draw import DRAWS, KINDS, problems
from evidence.tune_on_trial.truth import FINE_SEEDS, FIRST_SEED, covered, row

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DATA = Path(__file__).parent / "data" / "problems.jsonl"
"""One line for each problem: the question, the answer, and the truth."""

PAGE = Path("docs/tune.md")
PART = "trial"

MARGIN = 0.03
"""Share of a bound by which a recommended value may miss it, as `tune` states it."""

WORDS = {
    "delay": "queue limit, ping bounded, largest goodput",
    "busy": "queue limit, utilisation bounded, shortest queue",
    "shaper": "rate of a shaper, the modem's queue bounded, largest goodput",
    "codel": "CoDel's target, utilisation bounded, shortest ping",
    "transfers": "queue limit, loss bounded, shortest transfers",
}
"""The kinds of problems in words."""


def make() -> None:
    """Asks every problem, finds its truth, and writes both and the part of the page."""
    unfinished = scratch() / "tune_on_trial.jsonl"
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


def rows() -> list[dict[str, Any]]:
    """Returns the recorded problems, each with its answer and its truth."""
    return [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]


def text(found: Sequence[dict[str, Any]]) -> str:
    """Returns the part of the page: how often the intervals contain the best value."""
    by_kind = defaultdict(list)
    for one in found:
        by_kind[one["kind"]].append(one)
    lines = [
        "| problem | drawn | best value in the interval | bounds kept | shown | runs | width, % |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for kind, words in [*WORDS.items(), ("", "all")]:
        of = by_kind[kind] if kind else found
        cells = (len(of), sum(map(covered, of)), sum(map(_keeps, of)), sum(map(_shown, of)))
        runs = round(median(one["runs"] for one in of))
        width = 100 * median(_width(one) for one in of if one["interval"])
        lines.append(f"| {words} | {' | '.join(map(str, cells))} | {runs} | {width:.0f} |")
    return "\n".join([*lines, "", _sentence(found), ""])


def _keeps(one: dict[str, Any]) -> bool:
    """Returns True if dense runs do not show that the recommended value misses its bounds."""
    return one["value"] is None or one["miss"] <= MARGIN


def _shown(one: dict[str, Any]) -> bool:
    return bool(one["shown"] or one["impossible"])


def _width(one: dict[str, Any]) -> float:
    """Returns the width of an interval as a share of the range, on its scale."""
    ends = one["vary"].partition("=")[2].split("..")
    least, most = (float(end.rstrip(ascii_lowercase)) for end in ends)
    low, high = one["interval"]
    if most >= 4 * least:
        return math.log(high / low) / math.log(most / least)
    return float(high - low) / (most - least)


def _sentence(found: Sequence[dict[str, Any]]) -> str:
    hits = sum(map(covered, found))
    return (
        f"The 95 % interval contains the best value in {hits} of {len(found)} problems. The truth "
        f"of a problem is a grid of 33 values, and closer ones under {FINE_SEEDS} seeds around the "
        "best; a value that these seeds do not distinguish from the best one counts, too. "
        "“Bounds kept” counts recommended values whose means under these seeds miss no bound by "
        "more than 3 %. “Runs” and “width”, the width of the interval as a share of the range, are "
        "medians. Intervals are wide where many values are about as good."
    )


def cells() -> Iterator[Cell]:
    """Yields short runs of the first problem of each kind."""
    for problem in islice(problems(), len(KINDS)):
        yield Cell.of(problem.text, {"duration": "4s", "warmup": "1s"})


THINGS = [
    Derived(
        "tune_on_trial",
        make,
        products=(relative(DATA), f"{PAGE}#{PART}"),
        cells=cells,
        seeds=f"1 to 64 of each value; {FIRST_SEED:,} to {FIRST_SEED + FINE_SEEDS - 1:,}",
    )
]
