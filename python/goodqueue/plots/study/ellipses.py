"""Pictures of a characterisation: ellipses of queueing delay and goodput for each section."""

from __future__ import annotations

import textwrap
from itertools import groupby
from typing import TYPE_CHECKING

from matplotlib.ticker import MaxNLocator

from goodqueue.plots.style import (
    BLUE,
    ORANGE,
    Picture,
    label_all,
    legend_below,
    log_ticks,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from goodqueue.characterization.ellipse import GaussianEllipse
    from goodqueue.characterization.measure import Characterization, Found

COLUMNS = 3
"""Panels side by side."""

ROWS = 4
"""Largest number of rows in a picture, so that it fits on a page."""

PANEL_INCHES = 2.4
"""Height of a row of panels."""

TITLE_LETTERS = 34
"""Letters of a line of a panel's title."""

MIN_SPAN = 0.05
"""Least height of a panel, as a share of its largest goodput, so that equal goodputs look equal."""

LOGARITHMIC_FROM = 20
"""Ratio of the largest goodput of a panel to the smallest from which its axis is logarithmic."""


def pictures(found: Characterization) -> list[Picture]:
    """Returns pictures with a panel for each section; none if no section was run."""
    run = [one for one in found.found if one.points]
    sections = [list(group) for _, group in groupby(run, key=lambda one: one.section)]
    size = COLUMNS * ROWS
    parts = [sections[begin : begin + size] for begin in range(0, len(sections), size)]
    return [
        _picture(found, "ellipses" if len(parts) == 1 else f"ellipses-{place}", part)
        for place, part in enumerate(parts, 1)
    ]


def _picture(found: Characterization, name: str, sections: Sequence[Sequence[Found]]) -> Picture:
    columns = min(COLUMNS, len(sections))
    rows = -(-len(sections) // columns)

    def draw(panels: list[Axes]) -> None:
        for axes, cases in zip(panels, sections, strict=False):
            _section(axes, cases)
        for axes in panels[len(sections) :]:
            axes.set_visible(False)
        figure = panels[0].figure
        label_all(figure, "mean queueing delay, ms", "goodput, Mb/s")
        handles, labels = _legend(found, panels[0])
        legend_below(figure, handles, labels, None)

    numbers = (
        " Digits count the scenarios of a section, in the order of its tables."
        if any(len(cases) > 1 for cases in sections)
        else ""
    )
    caption = (
        "Mean queueing delay and total goodput, a point for each seed and an ellipse for each "
        "scenario: the contour of one standard deviation of the Gaussian distribution under which "
        f"the points are most likely (RFC 7928 section 2.7).{numbers} The axes of goodput do not "
        "begin at 0."
    )
    return Picture(
        name,
        caption,
        draw,
        panels=rows,
        height_inches=PANEL_INCHES * rows + 0.6,
        columns=columns,
        share_x="none",
        share_y="none",
    )


def _section(axes: Axes, cases: Sequence[Found]) -> None:
    section = cases[0].section
    title = textwrap.fill(f"{section.number} {section.title}", TITLE_LETTERS)
    axes.set_title(title, fontsize=8)
    axes.tick_params(labelsize=8)
    for place, one in enumerate(cases, 1):
        number = str(place) if len(cases) > 1 else ""
        _draw(axes, one.points, one.ellipse, BLUE, "o", number)
        _draw(axes, one.other_points, one.other_ellipse, ORANGE, "s", number)
    axes.margins(0.12)
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.set_xlim(left=0)
    _goodput_axis(axes, [point[1] for one in cases for point in (*one.points, *one.other_points)])


def _goodput_axis(axes: Axes, goodputs_bps: Sequence[float]) -> None:
    """Sets the scale of the goodputs, and how far it reaches at least."""
    low, high = _mbps([min(goodputs_bps), max(goodputs_bps)])
    if low > 0 and high / low >= LOGARITHMIC_FROM:
        axes.set_yscale("log")
        log_ticks(axes.yaxis, lambda value: f"{value:g}", subs=(1,))
        return
    axes.yaxis.set_major_locator(MaxNLocator(4))
    bottom, top = axes.get_ylim()
    missing = MIN_SPAN * high - (top - bottom)
    if missing > 0:
        axes.set_ylim(bottom - missing / 2, top + missing / 2)


def _draw(  # noqa: PLR0913, PLR0917
    axes: Axes,
    points: Sequence[tuple[float, float]],
    ellipse: GaussianEllipse | None,
    colour: str,
    marker: str,
    number: str,
) -> None:
    if ellipse is None:
        return
    xs, ys = ellipse.contour()
    axes.fill(_ms(xs), _mbps(ys), facecolor=colour, alpha=0.2, edgecolor="none")
    axes.plot(_ms(xs), _mbps(ys), color=colour, linewidth=1.0)
    delays, goodputs = zip(*points, strict=True)
    axes.plot(_ms(delays), _mbps(goodputs), marker, color=colour, markersize=2.2)
    middle = (1e3 * ellipse.x, ellipse.y / 1e6)
    axes.annotate(
        number, middle, xytext=(4, 2), textcoords="offset points", color=colour, fontsize=7
    )


def _legend(found: Characterization, axes: Axes) -> tuple[list[object], list[str]]:
    names = [(found.subject.name, BLUE, "o")]
    if found.against is not None:
        names.append((found.against.name, ORANGE, "s"))
    handles: list[object] = [
        axes.plot([], [], marker, color=colour, linestyle="-")[0] for _, colour, marker in names
    ]
    return handles, [name for name, _, _ in names]


def _ms(values: Sequence[float]) -> list[float]:
    return [1e3 * value for value in values]


def _mbps(values: Sequence[float]) -> list[float]:
    return [value / 1e6 for value in values]
