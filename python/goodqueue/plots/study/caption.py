"""Captions of a study's pictures: the subject, the band, the seeds, and what was held fixed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.plots.study.table import Table

MAX_LISTED = 4
"""Largest number of values of an axis that a caption lists. It has the ends of a longer list."""


def caption(table: Table, held: Sequence[str]) -> str:
    """Returns the sentences below a picture."""
    sentences = [_subject(table), _band(table), _seeds(table), _fixed(table, held), _missing(table)]
    return " ".join(sentence for sentence in sentences if sentence)


def dkw_half_width(count: int) -> float:
    """Returns half the height of the 95 % band of a distribution function, at most 1.

    Dvoretzky, Kiefer and Wolfowitz (1956) with Massart's constant (1990): the whole empirical
    function is within sqrt(ln(2 / 0.05) / (2 n)) of the true one.
    """
    return min(1.0, math.sqrt(math.log(2 / 0.05) / (2 * count)))


def _subject(table: Table) -> str:
    spec = table.spec
    metrics = _listed([table.column(metric).label for metric in spec.y])
    by = _panels(table)
    if spec.kind == "cdf":
        return f"Distribution function of {metrics} over the runs{by}."
    x = table.column(spec.x).label
    match spec.kind:
        case "heatmap":
            assert spec.series is not None
            up = table.column(spec.series).label
            return _sentence(f"Mean {metrics} over {x} and {up}{by}.")
        case "box":
            return _sentence(
                f"{metrics} of single runs against {x}{by}: boxes from the lower to the upper "
                "quartile, a line at the median, whiskers to the last run within 1.5 times the "
                "box's height, dots beyond."
            )
        case "pareto":
            first = _better(table, spec.x)
            second = _listed([_better(table, metric) for metric in spec.y])
            return _sentence(
                f"{metrics} and {x} of every variant{by}; the dashed line joins those that no "
                f"other beats in both ({first} and {second} are better)."
            )
        case _:
            series = f", one line per {table.column(spec.series).label}" if spec.series else ""
            return _sentence(f"{metrics} against {x}{series}{by}.")


def _panels(table: Table) -> str:
    match [table.column(axis).label for axis in table.spec.facets]:
        case [rows, columns]:
            return f", one row of panels per {rows}, one column per {columns}"
        case [only]:
            return f", one panel per {only}"
        case _:
            return ""


def _better(table: Table, name: str) -> str:
    column = table.column(name)
    return f"{'higher' if column.higher_is_better else 'lower'} {column.label}"


def _band(table: Table) -> str:
    spec = table.spec
    match spec.kind, spec.band:
        case "box", _:
            return ""
        case "heatmap", _:
            return _widest(table)
        case "cdf", "interval":
            return (
                "Bands hold the whole distribution with 95 % probability (Dvoretzky, Kiefer and "
                "Wolfowitz)."
            )
        case "cdf", _:
            return ""
    crossed = spec.kind == "pareto" or spec.x not in table.axes
    what = "crosses" if crossed else "bands"
    around = {
        "interval": f", {what} their {interval_name(table)}",
        "range": f", {what} the range of single runs",
        "none": "",
    }
    return f"Points are means over the seeds{around[spec.band]}."


def interval_name(table: Table) -> str:
    """Returns the kind of the intervals, in words."""
    if table.watched:
        return "95 % intervals, valid for any stopping rule (t-test confidence sequence)"
    return "95 % confidence intervals (Student's t)"


def _widest(table: Table) -> str:
    """Returns the sentence on the widest interval of a heat map's means."""
    spec = table.spec
    names = [name for name in (spec.x, spec.series, *spec.facets) if name]
    halves = []
    for metric in spec.y:
        column = table.column(metric)
        widest = 0.0
        for key in table.frame.select(names).unique(maintain_order=True).iter_rows():
            part = table
            for name, value in zip(names, key, strict=True):
                part = part.part(name, value)
            point = part.point(metric)
            if point is not None:
                widest = max(widest, point.interval.half_width)
        known = math.isfinite(widest)
        halves.append(f"±{column.text(float(f'{widest:.2g}'))}" if known else "unknown")
    return f"The widest of the means' {interval_name(table)} is {_listed(halves)}."


def _seeds(table: Table) -> str:
    """Returns the sentence on the number of seeds of each variant, and their values."""
    counts = [table.frame.height]
    if table.axes:
        counts = table.frame.group_by(table.axes).len()["len"].to_list()
    least, most = min(counts), max(counts)
    number = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    seeds = table.frame["seed"].to_list()
    which = f"({min(seeds)} to {max(seeds)})" if most > 1 else f"({seeds[0]})"
    return f"{number} {'seed' if most == 1 else 'seeds'} per variant {which}."


def _fixed(table: Table, held: Sequence[str]) -> str:
    """Returns the values of axes that the picture does not show, and other common properties."""
    spec = table.spec
    shown = {spec.x, spec.series, *spec.facets}
    fixed, mixed = [], []
    for axis in table.axes:
        if axis in shown:
            continue
        column, values = table.column(axis), table.values(axis)
        texts = [column.text(value) for value in values]
        if len(values) == 1:
            fixed.append(f"{column.label} {texts[0]}")
        elif len(values) <= MAX_LISTED:
            mixed.append(f"{column.label} ({', '.join(texts)})")
        else:
            mixed.append(f"{column.label} ({len(values)} values from {texts[0]} to {texts[-1]})")
    constant = list(dict.fromkeys([*fixed, *held]))
    text = f"Held fixed: {'; '.join(constant)}." if constant else ""
    if mixed and spec.kind != "lines":
        text = f"{text} Over all values of {_listed(mixed)}.".lstrip()
    return text


def _missing(table: Table) -> str:
    """Returns the sentence on runs without the figure, which the picture omits."""
    spec = table.spec
    metrics = [name for name in (*spec.y, spec.x) if name and name not in table.axes]
    lacking = max(table.frame.height - len(table.sample(metric)) for metric in metrics)
    if not lacking:
        return ""
    return f"Runs without this figure are left out ({lacking:,} of {table.frame.height:,})."


def _listed(texts: Sequence[str]) -> str:
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} and {texts[-1]}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
