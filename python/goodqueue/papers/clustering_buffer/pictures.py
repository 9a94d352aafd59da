"""Pictures of smoothing buffers: marks for simulated values, lines for theory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goodqueue.plots.style import BLACK, CYCLE, GREY, MARKERS, Picture

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from matplotlib.axes import Axes

    from goodqueue.core.intervals import Interval
    from goodqueue.sizing.smoothing.stream import Smoothed, Stream


def saw_tooth(grid: Sequence[Stream], found: Sequence[Smoothed], repair: float) -> Picture:
    """Draws the buffer of streams with evenly spaced losses over the window times the increase."""

    def draw(axes: list[Axes]) -> None:
        (own,) = axes
        for increase, colour, mark in _looks(grid):
            points = [
                (increase * one.window, one.buffer / one.window)
                for stream, one in zip(grid, found, strict=True)
                if stream.increase == increase
            ]
            own.plot(*zip(*points, strict=True), mark, color=colour, label=f"a = {increase:g}")
        known = [stream.increase * one.window for stream, one in zip(grid, found, strict=True)]
        at = np.geomspace(min(known), max(known), 50)
        own.plot(at, at / 18, "--", color=GREY, label="a R T / 18: the law")
        own.plot(at, at / 18 + repair, "-", color=BLACK, lw=1, label=f"and {repair:.2f} R T")
        own.set_title("Smoothing a saw-tooth: the law, and a round trip's worth for repair")
        _label(own, "a R T, packets", "smoothing buffer / (R T)")

    caption = (
        "Marks: streams with a loss every so many packets, three rates and three round-trip times "
        "for each increase a. The law alone is too small by most of a round trip's packets, "
        "which matters where a R T is below about 50."
    )
    return Picture("clustering-buffer-smoothing", caption, draw)


def wandering(means: Mapping[Stream, Interval], by_chance: float) -> Picture:
    """Draws the buffer of streams with random losses over their number of losses."""

    def draw(axes: list[Axes]) -> None:
        (own,) = axes
        for increase, colour, mark in _looks(means):
            points = {one.losses: size for one, size in means.items() if one.increase == increase}
            own.errorbar(
                list(points),
                [size.mean for size in points.values()],
                yerr=[size.half_width for size in points.values()],
                fmt=f"{mark}-",
                ms=5,
                capsize=2.5,
                color=colour,
                label=f"a = {increase:g}",
            )
            law = f"a/18 = {increase / 18:.3f}: one tooth"
            own.axhline(increase / 18, color=colour, linestyle="--", lw=1, label=law)
        at = np.array(sorted({stream.losses for stream in means}), float)
        own.plot(at, by_chance * np.sqrt(at), ":", color=BLACK, label="0.21 sqrt(M)")
        own.set_title("Smoothing where losses come at random")
        _label(own, "losses in the stream, M", "smoothing buffer / (R T)²")

    caption = (
        "Means with 95 % intervals; dashes: the law of one saw-tooth, a/18. The longer a stream, "
        "the more it needs, and of a long one a gentle increase saves nothing."
    )
    return Picture("clustering-buffer-smoothing-random", caption, draw)


def _looks(streams: Iterable[Stream]) -> Iterator[tuple[float, str, str]]:
    """Returns a colour and a mark for every increase."""
    increases = dict.fromkeys(stream.increase for stream in streams)
    return zip(increases, CYCLE, MARKERS, strict=False)


def _label(axes: Axes, x: str, y: str) -> None:
    """Labels the axes, which are logarithmic so that powers are straight lines."""
    axes.set(xscale="log", yscale="log", xlabel=x, ylabel=y)
    axes.legend(loc="upper left")
