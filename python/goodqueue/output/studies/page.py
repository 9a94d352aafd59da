"""The results of a study as a page: first the best trade-off, then the pictures and all means."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from goodqueue.core.columns import column, distinct_ends
from goodqueue.errors import RequestError
from goodqueue.output import page, play
from goodqueue.output.terminal import counted, quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from goodqueue.plots.style import Picture
    from goodqueue.study.model import StudyPlan
    from goodqueue.study.results import Results

MAX_ROWS = 400
"""Largest number of variants in the table of a page."""

MAX_TILES = 3

NEAR = 0.01
"""Largest relative difference of two means that are told apart by another metric."""

UNITS = ("_bps", "_bytes", "_packets", "_bdp", "_s")


@dataclass(frozen=True, slots=True)
class Line:
    """One variant of a study.

    Attributes:
        words: value of each axis, with its unit.
        means: row of `Results.means` for each metric that has a sample.
        place: settings of the lab, if it can open the variant.
    """

    words: Mapping[str, str]
    means: Mapping[str, Mapping[str, Any]]
    place: str | None

    @property
    def name(self) -> str:
        """The values of the axes in words."""
        return ", ".join(f"{axis} {value}" for axis, value in self.words.items())


def write(  # noqa: PLR0913, PLR0917 - all that a page shows
    results: Results,
    plan: StudyPlan,
    metrics: Sequence[str],
    pictures: Sequence[Picture],
    command: Sequence[str],
    path: Path,
) -> None:
    """Writes the page, whole or not at all.

    Args:
        results: the runs that the page shows.
        plan: the study to which they belong.
        metrics: metrics of the page; the first decides which variant is best.
        pictures: pictures of the study.
        command: the arguments after `goodqueue` that the page was made with.
        path: file of the page.

    Raises:
        RequestError: if no run has finished.
    """
    lines = _lines(results, plan, metrics)
    frame = results.newest()
    if not lines:
        raise RequestError("no run of this study has finished; run the study first")
    title = plan.title or "A study"
    body = [
        '<section class="first">',
        *_answer(lines, metrics, frame),
        *map(page.figure, pictures[:1]),
        "</section>",
        *map(page.figure, pictures[1:]),
        *_table(lines, metrics, frame),
        *_obtained(results, plan, lines, path),
    ]
    page.write(title, title, body, command, path)


def _lines(results: Results, plan: StudyPlan, metrics: Sequence[str]) -> list[Line]:
    """Returns the variants that have runs, in the order of the grid."""
    means = results.means(metrics)
    if means.is_empty():
        return []
    axes = list(plan.axes)
    columns = {axis: column(means, axis) for axis in axes}
    short = _short(axes)
    scenarios = {
        tuple(variant.parameters[axis] for axis in axes): variant.scenario
        for variant in plan.variants
    }
    found: dict[tuple[Any, ...], dict[str, Mapping[str, Any]]] = {}
    for row in means.iter_rows(named=True):
        found.setdefault(tuple(row[axis] for axis in axes), {})[row["metric"]] = row
    lines: list[Line] = []
    for point, of_metrics in found.items():
        words = {
            short[axis]: columns[axis].text(value) for axis, value in zip(axes, point, strict=True)
        }
        scenario = scenarios.get(point) if len(lines) < MAX_ROWS else None
        place = None if scenario is None else play.settings(scenario)
        lines.append(Line(words, of_metrics, place))
    return lines


def _short(axes: Sequence[str]) -> dict[str, str]:
    """Returns the ends of the axes' paths in words, as short as is unique, without units."""
    paths = {axis: axis.removesuffix(_unit(axis)) for axis in axes}
    ends = distinct_ends(list(paths.values()))
    return {axis: ends.get(path, path).replace("_", " ") for axis, path in paths.items()}


def _unit(axis: str) -> str:
    return next((end for end in UNITS if axis.endswith(end)), "")


def _mean(row: Mapping[str, Any]) -> str:
    """Returns a mean with its interval, in its unit."""
    half = None if row["count"] < 2 else row["half_width"]
    return quantity(row["metric"], row["mean"], half)


def _answer(lines: Sequence[Line], metrics: Sequence[str], frame: pl.DataFrame) -> Iterator[str]:
    """Yields the best trade-off: its first metric, its price in another one, and its figures."""
    first, others = metrics[0], metrics[1:]
    label, up = column(frame, first).label, column(frame, first).higher_is_better
    ranked = sorted(
        (line for line in lines if first in line.means),
        key=lambda line: line.means[first]["mean"],
        reverse=up,
    )
    if not ranked:
        yield f'<p class="answer">No run has a value of {escape(label)}.</p>'
        return
    price = next((one for one in others if one.endswith("_s")), next(iter(others), None))
    ties = _ties(ranked, first)
    best = ranked[0] if price is None else _cheapest(ties, price, frame)
    most, least = ("highest", "lowest") if up else ("lowest", "highest")
    rest = f"is the {most} mean {label}"
    if price is not None and price in best.means:
        cost = column(frame, price).label
        rest = f"is the mean {label}, and {quantity(price, best.means[price]['mean'])} the {cost}"
    named = [one for one in metrics if one in best.means][:MAX_TILES]
    yield from page.answer(
        quantity(first, best.means[first]["mean"]),
        rest,
        " ".join(
            [
                *_sentences(ranked, best, first, least, _choice(best, ties, price, frame)),
                *_price(lines, best, price, first, frame),
            ]
        ),
        [_tile(name, best, lines, frame) for name in named],
    )
    if best.place is not None:
        yield f"<p>{play.link(best.place, best.name or 'the scenario')}</p>"


def _tile(name: str, best: Line, lines: Sequence[Line], frame: pl.DataFrame) -> page.Tile:
    """Returns a metric of the best variant, with the range of all variants."""
    means = [line.means[name]["mean"] for line in lines if name in line.means]
    ends = f"all variants: {quantity(name, min(means))} to {quantity(name, max(means))}"
    row = best.means[name]
    return page.Tile(_title(frame, name), quantity(name, row["mean"]), (_interval(row), ends))


def _ties(ranked: Sequence[Line], first: str) -> list[Line]:
    """Returns the variants that are as good as the best: their means are within 1 % of its own."""
    best = ranked[0].means[first]["mean"]
    return [line for line in ranked if abs(line.means[first]["mean"] - best) <= NEAR * abs(best)]


def _overlap(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return bool(one["low"] <= other["high"] and other["low"] <= one["high"])


def _cheapest(lines: Sequence[Line], price: str, frame: pl.DataFrame) -> Line:
    """Returns the variant with the best mean of another metric; the first if none has one."""
    known = [line for line in lines if price in line.means]
    sign = -1 if column(frame, price).higher_is_better else 1
    return min(known, key=lambda line: sign * line.means[price]["mean"], default=lines[0])


def _dearest(lines: Sequence[Line], price: str, frame: pl.DataFrame) -> Line:
    """Returns the variant with the worst mean of another metric."""
    known = [line for line in lines if price in line.means]
    sign = -1 if column(frame, price).higher_is_better else 1
    return max(known, key=lambda line: sign * line.means[price]["mean"])


def _choice(
    best: Line, ties: Sequence[Line], price: str | None, frame: pl.DataFrame
) -> Iterator[str]:
    """Yields why this variant is shown and not another one that is as good."""
    if price is None or price not in best.means or len(ties) < 2:
        return
    label = column(frame, price).short
    worst = _dearest(ties, price, frame)
    mean = quantity(price, worst.means[price]["mean"])
    others = len(ties) - 1
    are = "is" if others == 1 else "are"
    yield (
        f"{counted(others, 'other variant')} {are} within 1 % of it, and this one has the best "
        f"{label} of them: with {worst.name} it is {mean}."
    )


def _price(
    lines: Sequence[Line], best: Line, price: str | None, first: str, frame: pl.DataFrame
) -> Iterator[str]:
    """Yields the best mean of the other metric over all variants, and what it costs."""
    if price is None or price not in best.means:
        return
    cheap = _cheapest([line for line in lines if first in line.means], price, frame)
    if cheap is best:
        return
    label, lowest = column(frame, price).short, "lowest"
    if column(frame, price).higher_is_better:
        lowest = "highest"
    mean = quantity(price, cheap.means[price]["mean"])
    there = quantity(first, cheap.means[first]["mean"])
    yield (
        f"The {lowest} {label} is {mean} with {cheap.name}, where the "
        f"{column(frame, first).short} is {there}."
    )


def _sentences(
    ranked: Sequence[Line], shown: Line, first: str, least: str, choice: Iterator[str]
) -> Iterator[str]:
    """Yields which variant is shown and why, how many intervals overlap the best, and the worst."""
    best, worst = ranked[0], ranked[-1]
    if len(ranked) == 1:
        yield f"The study has one variant: {best.name}." if best.name else "It has one variant."
        return
    near = sum(_overlap(line.means[first], best.means[first]) for line in ranked[1:])
    of_best, whose = ("its", "its own") if shown is best else ("the best", "that of the best mean")
    overlap = (
        f"No other interval overlaps {of_best} 95 % interval."
        if near == 0
        else f"The 95 % intervals of {counted(near, 'other variant')} overlap {whose}."
    )
    yield f"This is the mean with {shown.name}."
    yield from choice
    yield overlap
    yield (
        f"The {least} mean of the {counted(len(ranked), 'variant')} is "
        f"{_mean(worst.means[first])} with {worst.name}."
    )


def _interval(row: Mapping[str, Any]) -> str:
    if row["count"] < 2:
        return "no interval: one run"
    ends = (quantity(row["metric"], row[end]) for end in ("low", "high"))
    return f"95 % interval {' to '.join(ends)}"


def _title(frame: pl.DataFrame, metric: str) -> str:
    label = column(frame, metric).label
    return f"{label[:1].upper()}{label[1:]}"


def _table(lines: Sequence[Line], metrics: Sequence[str], frame: pl.DataFrame) -> list[str]:
    """Returns the means of every variant, each row with a link into the lab."""
    axes = list(lines[0].words)
    heads = [*axes, *(_title(frame, name) for name in metrics), play.HEAD]
    rows = [
        [
            *(escape(word) for word in line.words.values()),
            *(escape(_mean(line.means[name])) if name in line.means else "-" for name in metrics),
            play.link(line.place, line.name),
        ]
        for line in lines[:MAX_ROWS]
    ]
    left = len(lines) - MAX_ROWS
    more = f"<p>{counted(left, 'more variant')}: see --export.</p>" if left > 0 else ""
    return [
        "<h2>All variants</h2>",
        page.table([*map(escape, heads[:-1]), heads[-1]], rows),
        more,
    ]


def _obtained(
    results: Results, plan: StudyPlan, lines: Sequence[Line], path: Path
) -> Iterator[str]:
    """Yields how the figures were obtained."""
    failed = results.failures().height
    seeds = sorted({row["count"] for line in lines for row in line.means.values()})
    span = str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    kind = (
        "the confidence sequence that allows for the study's stopping rule"
        if plan.stop is not None
        else "Student's t over the seeds"
    )
    yield "<h2>How it was obtained</h2>"
    yield (
        f"<p>Each figure is the mean over the runs of a variant with different seeds ({span} runs "
        f"have a value), with its 95 % interval: {kind}. All variants have the same seeds. The "
        f"page shows {counted(len(results), 'run')}"
        f"{f', of which {failed:,} failed' if failed else ''}. The best of many means is chosen "
        "after the runs, so it is a little better than the mean of further runs would be.</p>"
    )
    if any(line.place for line in lines):
        yield play.hint(path)
