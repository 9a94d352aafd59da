"""The part of docs/validation.md with a kernel behind the ends of the range over hosts."""

from __future__ import annotations

from collections import Counter
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

MARGIN = 0.001
"""Utilisation that an answer may lack, as `size` states it."""

INTRODUCTION = (
    "Linux {kernel} sent over {links} drawn links, emulated in real time with its own TCP "
    "([emulate.md](emulate.md)), behind the lower end of the range over hosts, the answer, and the "
    "upper end. Each buffer has {runs} runs of a minute, and the first quarter is not measured. "
    "The flags bound the utilisation alone. Of all runs {trusted} are trusted, {doubtful} doubtful "
    "and {late} not trusted, because packets were late on a busy machine."
)

FOUND = (
    "Behind the upper end the bound holds on {holds} of {links} links. Behind the lower end it "
    "fails on {fails}; both are so on {both}. The upper end is {ratio:.2g} times the lower one in "
    "the median. A mean counts as holding if it lacks at most 0.1 points, the margin of an answer."
)


def buffers(answer: dict[str, Any]) -> dict[str, int]:
    """Returns the three buffers of an answer by name.

    Without an upper end four times the answer stands in its place.
    """
    low, high = answer["world"]
    return {"low": low, "answer": answer["packets"], "high": high or 4 * answer["packets"]}


def keeps(runs: Sequence[dict[str, Any]], busy: float) -> bool:
    """Returns True if the mean of runs keeps the bound within the margin of an answer."""
    return fmean(run["utilization"] for run in runs) >= busy - MARGIN


def text(answers: Sequence[dict[str, Any]], kernel: dict[str, Any]) -> str:
    """Returns the part of the page."""
    rows = kernel["rows"]
    ends = [buffers(answer) for answer in answers]
    bounds = [float(answer["flags"].split("--target ")[1].rstrip("%")) / 100 for answer in answers]
    fails = [not keeps(runs["low"], busy) for runs, busy in zip(rows, bounds, strict=True)]
    holds = [keeps(runs["high"], busy) for runs, busy in zip(rows, bounds, strict=True)]
    found = FOUND.format(
        holds=sum(holds),
        fails=sum(fails),
        both=sum(map(all, zip(fails, holds, strict=True))),
        links=len(answers),
        ratio=median(one["high"] / one["low"] for one in ends),
    )
    verdicts = Counter(run["verdict"] for row in rows for runs in row.values() for run in runs)
    introduction = INTRODUCTION.format(
        kernel=kernel["kernel"],
        links=len(answers),
        runs=len(rows[0]["low"]),
        trusted=verdicts["trusted"],
        doubtful=verdicts["doubtful"],
        late=verdicts["not trusted"],
    )
    lines = [
        "## The range over hosts beside a kernel",
        "",
        introduction,
        "",
        found,
        "",
        "| question | lower end, packets: utilisation | answer | upper end |",
        "| --- | --- | --- | --- |",
        *(_line(*one) for one in zip(answers, ends, rows, strict=True)),
        "",
    ]
    return "\n".join(lines)


def _line(answer: dict[str, Any], ends: dict[str, int], runs: dict[str, Any]) -> str:
    cells = (
        f"{ends[name]:,}: {100 * fmean(run['utilization'] for run in runs[name]):.2f} %"
        for name in ends
    )
    return f"| `{answer['flags']}` | {' | '.join(cells)} |"
