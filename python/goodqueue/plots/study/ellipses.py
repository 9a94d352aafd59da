"""Pictures of a characterisation: ellipses of queueing delay and goodput for each section."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from matplotlib.ticker import MaxNLocator

from goodqueue.plots.style import BLUE, ORANGE, Picture, label_all, legend_below

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from goodqueue.characterization.ellipse import GaussianEllipse
    from goodqueue.characterization.measure import Characterization, Found

COLUMNS = 3
"""Panels side by side."""

PANEL_INCHES = 2.3
"""Height of a row of panels."""

LONGEST_TITLE = 38
"""Letters of a panel's title that fit above it."""


def pictures(found: Characterization) -> list[Picture]:
    """Returns a picture with a panel for each section; none if no section was run."""
    run = [one for one in found.found if one.points]
    sections = [list(group) for _, group in groupby(run, key=lambda one: one.section)]
    if not sections:
        return []
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

    against = (
        "" if found.against is None else " One colour is the subject, the other its comparison."
    )
    caption = (
        "Mean queueing delay and total goodput, a point for each seed and an ellipse for each "
        "scenario: the contour of one standard deviation of the Gaussian distribution under which "
        f"the points are most likely (RFC 7928 section 2.7).{against}"
    )
    return [
        Picture(
            "ellipses",
            caption,
            draw,
            panels=rows,
            height_inches=PANEL_INCHES * rows + 0.6,
            columns=columns,
            share_x="none",
            share_y="none",
        )
    ]


def _section(axes: Axes, cases: Sequence[Found]) -> None:
    section = cases[0].section
    title = f"{section.number} {section.title}"
    if len(title) > LONGEST_TITLE:
        title = title[: LONGEST_TITLE - 1].rsplit(" ", 1)[0].rstrip(",")
    axes.set_title(title, fontsize=8)
    axes.tick_params(labelsize=8)
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.yaxis.set_major_locator(MaxNLocator(4))
    for one in cases:
        _draw(axes, one.points, one.ellipse, BLUE, "o")
        _draw(axes, one.other_points, one.other_ellipse, ORANGE, "s")
    axes.margins(0.12)


def _draw(
    axes: Axes,
    points: Sequence[tuple[float, float]],
    ellipse: GaussianEllipse | None,
    colour: str,
    marker: str,
) -> None:
    if ellipse is None:
        return
    xs, ys = ellipse.contour()
    axes.fill(_ms(xs), _mbps(ys), facecolor=colour, alpha=0.2, edgecolor="none")
    axes.plot(_ms(xs), _mbps(ys), color=colour, linewidth=1.0)
    delays, goodputs = zip(*points, strict=True)
    axes.plot(_ms(delays), _mbps(goodputs), marker, color=colour, markersize=2.2)


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
