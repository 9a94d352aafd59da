"""Values that draw themselves, describe themselves in words, and are HTML in notebooks.

Pictures and texts are made in folders above those of results, and pictures need matplotlib. The
package registers the functions that make them (`goodqueue/__init__.py`), so results do not depend
on them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes


class Draw(Protocol):
    """Function that draws a value."""

    def __call__(self, value: object, *arguments: Any, **options: Any) -> list[Axes]:  # noqa: ANN401
        """Draws a value by pyplot and returns the axes, top to bottom."""
        ...


_MAKERS: dict[str, Any] = {}


def register(draw: Draw, html: Callable[[object], str], words: Callable[[object], str]) -> None:
    """Sets the functions that draw a value, and that write it as HTML and in words."""
    _MAKERS.update(draw=draw, html=html, words=words)


def axes_of(value: object, *arguments: Any, **options: Any) -> list[Axes]:  # noqa: ANN401 - of any picture
    """Draws a value by pyplot and returns the axes, top to bottom, without a caption."""
    axes: list[Axes] = _MAKERS["draw"](value, *arguments, **options)
    return axes


def words_of(value: object) -> str:
    """Returns a value in words, for `repr`."""
    text: str = _MAKERS["words"](value)
    return text


def html_of(value: object) -> str:
    """Returns a value as HTML for a notebook."""
    text: str = _MAKERS["html"](value)
    return text
