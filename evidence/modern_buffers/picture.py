"""Picture of the study: utilisation, loss, and the slowdown of short flows, over the buffer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from matplotlib import rc_context
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from evidence.modern_buffers import study
from goodqueue.plots.style import BLUE, GREEN, GREY, STYLE, VERMILION

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from evidence.modern_buffers.study import Place

COLOURS = (GREY, BLUE, VERMILION, GREEN)
"""Colours of the mixes, in their order."""

PANELS = (
    ("utilization", 100.0, "utilisation, %"),
    ("loss_rate", 100.0, "loss, %"),
    ("slowdown", 1.0, "median slowdown of short flows"),
)
"""Figure, factor and label of each row of panels."""


def save(path: Path) -> None:
    """Writes the picture: a column for each link, and a line for each mix."""
    with rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(12, 9), layout="constrained")
        FigureCanvasSVG(figure)
        panels = figure.subplots(len(PANELS), len(study.PLACES), sharex=True, sharey="row")
        for row, (name, factor, label) in zip(panels, PANELS, strict=True):
            for axes, place in zip(row, study.PLACES, strict=True):
                _draw(axes, place, name, factor)
            row[0].set_ylabel(label)
        for axes, place in zip(panels[0], study.PLACES, strict=True):
            axes.set_title(f"{place.name}, {place.flows} long flows")
            axes.set_ylim(80, 100.5)
            axes.axhline(98, color=GREY, linewidth=0.8, linestyle=":")
        for axes in panels[1]:
            axes.set_ylim(0, 8)
        for axes in panels[2]:
            axes.set_ylim(0, 15)
        for axes in panels[-1]:
            axes.set_xlabel("buffer, bandwidth-delay products")
        panels[0][-1].legend(loc="lower right")
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None, "Creator": "goodqueue"})


def _draw(axes: Axes, place: Place, name: str, factor: float) -> None:
    """Draws a figure over the buffer, with its 95 % intervals, and C·T/√N as a vertical line."""
    axes.set_xscale("log")
    for mix, colour in zip(study.MIXES, COLOURS, strict=True):
        if mix.alone and name == "slowdown":
            continue
        points = [
            (fraction, found)
            for fraction in study.FRACTIONS
            if (found := study.interval(place, mix, fraction, name)) is not None
        ]
        axes.errorbar(
            [fraction for fraction, _ in points],
            [factor * found.mean for _, found in points],
            yerr=[
                factor * found.half_width if math.isfinite(found.half_width) else 0.0
                for _, found in points
            ],
            marker="o",
            markersize=4,
            capsize=2,
            linewidth=1.2,
            color=colour,
            label=mix.name,
        )
    axes.axvline(1 / math.sqrt(place.flows), color=GREY, linewidth=0.8, linestyle="--")
