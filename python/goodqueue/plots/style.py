"""The look that every picture shares: readable at half a page, in print, and colour-blind safe."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from matplotlib.axes import Axes

# Okabe and Ito's palette: distinct to colour-blind readers, and in grey by their lightness.
BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, BLACK, GREY = "#CC79A7", "#56B4E9", "#000000", "#6E6E6E"
CYCLE = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION)

STYLE: dict[str, Any] = {
    "font.size": 11,
    "axes.titlesize": 13,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "legend.fontsize": 10,
    "lines.linewidth": 1.4,
}

Corner = Literal["upper left", "upper right", "lower left", "lower right"]

CAPTION_COLUMNS = 114
CAPTION_LINE_INCHES = 0.19


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture to be drawn: its file name, what it shows in a sentence, and how to draw it.

    Attributes:
        name: file name without its ending.
        caption: one or two sentences that a reader needs beside the picture.
        draw: puts the content on the axes, top to bottom.
        panels: how many axes the picture has, one above the other with one x axis.
        height_inches: height of the picture without its caption.
    """

    name: str
    caption: str
    draw: Callable[[list[Axes]], None]
    panels: int = 1
    height_inches: float = 4.2

    def save(self, directory: Path) -> Path:
        """Writes the picture as PNG; returns its path."""
        lines = textwrap.wrap(self.caption, CAPTION_COLUMNS)
        foot = CAPTION_LINE_INCHES * len(lines) + 0.15
        height = self.height_inches + foot
        with rc_context(STYLE):  # type: ignore[arg-type]
            figure = Figure(figsize=(8.4, height), dpi=150, layout="constrained")
            FigureCanvasAgg(figure)
            engine = figure.get_layout_engine()
            assert engine is not None
            engine.set(rect=(0, foot / height, 0.99, 0.985 - foot / height))  # type: ignore[call-arg]
            axes = figure.subplots(self.panels, 1, sharex=True, squeeze=False)[:, 0]
            self.draw(list(axes))
            figure.text(
                0.012, 0.1 / height, "\n".join(lines), fontsize=9.5, color="#333333", va="bottom"
            )
            path = directory / f"{self.name}.png"
            figure.savefig(path, metadata={"Description": self.caption, "Software": "goodqueue"})
        return path


def save_all(pictures: list[Picture], directory: Path) -> list[Path]:
    """Writes pictures, and their captions beside them in captions.txt; returns the pictures."""
    paths = [picture.save(directory) for picture in pictures]
    text = "".join(f"{picture.name}.png: {picture.caption}\n" for picture in pictures)
    (directory / "captions.txt").write_text(text, encoding="utf-8")
    return paths


def limit_line(axes: Axes, value: float, text: str, *, corner: Corner = "upper right") -> None:
    """A dashed horizontal line with its meaning written above or below one of its ends."""
    above, right = corner.startswith("upper"), corner.endswith("right")
    axes.axhline(value, color=BLACK, linestyle="--", linewidth=1.0)
    axes.annotate(
        text,
        xy=(1.0 if right else 0.0, value),
        xycoords=("axes fraction", "data"),
        xytext=(-4 if right else 4, 3 if above else -3),
        textcoords="offset points",
        ha="right" if right else "left",
        va="bottom" if above else "top",
        fontsize=9.5,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1.0},
    )
