"""Pictures of the figures: marks for simulated values, dashed lines for theory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.plots.style import BLACK, CYCLE, GREY, MARKERS, Picture, log_ticks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from goodqueue.papers.dhamdhere2005.claims import Claim, Points
    from goodqueue.papers.dhamdhere2005.figures import Figure

CLOSE = 1.36
"""Smallest ratio of neighbouring ticks on the logarithmic axis."""


def picture(figure: Figure, claims: Sequence[Claim]) -> Picture:
    """Returns the picture of a figure; its caption lists the claims of the paper's text."""

    def draw(axes: list[Axes]) -> None:
        _lines(figure, axes[0])
        _axes(figure, axes[0])

    theory = "; grey lines are theory" if figure.theory else ""
    said = "; ".join(claim.says for claim in claims if claim.is_the_papers)
    paper = f" The paper: {said}." if said else ""
    return Picture(
        figure.name,
        f"{_bars(figure)}{theory}.{paper}",
        draw,
    )


def _bars(figure: Figure) -> str:
    if figure.searched:
        note = "Bars: 95 % intervals over seeds of the buffer that each needs"
        flows = ", ".join(str(count) for count in sorted(figure.bracketed))
        return f"{note}; at {flows} flows: from a failing to a sufficient buffer" if flows else note
    return "Simulated means with 95 % intervals"


def _lines(figure: Figure, axes: Axes) -> None:
    theory = [label for label, points in figure.curves.items() if _is_drawn(figure, label, points)]
    simulated = [label for label in figure.curves if label not in figure.theory]
    for label, colour, mark in zip(simulated, (*CYCLE, BLACK), MARKERS, strict=False):
        points = figure.curves[label]
        axes.errorbar(
            list(points),
            [value.mean for value in points.values()],
            yerr=[value.half_width for value in points.values()],
            fmt=f"{mark}-",
            ms=4.5,
            capsize=2.5,
            color=colour,
            label=label,
        )
    for label, dash in zip(theory, ("--", ":", "-.", (0, (6, 2, 1, 2, 1, 2))), strict=False):
        points = figure.curves[label]
        means = [value.mean for value in points.values()]
        axes.plot(list(points), means, linestyle=dash, color=GREY, label=label)


def _is_drawn(figure: Figure, label: str, points: Points) -> bool:
    """Returns True for a curve of theory; a single number is none."""
    return label in figure.theory and len(points) > 1


def _axes(figure: Figure, axes: Axes) -> None:
    axes.set_title(figure.title)
    axes.set_xlabel("local flows")
    axes.set_ylabel(figure.unit)
    axes.set_xscale("log")
    ticks: list[int] = []
    for count in sorted({count for points in figure.curves.values() for count in points}):
        if not ticks or count >= CLOSE * ticks[-1]:
            ticks.append(count)
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.xaxis.minorticks_off()
    if figure.log:
        axes.set_yscale("log")
        log_ticks(axes.yaxis, "{:,.4g}".format)
    marks = ["bars: 95 % intervals", *(["grey: theory"] if figure.theory else [])]
    axes.legend(
        loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0, title="\n".join(marks)
    )
