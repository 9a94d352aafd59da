"""A comparison of scenarios: tables of means and of differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.output.terminal import MISSING, number, percent, plain, say, stdout, table
from goodqueue.study.compare import ROUNDING, finding

if TYPE_CHECKING:
    from goodqueue.study.compare import Comparison, Figure, Sample


def print_comparison(found: Comparison) -> None:
    """Prints the means of each scenario, and the differences from the first."""
    console = stdout()
    first, last = found.seeds[0], found.seeds[-1]
    rows = [
        [plain(figure.title), *(_text(figure, own.get(figure)) for own in found.means)]
        for figure in found.figures
    ]
    names = [plain(side.name) for side in found.sides]
    title = f"Means over seeds {first} to {last}, with 95 % intervals"
    console.print(table(title, ["figure", *names], rows))
    for name, differences in zip(names[1:], found.differences, strict=True):
        rows = [
            [plain(figure.title), _text(figure, one), finding(one.interval)]
            for figure in found.figures
            if (one := differences.get(figure)) is not None
        ]
        console.print()
        title = f"{name} minus {names[0]}, seed by seed"
        console.print(table(title, ["figure", "difference", "finding"], rows))
    console.print()
    console.print(
        f"Intervals of quantiles include their rounding, {percent(ROUNDING)} of a value.",
        markup=False,
    )
    if found.unchanging:
        say(
            "",
            "The figures are the same with every seed, so their intervals do not show the effect "
            f"of chance: {', '.join(found.unchanging)}. Give the flows a start_jitter.",
        )


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
