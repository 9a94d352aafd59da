"""The answer of `goodqueue tune` in sentences and a table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from goodqueue.output.terminal import (
    counted,
    goes_on,
    number,
    packets,
    plain,
    quantity,
    say,
    stdout,
    table,
)
from goodqueue.tuning.answer import rows_of_screen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.core.intervals import Interval
    from goodqueue.tuning.answer import Tuned
    from goodqueue.tuning.figures import Figure
    from goodqueue.tuning.searched import Searched
    from goodqueue.tuning.shown import End

MAX_ROWS = 12
"""Largest number of rows of the table."""


def print_answer(answer: Tuned) -> None:
    """Prints the question, the recommended value, the sets, the trade-off and the cost."""
    first, *others = sentences(answer)
    say(f"[bold]{first}[/]", *others, markup=True)
    if not answer.trials.limits:
        return
    say("")
    stdout().print(_table(answer))
    say("", *_sensitivity(answer), *cost(answer), markup=True)


def sentences(answer: Tuned) -> list[str]:
    """Returns the answer in sentences, the recommended value first."""
    return [*_recommended(answer), *_sets(answer), *_miss(answer)]


def sentence(answer: Tuned) -> str:
    """Returns the answer in one sentence."""
    return _recommended(answer)[0]


def _recommended(answer: Tuned) -> list[str]:
    best, path = answer.best, plain(answer.axis.path)
    if best is None:
        if not answer.trials.limits:
            return ["no run ended before the search was stopped"]
        if answer.impossible:
            return [f"no value of {path} between {_range(answer)} keeps every bound"]
        return [f"no value of {path} was found that keeps every bound, but not all are excluded"]
    word = "recommended" if answer.proved else "estimate"
    own = ", which is the file's own value" if best.is_own else ""
    lines = [f"{word}: {path} = {plain(answer.value or '')}{own}"]
    if answer.goal is not None:
        text = answer.axis.text_of
        size = "largest" if answer.goal.most else "smallest"
        figure = answer.goal.figure
        if answer.goal.of_parameter:
            what = f"the {size} value lies"
        else:
            mean = shown(figure, answer.interval(best.mark, figure))
            what = f"{plain(figure.name)} is {mean}; it is {size}"
        lines.append(f"{what} between {text(best.low)} and {text(best.high)} with 95 % confidence")
    if best.decided_by is not None:
        lines.append(f"decided by the bound {plain(best.decided_by)}")
    elif answer.goal is not None:
        lines.append("no bound decides: the best value lies within the set, or ends the range")
    return lines


def _range(answer: Tuned) -> str:
    values = list(answer.axis.values.values())
    return f"{plain(values[0].text)} and {plain(values[-1].text)}"


def _sets(answer: Tuned) -> list[str]:
    """Returns a sentence on each set of values that keep all bounds."""
    many = len(answer.kept) > 1
    lines = []
    for place, one in enumerate(answer.kept, 1):
        low, high = (plain(answer.axis.values[end.mark].text) for end in (one.low, one.high))
        name = f"set {place}: " if many else ""
        between = f"at {low}" if low == high else f"from {low} to {high}"
        lines.append(f"{name}means keep every bound {between}")
        for side, end in (("lower", one.low), ("upper", one.high)):
            lines.append(f"  {side} end: {_end(answer, end)}")
    return lines


def _end(answer: Tuned, end: End) -> str:
    if end.decided_by is None:
        return "the range ends here"
    text = answer.axis.text_of
    low, high = text(end.low), text(end.high)
    between = low if low == high else f"between {low} and {high}"
    return f"{between} with 95 % confidence; {plain(end.decided_by)} breaks beyond it"


def _miss(answer: Tuned) -> list[str]:
    miss = answer.miss
    if miss is None:
        return []
    value = plain(answer.axis.values[miss.mark].text)
    figure = next(keep.figure for keep in answer.keeps if keep.text == miss.broken)
    mean = quantity(figure.key.removesuffix(".sum"), miss.mean)
    bound = plain(miss.broken)
    return [f"{value} misses the bounds least: {plain(figure.name)} is {mean}, not {bound}"]


def _table(answer: Tuned) -> object:
    columns = [answer.axis.path, *(figure.name for figure in answer.figures), "kept", "runs"]
    rows = [_row(answer, mark) for mark in rows_of_screen(answer, MAX_ROWS)]
    return table("", columns, rows, important=["kept"])


def _row(answer: Tuned, mark: int) -> list[str]:
    value = plain(answer.axis.values[mark].text)
    chosen = answer.best is not None and mark == answer.best.mark
    cells = [shown(figure, answer.interval(mark, figure)) for figure in answer.figures]
    verdict = answer.verdict(mark)
    first = f"[bold]{value}[/]" if chosen else value
    return [first, *cells, verdict, str(len(answer.trials.replicates[mark]))]


def shown(figure: Figure, interval: Interval) -> str:
    """Returns a figure with its interval, in the unit of its key."""
    half = interval.half_width if math.isfinite(interval.half_width) else None
    return quantity(figure.key.removesuffix(".sum"), interval.mean, half)


def _sensitivity(answer: Tuned) -> list[str]:
    """Returns how the figures differ about a tenth of the range away."""
    best = answer.best
    if best is None:
        return []
    lines = []
    for mark in answer.beside():
        changes = [
            f"{plain(figure.name)} {change(answer, figure, best.mark, mark)}"
            for figure in answer.figures
        ]
        lines.append(f"at {plain(answer.axis.values[mark].text)}: {', '.join(changes)}")
    return lines


def change(answer: Searched, figure: Figure, mark: int, other: int) -> str:
    """Returns by how much a figure differs at another value: in per cent, or the figure itself."""
    here, there = (answer.interval(one, figure).mean for one in (mark, other))
    if not here:
        return quantity(figure.key, there)
    return f"{100 * (there - here) / here:+.1f} %"


def cost(answer: Searched) -> Sequence[str]:
    """Returns the runs and packets that the search took, and why it ended early."""
    used, budget = number(answer.used / 1e6, 3), number(answer.budget / 1e6, 3)
    runs = counted(answer.trials.spent, "run")
    lines = [f"{runs} sent {used} of {budget} million packets"]
    if answer.budget_over:
        each = packets(round(answer.packets_per_run))
        lines.append(f"the search was ended by its budget (--budget) or --time; a run sends {each}")
    if answer.interrupted:
        lines.append(goes_on(answer.stored))
    return lines
