"""`goodqueue results --draw`: one picture of the results in a study's folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast, get_args, get_type_hints

from goodqueue.core.drawing import FORMATS
from goodqueue.core.files.outdir import whole_file
from goodqueue.errors import RequestError, nearest
from goodqueue.study.model import PlotSpec

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goodqueue.cli.commands.studies import ShowResults
    from goodqueue.core.drawing import Format
    from goodqueue.study.results import Results


def check_draw(file: Path) -> None:
    """Refuses a file of an unknown format, before anything is read.

    Raises:
        RequestError: if the file's name does not end in a format of pictures.
    """
    if file.suffix.removeprefix(".") not in FORMATS:
        raise RequestError(f"--draw {file}: name a file that ends in .png, .svg or .pdf")


def draw_results(results: Results, metrics: Sequence[str], asked: ShowResults, file: Path) -> str:
    """Writes the picture and returns its caption.

    Raises:
        RequestError: if the axis, metric or kind does not exist, or if the picture cannot be drawn
            from it.
    """
    from goodqueue.plots.study.pictures import picture_of
    from goodqueue.plots.style import printable

    picture = picture_of(results, _spec(results, metrics, asked, file.stem))
    ending = cast("Format", file.suffix.removeprefix("."))
    with whole_file(file) as path:
        path.write_bytes(picture.as_bytes(ending, caption=asked.caption))
    return printable(picture.caption)


def _spec(results: Results, metrics: Sequence[str], asked: ShowResults, name: str) -> PlotSpec:
    """Returns the description of the requested picture, with columns for the names given."""
    chosen: dict[str, Any] = {
        key: _choice(key, given)
        for key in ("kind", "band", "x_scale", "y_scale")
        if (given := getattr(asked, key)) is not None
    }
    kind = chosen.get("kind", "lines")
    return PlotSpec(
        name=name,
        title=asked.title or "",
        x=_x(results, kind, asked.x),
        y=tuple(results.known(metrics)),
        series=None if asked.series is None else results.column(asked.series),
        facets=tuple(results.column(axis) for axis in asked.facet or ()),
        **chosen,
    )


def _choice(name: str, given: str) -> str:
    """Returns a value of a key of `[[plot]]`, or refuses it."""
    choices = get_args(get_type_hints(PlotSpec)[name])
    if given not in choices:
        raise RequestError(f"--{name.replace('_', '-')} {given}: {nearest(given, choices)}")
    return given


def _x(results: Results, kind: str, given: str | None) -> str:
    """Returns the axis or metric along x; by default the only axis."""
    if kind == "cdf":
        if given is not None:
            raise RequestError("--x: a distribution has its values along x; omit --x")
        return ""
    if given is None:
        if len(results.axes) == 1:
            return results.axes[0]
        raise RequestError(f"--x is missing: name one of {', '.join(results.axes)}")
    if given in results.metrics:
        return given
    return results.column(given)
