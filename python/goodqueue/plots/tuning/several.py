"""Picture of the answer of `goodqueue tune` for several parameters: what each bound costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.plots.style import BLUE, GREEN, GREY, VERMILION, Picture, limit_line
from goodqueue.plots.tuning.picture import y_scale
from goodqueue.sizing.search.trials import FIRST_REPLICATES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from goodqueue.tuning.bounds import Keep
    from goodqueue.tuning.figures import Figure
    from goodqueue.tuning.several.answer import TunedPoint

COLORS = {"yes": GREEN, "no": VERMILION, "close": GREY, "open": GREY}
"""Colour of a point by its verdict."""

WORDS = {
    "yes": "keeps every bound",
    "no": "breaks a bound",
    "close": "not decided",
    "open": "not decided",
}
"""Label of a point by its verdict."""


def picture(answer: TunedPoint) -> Picture:
    """Draws each bounded figure over the goal, with intervals and the trade-off.

    Without a goal, or if it is a parameter, they are drawn over the first parameter.
    """
    keeps = list({keep.figure.key: keep for keep in answer.keeps}.values())
    goal = None if answer.goal is None or answer.goal.of_parameter else answer.goal.figure
    if goal is not None and len(keeps) > 1:
        keeps = [keep for keep in keeps if keep.figure.key != goal.key]

    def draw(panels: list[Axes]) -> None:
        for axes, keep in zip(panels, keeps, strict=True):
            _panel(answer, axes, keep, goal)
        x_label = answer.space.axes[0].column
        if goal is not None:
            x_label = f"{goal.name}{y_scale(goal)[1]}".replace(",\n", ", ")
        panels[-1].set_xlabel(x_label)
        panels[0].set_title("What the bounds cost")
        panels[0].legend(loc="best")

    return Picture(
        "tune", _caption(answer), draw, panels=len(keeps), height_inches=1.2 + 2.8 * len(keeps)
    )


def _panel(answer: TunedPoint, axes: Axes, keep: Keep, goal: Figure | None) -> None:
    """Draws the points of one bound, its line, and the points that no other one beats."""
    scale, label = y_scale(keep.figure)
    trials, named, means = answer.trials, set[str](), [scale * keep.bound.bound]
    for mark in trials.limits:
        if len(trials.replicates[mark]) < FIRST_REPLICATES:
            continue
        best = answer.best is not None and mark == answer.best.mark
        verdict = answer.verdict(mark)
        word = "recommended" if best else WORDS[verdict]
        y, y_error = _at(answer, mark, keep.figure, scale)
        x, x_error = _x(answer, mark, goal)
        means.append(y)
        axes.errorbar(
            x,
            y,
            xerr=x_error,
            yerr=y_error,
            fmt="D" if best else "o",
            markersize=8 if best else 4,
            color=BLUE if best else COLORS[verdict],
            elinewidth=0.8,
            zorder=3 if best else 2,
            label=None if word in named else word,
        )
        named.add(word)
    if goal is not None:
        front = answer.frontier(keep.figure)
        ys = [_at(answer, mark, keep.figure, scale)[0] for mark in front]
        axes.plot([_x(answer, mark, goal)[0] for mark in front], ys, color=GREY, linewidth=1)
    limit_line(axes, scale * keep.bound.bound, keep.text, corner="upper left")
    room = 0.15 * (max(means) - min(means)) or 1.0
    axes.set_ylim(min(means) - room, max(means) + room)
    axes.set_ylabel(f"{keep.figure.name}{label}")


def _at(
    answer: TunedPoint, mark: int, figure: Figure, scale: float
) -> tuple[float, list[list[float]]]:
    """Returns a figure and its distances to the ends of its interval."""
    interval = answer.interval(mark, figure)
    mean = interval.mean
    return scale * mean, [[scale * (mean - interval.low)], [scale * (interval.high - mean)]]


def _x(
    answer: TunedPoint, mark: int, goal: Figure | None
) -> tuple[float, list[list[float]] | None]:
    """Returns the goal and its interval, or the number of the first parameter."""
    if goal is not None:
        return _at(answer, mark, goal, y_scale(goal)[0])
    return answer.space.numbers(mark)[answer.space.axes[0].column], None


def _caption(answer: TunedPoint) -> str:
    """Returns one sentence: what is drawn, and which point is recommended."""
    bounds = " and ".join(keep.text for keep in answer.keeps)
    end = "no point that was run keeps them"
    if answer.best is not None:
        values = ", ".join(
            f"{path} = {value}" for path, value in answer.space.settings(answer.best.mark)
        )
        end = f"the diamond is the recommended point, {values}"
    return (
        "Means over seeds with 95 % intervals at each point with eight runs or more; the line "
        f"joins points that no other one beats, the bounds are {bounds}, and {end}."
    )
