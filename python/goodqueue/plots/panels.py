"""Pictures of scenarios: lines over time or over a sweep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from matplotlib.ticker import NullLocator

from goodqueue.plots.style import CYCLE, Picture, limit_line, log_ticks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Line:
    """One line: its label, its points, and their errors.

    Attributes:
        label: label in the legend; an empty one is omitted.
        x: ascending.
        y: one value for each of `x`.
        errors: half widths of intervals, as many as `x`; or none.
        form: `steps` for a quantity that stays constant between changes, `line` for samples,
            `marks` for separate points, such as a paper's.
        colour: colour; by default that of its index among the panel's lines.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    errors: Sequence[float] | None = None
    form: Literal["steps", "line", "marks"] = "line"
    colour: str | None = None


@dataclass(frozen=True)
class Panel:
    """Lines over one axis; `bound` is a dashed line across, with its meaning."""

    ylabel: str
    lines: Sequence[Line]
    log: bool = False
    bound: tuple[float, str] | None = None
    bottom: float = 0
    top: float | None = None


def stacked(  # noqa: PLR0913 - by name, each a word of the picture
    name: str,
    *,
    title: str,
    caption: str,
    xlabel: str,
    panels: Sequence[Panel],
    xlog: Sequence[float] = (),
    until: float | None = None,
) -> Picture:
    """Returns panels one above the other over one x axis.

    The x axis is logarithmic if its ticks are given, and ends at `until` if that is given. The
    first panel's labels are the legend of all.
    """

    def draw(axes: list[Axes]) -> None:
        for panel, own in zip(panels, axes, strict=True):
            _panel(panel, own, swept=bool(xlog))
        head(axes[0], title)
        axes[-1].set_xlabel(xlabel)
        if until is not None:
            axes[-1].set_xlim(0, until)
        if xlog:
            axes[-1].set_xscale("log")
            axes[-1].set_xticks(list(xlog), [f"{tick:,.4g}" for tick in xlog])
            axes[-1].xaxis.set_minor_locator(NullLocator())

    height = 4.4 if len(panels) == 1 else 1.3 + 2.2 * len(panels)
    return Picture(name, caption, draw, panels=len(panels), height_inches=height)


def _panel(panel: Panel, axes: Axes, *, swept: bool) -> None:
    for line, next_colour in zip(panel.lines, CYCLE, strict=False):
        colour = line.colour or next_colour
        if line.errors is not None:
            axes.errorbar(line.x, line.y, yerr=line.errors, fmt="none", ecolor=colour, capsize=2.5)
        match line.form:
            case "steps":
                axes.step(line.x, line.y, where="post", color=colour, label=line.label, lw=1.1)
            case "marks":
                axes.plot(
                    line.x,
                    line.y,
                    "D",
                    color=colour,
                    label=line.label,
                    mfc="white",
                    ms=6.5,
                    zorder=4,
                )
            case "line":
                mark = "o" if swept else ""
                axes.plot(line.x, line.y, mark + "-", color=colour, label=line.label, ms=4.5)
    axes.set_ylabel(panel.ylabel)
    axes.margins(x=0.02)
    if panel.log:
        axes.set_yscale("log")
        low, high = axes.get_ylim()
        log_ticks(axes.yaxis, "{:,.4g}".format, (1, 2, 5) if high < 100 * low else (1,))
    else:
        axes.set_ylim(bottom=panel.bottom, top=panel.top)
    if panel.bound is not None:
        limit_line(axes, panel.bound[0], panel.bound[1], corner="lower right")


def head(axes: Axes, title: str) -> None:
    """Writes the title, and below it the legend in a row, outside the axes."""
    names = axes.get_legend_handles_labels()[1]
    axes.set_title(title, pad=28 if names else 10)
    if names:
        axes.legend(
            loc="lower left",
            bbox_to_anchor=(-0.01, 1.0),
            ncols=len(names),
            columnspacing=1.6,
            borderaxespad=0.2,
        )
