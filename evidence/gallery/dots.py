"""Pictures with a row of dots for each name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from matplotlib.ticker import LogLocator, NullLocator

from goodqueue.plots.panels import head
from goodqueue.plots.style import BLACK, CYCLE, Picture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from goodqueue.core.intervals import Interval


@dataclass(frozen=True)
class Group:
    """Dots of one colour, one for each row of the picture; None omits a row."""

    label: str
    intervals: Sequence[Interval | None]
    hollow: bool = False


def dots(  # noqa: PLR0913 - by name, each a word of the picture
    name: str,
    *,
    title: str,
    caption: str,
    xlabel: str,
    rows: Sequence[str],
    groups: Sequence[Group],
    log: bool = False,
) -> Picture:
    """Returns a picture with a row for each name, and a dot and its interval for each group."""

    def draw(axes: list[Axes]) -> None:
        (own,) = axes
        for place, (group, colour) in enumerate(zip(groups, CYCLE, strict=False)):
            shift = 0.24 * (place - (len(groups) - 1) / 2)
            shown = [(row, dot) for row, dot in enumerate(group.intervals) if dot is not None]
            own.errorbar(
                [dot.mean for _, dot in shown],
                [row + shift for row, _ in shown],
                xerr=[dot.half_width for _, dot in shown],
                fmt="D" if group.hollow else "o",
                color=BLACK if group.hollow else colour,
                mfc="white" if group.hollow else colour,
                capsize=2.5,
                ms=6.5,
                label=group.label,
            )
        own.set_yticks(range(len(rows)), rows)
        own.set_ylim(len(rows) - 0.4, -0.6)
        head(own, title)
        own.set_xlabel(xlabel)
        if log:
            own.set_xscale("log")
            own.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            own.xaxis.set_minor_locator(NullLocator())
            own.xaxis.set_major_formatter(lambda value, _position: f"{value:,.4g}")
        else:
            own.set_xlim(left=0)

    return Picture(name, caption, draw, height_inches=1.7 + 0.42 * len(rows))
