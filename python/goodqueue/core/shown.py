"""Values that draw themselves, and that notebooks show as HTML.

Pictures and pages are folders above those of results, and need matplotlib. They are looked up by
name when they are needed, so that results do not depend on them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def axes_of(value: object, *arguments: Any, **options: Any) -> list[Axes]:  # noqa: ANN401 - of any picture
    """Draws a value by pyplot and returns the axes, top to bottom, without a caption."""
    axes: list[Axes] = import_module("goodqueue.plots.shown").draw(value, *arguments, **options)
    return axes


def html_of(value: object) -> str:
    """Returns a value as HTML for a notebook."""
    text: str = import_module("goodqueue.output.shown").html(value)
    return text
