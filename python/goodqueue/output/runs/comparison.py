"""A comparison of scenarios as tables, and as a page with its pictures."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from goodqueue.output import page
from goodqueue.output.terminal import MISSING, number, percent, plain, say, stdout, table
from goodqueue.study.compare import ROUNDING, finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from goodqueue.output.terminal import Figures
    from goodqueue.plots.style import Picture
    from goodqueue.study.compare import Comparison, Figure, Sample

ROUNDED = f"Intervals of quantiles include their rounding, {percent(ROUNDING)} of a value."

METHOD = (
    "Every scenario was run under the same seeds, {first} to {last}. Differences are taken seed by "
    "seed, so that effects of a seed on both sides cancel. Intervals are Student's, with 95 % "
    "confidence, each by itself: among 20 figures without a true difference, one is on average "
    "found to differ."
)


def print_comparison(found: Comparison) -> None:
    """Prints the means of each scenario, and the differences from the first."""
    console = stdout()
    for made in _tables(found):
        console.print(made)
        console.print()
    console.print(ROUNDED, markup=False)
    if lines := _unchanging(found):
        say("", *lines)


def _tables(found: Comparison) -> Iterator[Figures]:
    """Yields the means of every scenario, and the differences of the others from the first."""
    names = [plain(side.name) for side in found.sides]
    rows = [
        [plain(figure.title), *(_text(figure, own.get(figure)) for own in found.means)]
        for figure in found.figures
    ]
    first, last = found.seeds[0], found.seeds[-1]
    title = f"Means over seeds {first} to {last}, with 95 % intervals"
    yield table(title, ["figure", *names], rows)
    for name, differences in zip(names[1:], found.differences, strict=True):
        rows = [
            [plain(figure.title), _text(figure, one), finding(one.interval)]
            for figure in found.figures
            if (one := differences.get(figure)) is not None
        ]
        title = f"{name} minus {names[0]}, seed by seed"
        yield table(title, ["figure", "difference", "finding"], rows)


def _unchanging(found: Comparison) -> list[str]:
    """Returns a sentence on scenarios whose figures no seed changes, if there are any."""
    if not found.unchanging:
        return []
    names = ", ".join(found.unchanging)
    line = "The figures are the same with every seed, so their intervals do not show the effect of "
    return [f"{line}chance: {names}. Give the flows a start_jitter."]


def write_comparison(
    found: Comparison, pictures: Sequence[Picture], command: Sequence[str], path: Path
) -> None:
    """Writes the page, whole or not at all.

    Args:
        found: the comparison.
        pictures: pictures of the runs under the first seed.
        command: the arguments after `goodqueue` that the page was made with.
        path: file of the page.
    """
    means, *differences = _tables(found)
    body = [
        '<section class="first">',
        *_answer(found),
        *map(page.figure, pictures[:1]),
        "</section>",
        *(line for one in (*differences, means) for line in page.made(one)),
        *map(page.figure, pictures[1:]),
        "<h2>How it was obtained</h2>",
        f"<p>{escape(METHOD.format(first=found.seeds[0], last=found.seeds[-1]))}</p>",
        *(f"<p>{escape(line)}</p>" for line in (ROUNDED, *_unchanging(found))),
    ]
    title = f"{_names(found)} compared"
    page.write(title, title, body, command, path)


def _names(found: Comparison) -> str:
    *others, last = [side.name for side in found.sides]
    return f"{', '.join(others)} and {last}"


def _answer(found: Comparison) -> Iterator[str]:
    """Yields the number of figures that differ, and which are higher and lower."""
    differ = {
        figure
        for differences in found.differences
        for figure, one in differences.items()
        if finding(one.interval) in {"higher", "lower"}
    }
    both = {figure for differences in found.differences for figure in differences}
    first, *others = [side.name for side in found.sides]
    rest = f"differ from those of {first}, with 95 % confidence each"
    sentences = [
        _sentence(name, differences)
        for name, differences in zip(others, found.differences, strict=True)
    ]
    yield from page.answer(f"{len(differ)} of {len(both)} figures", rest, sentences[0])
    yield from (f"<p>{escape(sentence)}</p>" for sentence in sentences[1:])


def _sentence(name: str, differences: dict[Figure, Sample]) -> str:
    """Returns which figures of a scenario are higher than those of the first, and which lower."""
    parts = []
    for word in ("higher", "lower"):
        titles = [
            figure.title for figure, one in differences.items() if finding(one.interval) == word
        ]
        if titles:
            parts.append(f"{word} are {', '.join(titles)}")
    return f"With {name}, {'; '.join(parts) or 'no difference was shown'}."


def _text(figure: Figure, one: Sample | None) -> str:
    """Returns a mean with its interval and its unit."""
    if one is None:
        return MISSING
    scale, unit = 1.0, ""
    match figure.unit:
        case "share":
            scale, unit = 0.01, " %"
        case "s":
            scale, unit = 1e-3, " ms"
        case "bps":
            scale, unit = 1e6, " Mb/s"
    return (
        one.interval.text(lambda x: number(x / scale), lambda half: number(half / scale, 2)) + unit
    )
