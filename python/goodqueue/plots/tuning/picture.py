"""Picture of the answer of `goodqueue tune`: every figure over the values of the parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.plots.answer import band, mark_recommended
from goodqueue.plots.style import CYCLE, GREEN, Picture, limit_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from goodqueue.tuning.answer import Tuned
    from goodqueue.tuning.figures import Figure

SCALES = {"_s": (1e3, "ms"), "_bps": (1e-6, "Mb/s"), "_bytes": (1e-3, "kB")}
"""Factor and unit of an axis, by the unit of a figure."""


def picture(answer: Tuned) -> Picture:
    """Draws the figures of the bounds and the goal with intervals, bounds, and sets."""
    figures = answer.figures
    factor, unit = _x_scale(answer)

    def draw(panels: list[Axes]) -> None:
        marks = answer.trials.limits
        numbers = [factor * answer.axis.values[mark].number for mark in marks]
        for place, (axes, figure) in enumerate(zip(panels, figures, strict=True)):
            scale, label = y_scale(figure)
            intervals = [answer.interval(mark, figure) for mark in marks]
            band(axes, numbers, intervals, scale, CYCLE[place % len(CYCLE)])
            axes.set_ylabel(f"{figure.name}{label}")
            for keep in answer.keeps:
                if keep.figure.key == figure.key:
                    limit_line(axes, scale * keep.bound.bound, keep.text, corner="upper left")
            for one in answer.kept:
                ends = (answer.axis.values[end.mark].number for end in (one.low, one.high))
                low, high = (factor * number for number in ends)
                axes.axvspan(low, high, color=GREEN, alpha=0.08, linewidth=0)
        last = panels[-1]
        if answer.axis.log:
            last.set_xscale("log")
        last.set_xlabel(f"{answer.axis.path}{unit}")
        panels[0].set_title("Values that keep the bounds")
        if answer.best is not None:
            _mark_best(answer, panels, factor)

    return Picture(
        "tune", _caption(answer), draw, panels=len(figures), height_inches=1.2 + 2.4 * len(figures)
    )


def _x_scale(answer: Tuned) -> tuple[float, str]:
    """Returns the factor and the unit of the axis of values, as the range was written."""
    value = next(iter(answer.axis.values.values()))
    if not answer.axis.unit or not value.number:
        return 1.0, ""
    written = float(value.text.removesuffix(answer.axis.unit).strip())
    return written / value.number, f", {answer.axis.unit}"


def y_scale(figure: Figure) -> tuple[float, str]:
    """Returns the factor of a figure on an axis, and its unit after a comma."""
    if figure.is_share:
        return 100.0, ", %"
    scale, unit = SCALES.get(figure.unit, (1.0, ""))
    return scale, f",\n{unit}" if unit else ""


def _mark_best(answer: Tuned, panels: list[Axes], factor: float) -> None:
    assert answer.best is not None
    at = factor * answer.axis.values[answer.best.mark].number
    verdict = "recommended" if answer.proved else "estimate"
    mark_recommended(panels, at, f"{verdict}: {answer.value}")


def _caption(answer: Tuned) -> str:
    """Returns one sentence: what is drawn, and which value is recommended."""
    bounds = " and ".join(keep.text for keep in answer.keeps)
    end = "no value that was run keeps them"
    if answer.best is not None:
        end = f"the line is at {answer.value}, the recommended value"
    return (
        f"Means over seeds with 95 % intervals for each value of {answer.axis.path} that was run; "
        f"shaded values keep {bounds}, and {end}."
    )
