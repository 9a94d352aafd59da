"""Common style of all pictures: readable at half a page, in print, and to colour-blind readers."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, SubFigure
from matplotlib.text import Text
from matplotlib.ticker import Formatter, LogFormatter, LogLocator, NullLocator, ScalarFormatter

from goodqueue.core.drawing import Drawing
from goodqueue.core.text import printable as text_of_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from goodqueue.core.drawing import Format

# Okabe and Ito's palette: distinct to colour-blind readers, and in grey by their lightness.
BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, BLACK, GREY = "#CC79A7", "#56B4E9", "#000000", "#6E6E6E"
CYCLE = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION)
DASHES = ("-", "--")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINES = len(CYCLE) * len(DASHES)
"""Number of lines that can be distinguished in one panel."""

NO_WIDTH = "\N{ZERO WIDTH SPACE}"

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
    # Labels of minor ticks, whose marks are shorter, are then aligned with the labels of major
    # ticks.
    "xtick.minor.pad": 5.0,
    "ytick.minor.pad": 5.0,
    # The same figures give the same file, and letters look the same on every machine.
    "svg.hashsalt": "goodqueue",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
}

Share = Literal["none", "row", "col", "all"]
Corner = Literal["upper left", "upper right", "lower left", "lower right"]

WIDTH_INCHES = 8.4
SCREEN_DPI = 150

LEGEND_PAD_INCHES = 0.15
LEGEND_LETTERS = 96
"""Letters of a legend, with its handles, that fit in the width of a picture."""

TITLE, X_LABEL, Y_LABEL = "title-of-all", "x-label-of-all", "y-label-of-all"
"""Identifiers of the texts that all panels share. Their positions depend on legends and caption."""

CAPTION_COLUMNS = 114
CAPTION_LINE_INCHES = 0.19


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture to be drawn: its file name, its caption, and its content.

    Attributes:
        name: file name without its ending.
        caption: one or two sentences that a reader needs beside the picture.
        draw: function that draws the content on the axes, top to bottom.
        panels: number of rows of axes, one above the other.
        height_inches: height of the picture without its caption.
        columns: number of axes side by side; `draw` gets them row by row.
        share_x: panels with a common x axis.
        share_y: panels with a common y axis.
    """

    name: str
    caption: str
    draw: Callable[[list[Axes]], None]
    panels: int = 1
    height_inches: float = 4.2
    columns: int = 1
    share_x: Share = "all"
    share_y: Share = "row"

    def save(self, directory: Path, *, caption: bool = True) -> Path:
        """Writes the picture as PNG for the screen; returns its path."""
        return self.save_as(directory, ["png"], SCREEN_DPI, caption=caption)[0]

    def save_as(
        self, directory: Path, formats: Sequence[Format], dpi: int = 300, *, caption: bool = True
    ) -> list[Path]:
        """Writes the picture in each format, at the resolution of print; returns the paths.

        Without `caption` the caption is omitted from the image, and stays in its metadata. The same
        picture gives the same bytes, because files contain no date.
        """
        paths = [directory / f"{self.name}.{ending}" for ending in formats]
        with rc_context(STYLE):  # type: ignore[arg-type]
            figure = self.figure(dpi, caption=caption)
            for path, ending in zip(paths, formats, strict=True):
                figure.savefig(path, metadata=self._metadata(ending))
        return paths

    def as_bytes(self, ending: Format, dpi: int = 300, *, caption: bool = True) -> bytes:
        """Returns the content of a file with the picture."""
        content = BytesIO()
        with rc_context(STYLE):  # type: ignore[arg-type]
            figure = self.figure(dpi, caption=caption)
            figure.savefig(content, format=ending, metadata=self._metadata(ending))
        return content.getvalue()

    def figure(
        self, dpi: int, *, caption: bool = True, make: Callable[..., Figure] | None = None
    ) -> Figure:
        """Returns the picture with its caption; legends are between axes and caption.

        Args:
            dpi: pixels per inch.
            caption: True to write the caption below the axes.
            make: function that makes the figure, such as pyplot's; by default a figure for files.
                It runs outside the context of our style, at whose end the settings return to their
                old values: pyplot may load a backend here, and notebooks show no picture without
                the settings that the backend makes.
        """
        lines = textwrap.wrap(printable(self.caption), CAPTION_COLUMNS) if caption else []
        foot = CAPTION_LINE_INCHES * len(lines) + 0.15 * caption
        size = (WIDTH_INCHES, self.height_inches)
        figure = (make or Figure)(figsize=size, dpi=dpi, layout="constrained")
        if make is None:
            FigureCanvasAgg(figure)
        with rc_context(STYLE):  # type: ignore[arg-type]
            axes = figure.subplots(
                self.panels, self.columns, sharex=self.share_x, sharey=self.share_y, squeeze=False
            )
            self.draw(list(axes.flat))
            _take_literally(figure)
            legends = [
                (legend, legend.get_window_extent().height / dpi + LEGEND_PAD_INCHES)
                for legend in figure.legends
            ]
            height = self.height_inches + foot + sum(inches for _, inches in legends)
            figure.set_size_inches(WIDTH_INCHES, height)
            low = foot
            for legend, inches in legends:
                legend.set_loc("lower left")
                legend.set_bbox_to_anchor((0.004, low / height), figure.transFigure)
                low += inches
            low, high = _place_common_texts(figure, low, height)
            engine = figure.get_layout_engine()
            assert engine is not None
            rect = (0.005, low / height, 0.985, (high - low) / height)
            engine.set(rect=rect)  # type: ignore[call-arg]
            figure.text(
                *(0.012, 0.1 / height, "\n".join(lines)),
                fontsize=9.5,
                color="#333333",
                va="bottom",
                parse_math=False,
            )
        return figure

    def _metadata(self, ending: Format) -> dict[str, str | None]:
        caption = printable(self.caption)
        match ending:
            case "png":
                return {"Description": caption, "Software": "goodqueue"}
            case "svg":
                return {"Date": None, "Creator": "goodqueue", "Description": caption}
            case "pdf":
                return {"CreationDate": None, "Creator": "goodqueue", "Subject": caption}


def printable(text: str) -> str:
    """Returns a text on one line, without control characters, which formats do not allow."""
    return text_of_line(text, kept=NO_WIDTH)


def title_of_all(figure: Figure | SubFigure, text: str) -> None:
    """Writes a title above all panels; `Picture` sets its height."""
    figure.suptitle(text, x=0.012, y=1, ha="left", fontsize=13, fontweight="bold", gid=TITLE)


def label_all(figure: Figure | SubFigure, x: str, y: str) -> None:
    """Writes one label of all x axes and one of all y axes; `Picture` sets their positions."""
    figure.supxlabel(x, y=0, va="bottom", fontsize="medium", gid=X_LABEL)
    figure.supylabel(y, va="center", fontsize="medium", gid=Y_LABEL)


def _place_common_texts(figure: Figure, low: float, height: float) -> tuple[float, float]:
    """Places the common texts around the panels; returns the range of the panels in inches."""
    texts = {text.get_gid(): text for text in figure.texts}
    high = height - 0.06
    if title := texts.get(TITLE):
        title.set_y(high / height)
        high -= 0.35
    if label := texts.get(X_LABEL):
        label.set_y((low + 0.06) / height)
        low += 0.27
    if label := texts.get(Y_LABEL):
        label.set_y((low + high) / 2 / height)
    return low, high


def legend_label(text: str) -> str:
    """Returns a label for a legend, which would omit a name that begins with an underscore."""
    return f"{NO_WIDTH}{text}" if text.startswith("_") else text


def legend_below(
    figure: Figure | SubFigure,
    handles: Sequence[Any],
    labels: Sequence[str],
    title: str | None,
    handlelength: float = 2.0,
) -> None:
    """Draws a legend below all axes, in as many columns as fit; `Picture` makes space for it.

    If there are several, the last is nearest to the axes. `handlelength` is in letters.
    """
    longest = LEGEND_LETTERS - 6
    shown = ["\n".join(textwrap.wrap(label, longest)) or label for label in labels]
    widest = max(len(line) for label in shown for line in label.split("\n"))
    columns = max(1, min(len(shown), LEGEND_LETTERS // (widest + 6)))
    legend = figure.legend(
        handles,
        shown,
        loc="lower left",
        ncols=columns,
        title=title,
        alignment="left",
        handlelength=handlelength,
        handletextpad=0.8 if handlelength else 0,
    )
    legend.set_in_layout(False)


def legend_above(axes: Axes) -> None:
    """Draws a legend between the title and the axes, which keep their width."""
    handles, labels = axes.get_legend_handles_labels()
    longest = max(map(len, labels), default=0)
    columns = max(1, min(len(labels), LEGEND_LETTERS // (longest + 6)))
    axes.legend(
        handles, labels, loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, borderpad=0
    )
    rows = -(-len(labels) // columns)
    axes.set_title(axes.get_title(loc="left"), pad=10 + 17 * rows)


def over_time(axes: Axes, title: str, ylabel: str) -> None:
    """Labels a panel over time, whose y axis begins at 0."""
    axes.set_title(title)
    axes.set_xlabel("time, s")
    axes.set_ylabel(ylabel)
    axes.set_ylim(bottom=0)
    axes.margins(x=0.01)


def log_ticks(axis: Axis, text: Callable[[float], str], subs: Sequence[float] = (1, 2, 5)) -> None:
    """Sets ticks of a logarithmic axis at these multiples of powers of ten, with their texts."""
    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(lambda value, _position: text(value))


class _Literal(Formatter):
    """Ticks whose labels are literal texts of ours or of the user."""

    def __init__(self, inner: Formatter) -> None:
        self._inner = inner

    def __call__(self, value: float, position: int | None = None) -> str:
        return self._plain(self._inner(value, position))

    def format_ticks(self, values: list[float]) -> list[str]:
        """Returns the labels of all ticks."""
        return [self._plain(text) for text in self._inner.format_ticks(values)]

    @staticmethod
    def _plain(text: str) -> str:
        lines = (printable(line) for line in text.split("\n"))
        return "\n".join(lines).replace("$", r"\$")


def _take_literally(figure: Figure) -> None:
    """Makes texts literal: a dollar sign does not begin a formula.

    Ticks that matplotlib writes itself, as powers of ten on logarithmic axes, stay formulas.
    """
    own = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            formatter = axis.get_major_formatter()
            if not isinstance(formatter, (ScalarFormatter, LogFormatter, _Literal)):
                axis.set_major_formatter(_Literal(formatter))
            ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            own |= {label for tick in ticks for label in (tick.label1, tick.label2)}
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        if text not in own:
            text.set_parse_math(False)
            letters = text.get_text().split("\n")
            text.set_text("\n".join(printable(line) for line in letters))


def save_all(
    pictures: Sequence[Picture],
    directory: Path,
    drawing: Drawing = Drawing(),  # noqa: B008 - it is frozen
) -> list[Path]:
    """Writes pictures, and their captions to captions.txt; returns the pictures."""
    formats = drawing.formats
    paths = [
        path
        for picture in pictures
        for path in picture.save_as(directory, formats, SCREEN_DPI, caption=drawing.caption)
    ]
    text = "".join(f"{one.name}.{formats[0]}: {printable(one.caption)}\n" for one in pictures)
    (directory / "captions.txt").write_text(text, encoding="utf-8")
    return paths


def limit_line(axes: Axes, value: float, text: str, *, corner: Corner = "upper right") -> None:
    """Draws a dashed horizontal line with its meaning above or below one of its ends."""
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
