"""Pictures that `plot` of results, answers and studies draws by pyplot."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, Any

from goodqueue.errors import RequestError, nearest
from goodqueue.plots import answer as of_answers
from goodqueue.plots import runs
from goodqueue.plots.study.pictures import picture_of
from goodqueue.plots.style import SCREEN_DPI
from goodqueue.plots.tuning.picture import picture as picture_of_tuning
from goodqueue.plots.tuning.several import picture as picture_of_point
from goodqueue.runs.results.result import Result
from goodqueue.sizing.answer.answer import Answer
from goodqueue.study.model import PlotSpec
from goodqueue.study.results import Results
from goodqueue.tuning.answer import Tuned
from goodqueue.tuning.several.answer import TunedPoint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

    from goodqueue.plots.style import Picture


def draw(value: object, *arguments: Any, **options: Any) -> list[Axes]:  # noqa: ANN401 - of any picture
    """Draws a picture of a value by pyplot, without its caption, and returns its axes.

    The caption is the label of the figure (`axes[0].figure.get_label()`).
    """
    from matplotlib import pyplot

    picture: Picture = picture_for(value, *arguments, **options)
    figure = picture.figure(SCREEN_DPI, caption=False, make=pyplot.figure)
    figure.set_label(picture.caption)
    return list(figure.axes)


@singledispatch
def picture_for(value: object, *_arguments: object, **_options: object) -> Picture:
    """Returns the picture of a value."""
    raise TypeError(f"a {type(value).__name__} has no picture")


@picture_for.register(Result)
def _(value: Result, name: str | None = None, *, link: str | None = None) -> Picture:
    links = value.summary["links"]
    chosen = link or ("bottleneck" if "bottleneck" in links else next(iter(links)))
    if chosen not in links:
        raise RequestError(f"no link {chosen!r}; {nearest(chosen, links)}")
    drawn = {picture.name: picture for picture in runs.pictures(value, chosen)}
    usual = "backlog" if "backlog" in drawn else next(iter(drawn), "")
    return _chosen(name or usual, drawn, "run with series=True for pictures over time")


@picture_for.register(Answer)
def _(value: Answer, name: str = "curve") -> Picture:
    if not value.limits:
        raise RequestError("nothing was simulated: only a simulated answer has a picture")
    makers = {"curve": of_answers.curve, "pareto": of_answers.pareto}
    if name not in makers:
        raise RequestError(f"no picture {name!r}; {nearest(name, makers)}")
    return makers[name](value)


@picture_for.register(Tuned)
def _(value: Tuned) -> Picture:
    if not value.trials.limits:
        raise RequestError("nothing was simulated: only a simulated answer has a picture")
    return picture_of_tuning(value)


@picture_for.register(TunedPoint)
def _(value: TunedPoint) -> Picture:
    if not value.trials.limits:
        raise RequestError("nothing was simulated: only a simulated answer has a picture")
    return picture_of_point(value)


@picture_for.register(Results)
def _(
    value: Results,
    y: str | tuple[str, ...],
    *,
    x: str | None = None,
    series: str | None = None,
    **options: Any,  # noqa: ANN401 - those of [[plot]]
) -> Picture:
    metrics = tuple(value.known([y] if isinstance(y, str) else y))
    if x is None and not value.axes:
        raise RequestError("the study has no axis to draw over: name a metric with x=")
    over = value.axes[0] if x is None else x
    over = over if over in value.metrics else value.column(over)
    if series is not None:
        series = value.column(series)
    elif "facets" not in options:
        series = next((axis for axis in value.axes if axis != over), None)
    spec = PlotSpec("study", "", over, metrics, series=series, **options)
    return picture_of(value, spec)


def _chosen(name: str, drawn: Mapping[str, Picture], remedy: str) -> Picture:
    if name not in drawn:
        raise RequestError(f"no picture {name!r}; {nearest(name, drawn)} ({remedy})")
    return drawn[name]
