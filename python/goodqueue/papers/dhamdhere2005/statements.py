"""The paper's figures as experiments: cells against what `stated.toml` says of them."""

from __future__ import annotations

import math
import tomllib
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from goodqueue.intervals import Interval
from goodqueue.papers.cells import Cell, Remark, Reproduction, Spread
from goodqueue.papers.dhamdhere2005.figures import FIGURES, Figure, Points
from goodqueue.papers.dhamdhere2005.mix import Mix
from goodqueue.papers.shapes import TESTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from goodqueue.plots.style import Picture
    from goodqueue.study.runner import Runner

Statement = dict[str, Any]

DERIVED_DIGITS = 2


def stated() -> Mapping[str, Statement]:
    """What the text states, by figure."""
    return tomllib.loads(files(__package__).joinpath("stated.toml").read_text("utf-8"))


class FigureExperiment:
    """A figure that is simulated."""

    paper = "dhamdhere2005"

    def __init__(self, name: str) -> None:
        self.name = name
        self._stated = stated()[name]
        self.title: str = self._stated["title"]
        self.seconds = float(self._stated["seconds"])

    def reproduce(self, runner: Runner) -> Reproduction:
        """Runs what is not known yet and holds it against the text."""
        figure = FIGURES[self.name](Mix(runner))
        return Reproduction(
            list(cells(figure, self._stated)),
            [
                f"The paper prints no data; its text: {self._stated['text']}.",
                f"Intervals over seeds, {figure.seeds} of them, for one run of 200 s.",
            ],
            partial(self._pictures, figure),
        )

    def _pictures(self, figure: Figure) -> Sequence[Picture]:
        from goodqueue.papers.dhamdhere2005.pictures import picture

        return [picture(figure, self._stated["text"])]


def cells(figure: Figure, said: Statement) -> Iterator[Cell]:
    """Every simulated point, and every point of what statements derive from curves."""
    entries = [*said.get("value", ()), *said.get("shape", ())]
    derivations = list(dict.fromkeys(_derivation(entry) for entry in entries))
    for over, less in [("", ""), *(one for one in derivations if one != ("", ""))]:
        about = [entry for entry in entries if _derivation(entry) == (over, less)]
        named = dict.fromkeys(name for entry in about for name in _curves(entry))
        if not over and not less:
            named |= dict.fromkeys(name for name in figure.curves if name not in figure.theory)
        for curve in named:
            points = _derived(figure, curve, over, less)
            own = [entry for entry in about if curve in _curves(entry)]
            for flows in points:
                yield _cell(figure, curve, points, flows, own)


def _cell(
    figure: Figure, curve: str, points: Points, flows: int, entries: Sequence[Statement]
) -> Cell:
    over, less = _derivation(entries[0]) if entries else ("", "")
    value: Statement = next((one for one in entries if one.get("flows") == flows), {})
    shapes = [one for one in entries if "curves" in one and flows in _range(one, points)]
    failed = [one for one in shapes if not holds(one, points, flows)]
    because = [one["because"] for one in (*failed, value) if "because" in one]
    quantity, unit, digits = figure.title, figure.unit, figure.digits
    if over:
        quantity, unit, digits = f"{quantity}, over {over}", "", DERIVED_DIGITS
    elif less:
        quantity, digits = f"{quantity}, less that of {less}", DERIVED_DIGITS
    return Cell(
        {"curve": curve, "flows": str(flows)},
        quantity,
        unit,
        digits,
        value.get("published"),
        _spread(points[flows], 0 if flows in figure.bracketed else figure.seeds),
        not failed if shapes else None,
        value.get("tolerance", 0.0),
        Remark(because[0]) if because else None,
    )


def holds(entry: Statement, points: Points, flows: int) -> bool:
    """Whether a statement holds of a curve; of one of its points, if it speaks of each."""
    chosen = [flows] if entry.get("each") else _range(entry, points)
    values = [points[count].mean for count in chosen]
    if "between" in entry:
        low, high = entry["between"]
        return all(low <= value <= high for value in values)
    parameters = {key: entry[key] for key in ("at", "slack", "least", "most") if key in entry}
    return TESTS[entry["test"]](values, chosen, **parameters)


def _range(entry: Statement, points: Points) -> list[int]:
    first, last = entry.get("from", 0), entry.get("to", math.inf)
    return [count for count in points if first <= count <= last]


def _derivation(entry: Statement) -> tuple[str, str]:
    return entry.get("over", ""), entry.get("less", "")


def _curves(entry: Statement) -> list[str]:
    return list(entry["curves"]) if "curves" in entry else [entry["curve"]]


def _derived(figure: Figure, curve: str, over: str, less: str) -> Points:
    points = figure.curves[curve]
    if over == "N":
        return {flows: _ratio(value, Interval(flows, 0)) for flows, value in points.items()}
    if over:
        return {flows: _ratio(value, figure.curves[over][flows]) for flows, value in points.items()}
    if less:
        return {
            flows: _difference(value, figure.curves[less][flows]) for flows, value in points.items()
        }
    return points


def _ratio(above: Interval, below: Interval) -> Interval:
    """With the error of independent parts."""
    ratio = above.mean / below.mean
    relative = math.hypot(above.half_width / above.mean, below.half_width / below.mean)
    return Interval(ratio, ratio * relative)


def _difference(one: Interval, other: Interval) -> Interval:
    """As if the two were independent: common seeds make it no wider."""
    return Interval(one.mean - other.mean, math.hypot(one.half_width, other.half_width))


def _spread(interval: Interval, seeds: int) -> Spread:
    """Where one run lies, from where the mean of so many does; a bracket is what it is."""
    mean, half = interval.mean, interval.half_width
    if half == 0:
        return Spread.exact(mean)
    # t s sqrt(1 + 1/n) is sqrt(n + 1) times t s / sqrt(n).
    wide = half * math.sqrt(seeds + 1)
    return Spread(mean, mean - wide, mean + wide)
