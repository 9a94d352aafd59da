"""Values that draw themselves, describe themselves in words, and are HTML in notebooks.

Pictures and texts are made in folders above those of results, and pictures need matplotlib. The
package registers the functions that make them (`goodqueue/__init__.py`), so results do not depend
on them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN_BY_PYPLOT = ("inline", "ipympl", "nbagg")
"""Parts of the names of matplotlib's backends that show figures in a notebook by themselves."""


class Drawn(list["Axes"]):
    """The axes of a picture, top to bottom, without a caption.

    Jupyter shows the figure of the cell, and marimo that of the cell's last value. A script calls
    `show()`, which opens a window, or `save()`.
    """

    @property
    def figure(self) -> Figure:
        """The figure, which pyplot knows."""
        figure = self[0].get_figure(root=True)
        assert figure is not None
        return figure

    @property
    def caption(self) -> str:
        """One or two sentences that a reader needs beside the picture."""
        return str(self.figure.get_label())

    def save(self, file: str | PathLike[str]) -> Path:
        """Writes the picture, whole or not at all, and returns its path.

        Args:
            file: path that ends in .png, .svg or .pdf.

        Raises:
            RequestError: if the path has another end.
        """
        from pathlib import Path

        from goodqueue.core.drawing import format_of
        from goodqueue.core.files.outdir import whole_file

        path = Path(file)
        ending = format_of(path)
        with whole_file(path) as unfinished:
            self.figure.savefig(unfinished, format=ending)
        return path

    def show(self) -> None:
        """Opens the windows of all figures of a script, and waits until they are closed."""
        from matplotlib import pyplot

        pyplot.show()

    def _repr_png_(self) -> bytes | None:
        from io import BytesIO

        from matplotlib import get_backend

        if any(name in get_backend().lower() for name in SHOWN_BY_PYPLOT):
            return None
        content = BytesIO()
        self.figure.savefig(content, format="png")
        return content.getvalue()

    def __repr__(self) -> str:
        return self.caption


class Draw(Protocol):
    """Function that draws a value."""

    def __call__(self, value: object, *arguments: Any, **options: Any) -> list[Axes]:  # noqa: ANN401
        """Draws a value by pyplot and returns the axes, top to bottom."""
        ...


_MAKERS: dict[str, Any] = {}


def register(draw: Draw, html: Callable[[object], str], words: Callable[[object], str]) -> None:
    """Sets the functions that draw a value, and that write it as HTML and in words."""
    _MAKERS.update(draw=draw, html=html, words=words)


def axes_of(value: object, *arguments: Any, **options: Any) -> Drawn:  # noqa: ANN401 - of any picture
    """Draws a value by pyplot and returns the axes, top to bottom, without a caption."""
    return Drawn(_MAKERS["draw"](value, *arguments, **options))


def words_of(value: object) -> str:
    """Returns a value in words, for `repr`."""
    text: str = _MAKERS["words"](value)
    return text


def html_of(value: object) -> str:
    """Returns a value as HTML for a notebook."""
    text: str = _MAKERS["html"](value)
    return text
