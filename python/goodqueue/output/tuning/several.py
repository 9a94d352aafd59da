"""The answer of `goodqueue tune` for several parameters in sentences and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.output.terminal import plain, quantity, say, stdout, table
from goodqueue.output.tuning.screen import MAX_ROWS, change, cost, shown
from goodqueue.sizing.search.trials import FIRST_REPLICATES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodqueue.tuning.several.answer import BestPoint, TunedPoint


def print_point(answer: TunedPoint) -> None:
    """Prints the recommended point, the best other ones, the sensitivity and the cost."""
    first, *others = sentences(answer)
    say(f"[bold]{first}[/]", *others, markup=True)
    if not answer.trials.limits:
        return
    say("")
    stdout().print(_table(answer))
    say("", *_sensitivity(answer), *cost(answer), markup=True)


def sentences(answer: TunedPoint) -> list[str]:
    """Returns the answer in sentences, the recommended point first."""
    if answer.best is not None:
        return list(_recommended(answer, answer.best))
    if not answer.trials.limits:
        return ["no run ended before the search was stopped"]
    first = "no point was found that keeps every bound, but not all are excluded"
    if answer.impossible:
        first = f"no point of {_names(answer)} that was tried keeps every bound"
    return [first, *_miss(answer)]


def _names(answer: TunedPoint) -> str:
    return " and ".join(plain(axis.path) for axis in answer.space.axes)


def point_text(answer: TunedPoint, mark: int) -> str:
    """Returns the values of a point by their paths."""
    return ", ".join(f"{path} = {value}" for path, value in answer.space.settings(mark))


def _recommended(answer: TunedPoint, best: BestPoint) -> Iterator[str]:
    word = "recommended" if answer.proved else "estimate"
    own = ", which are the file's own values" if best.is_own else ""
    yield f"{word}: {plain(point_text(answer, best.mark))}{own}"
    goal = answer.goal
    if goal is not None:
        if not goal.of_parameter:
            yield f"{plain(goal.figure.name)} is {_goal(answer, best)}"
        for axis, (low, high) in zip(answer.space.axes, answer.as_good(), strict=True):
            text = axis.text_of
            yield f"about as good: {plain(axis.path)} from {text(low)} to {text(high)}"
    if best.decided_by is not None:
        yield f"decided by the bound {plain(best.decided_by)}"
    elif goal is not None:
        yield "no bound decides: no point with a better goal was found"


def _goal(answer: TunedPoint, best: BestPoint) -> str:
    """Returns the goal's figure with both of its errors."""
    assert answer.goal is not None
    figure = answer.goal.figure
    text = shown(figure, answer.interval(best.mark, figure))
    if best.search_error is None:
        return f"{text} (runs); the search was stopped before its error was known"
    error = quantity(figure.key.removesuffix(".sum"), best.search_error)
    return f"{text} (runs); the last two halvings of the search improved it by {error}"


def _miss(answer: TunedPoint) -> Iterator[str]:
    miss = answer.miss
    if miss is not None:
        figure = next(keep.figure for keep in answer.keeps if keep.text == miss.broken)
        mean = quantity(figure.key.removesuffix(".sum"), miss.mean)
        where = plain(point_text(answer, miss.mark))
        yield f"nearest miss: {where}"
        yield f"there {plain(figure.name)} is {mean}, not {plain(miss.broken)}"


def _table(answer: TunedPoint) -> object:
    paths = [axis.path for axis in answer.space.axes]
    columns = [*paths, *(figure.name for figure in answer.figures), "kept", "runs"]
    rows = [_row(answer, mark) for mark in rows_of_screen(answer)]
    return table("", columns, rows, important=[*paths, "kept"])


def rows_of_screen(answer: TunedPoint) -> list[int]:
    """Returns the points of the table, in the order of their places.

    These are the recommended one or the nearest miss, the file's own, and of the others with an
    interval those with the best goal, the ones that break bounds last.
    """
    trials, goal = answer.trials, answer.goal
    first = [one.mark for one in (answer.best, answer.miss) if one is not None]
    first += [answer.space.own] if answer.space.own in trials.limits else []

    def rank(mark: int) -> tuple[bool, float]:
        targets = [keep.bound for keep in answer.keeps]
        passes = trials.passes(mark, targets)
        if goal is None or not passes:
            return not passes, trials.miss(mark, targets)
        return False, goal.gain(0.0, trials.interval(mark, goal.figure.key).mean)

    marks = [one for one in trials.limits if len(trials.replicates[one]) >= FIRST_REPLICATES]
    every = dict.fromkeys([*first, *sorted(marks, key=rank)])
    return sorted(list(every)[:MAX_ROWS])


def _row(answer: TunedPoint, mark: int) -> list[str]:
    values = [plain(axis.values[at].text) for axis, at in answer.space.marks(mark)]
    if answer.best is not None and mark == answer.best.mark:
        values = [f"[bold]{value}[/]" for value in values]
    cells = [shown(figure, answer.interval(mark, figure)) for figure in answer.figures]
    return [*values, *cells, answer.verdict(mark), str(len(answer.trials.replicates[mark]))]


def _sensitivity(answer: TunedPoint) -> Iterator[str]:
    """Yields how the figures differ if one parameter alone is a tenth of its range away."""
    best = answer.best
    for one in answer.sensitivity():
        assert best is not None
        (value,) = [
            axis.values[at].text for axis, at in answer.space.marks(one.mark) if axis is one.axis
        ]
        changes = ", ".join(
            f"{plain(figure.name)} {change(answer, figure, best.mark, one.mark)}"
            for figure in answer.figures
        )
        yield f"at {plain(one.axis.path)} = {plain(value)} alone: {changes}"
