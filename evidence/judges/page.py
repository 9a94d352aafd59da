"""The part of docs/validation.md about other laboratories: a table of all, and one of each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evidence.judges.judge import by_row, read
from goodqueue import _core

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evidence.judges.judge import Judge, Result

PART = "judges"

HEAD = """\
## Judged by other laboratories

Other laboratories have published what they measured with real hosts and queues. Each judge below is
one set of such data (`evidence/judges/published`). A function makes the scenario of a row from the
fields of the row alone. All rows of a judge have the same settings of hosts, which were chosen with
these rows in view; nothing is fitted to a single row. Ours are means over seeds ± their 95 %
intervals (`evidence/judges/found` has all figures). The bars were set before the runs. A row is
inside its bar if each of its figures is; the worst row is the one with the figure farthest from the
published one, in units of the bar. `python -m evidence.judges NAME FILE` compares the rows of
another file of the same form.
"""

MOST_LINES = 24
"""Most rows that the table of a judge shows; of more, those farthest from the bar."""


def text(judges: Sequence[Judge]) -> str:
    """Returns the part of the page."""
    results = {judge.name: read(judge.found) for judge in judges}
    lines = [
        "| judge | measured by | rows | inside | bar | worst row | its cause |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(opening(judge, results[judge.name]) for judge in judges),
    ]
    provenance = (
        "Written by `make evidence NAME=judges` from the files of results (results version "
        f"{_core.results_version()})."
    )
    sections = [section(judge, results[judge.name]) for judge in judges]
    return "\n".join([HEAD, *lines, "", provenance, "", *sections]).rstrip("\n") + "\n"


def opening(judge: Judge, results: Sequence[Result]) -> str:
    """Returns the row of a judge in the first table."""
    rows = by_row(results)
    near = inside(rows)
    worst = max(results, key=lambda one: one.distance)
    far = (
        f"{worst.row}: {_words(worst.figure)} {_number(worst.ours)}, published "
        f"{_number(worst.theirs)}"
    )
    of_all = f"{len(rows)}" if judge.every == 1 else f"{len(rows)} of {len(judge.rows())}"
    cells = [
        f"[{judge.name}](#{anchor(judge.title)})",
        judge.who,
        of_all,
        f"{near} ({100 * near / len(rows):.0f} %)",
        judge.bar,
        far,
        judge.cause or "all inside",
    ]
    return f"| {' | '.join(cells)} |"


def anchor(title: str) -> str:
    """Returns the anchor of a heading, as sites of Markdown make it."""
    kept = (letter for letter in title.lower() if letter.isalnum() or letter in " -_")
    return "".join(kept).replace(" ", "-")


def section(judge: Judge, results: Sequence[Result]) -> str:
    """Returns the section of a judge."""
    rows = by_row(results)
    seeds = f"Seeds {judge.seeds[0]} to {judge.seeds[-1]}."
    counts = _counts(results)
    said = f"{judge.setting} {seeds}\n\n{counts}{_trials(judge)}"
    return f"### {judge.title}\n\n{said}\n\n{table(rows)}{judge.reading}"


def _trials(judge: Judge) -> str:
    """Returns one sentence for each trial."""
    said = []
    for trial in judge.trials:
        rows = by_row(read(judge.found_with(trial)))
        said.append(f" With {trial.words}, {inside(rows)} of {len(rows)} rows are inside.")
    return "".join(said)


def inside(rows: Mapping[str, Sequence[Result]]) -> int:
    """Returns the number of rows of which each figure is inside the bar."""
    return sum(all(one.inside for one in group) for group in rows.values())


def _counts(results: Sequence[Result]) -> str:
    """Returns the number of figures inside the bar, by the name of the figure."""
    names = list(dict.fromkeys(one.figure for one in results))
    said = []
    for name in names:
        own = [one for one in results if one.figure == name]
        said.append(f"{_words(name)} {sum(one.inside for one in own)} of {len(own)}")
    return f"Figures inside the bar: {'; '.join(said)}."


def table(rows: Mapping[str, Sequence[Result]], most: int = MOST_LINES) -> str:
    """Returns the table of a judge: each figure with ours, and those outside the bar marked.

    Args:
        rows: the results of each row.
        most: most rows that the table has; of more, those farthest from the published figures.
    """
    shown = rows
    note = ""
    if len(rows) > most:
        far = sorted(rows, key=lambda name: -max(one.distance for one in rows[name]))[:most]
        shown = {name: rows[name] for name in rows if name in far}
        note = f"\nThe table has the {most} rows farthest from the published figures.\n"
    names = list(dict.fromkeys(one.figure for group in rows.values() for one in group))
    heads = ["row", *(f"{_words(name)}: theirs | ours" for name in names)]
    lines = [f"| {' | '.join(heads)} |", "| --- " * (1 + 2 * len(names)) + "|"]
    for name, group in shown.items():
        own = {one.figure: one for one in group}
        lines.append(f"| {name} | {' | '.join(_pair(own.get(figure)) for figure in names)} |")
    return "\n".join(lines) + "\n" + note


def _pair(one: Result | None) -> str:
    if one is None:
        return " | "
    ours = _number(one.ours)
    if math.isfinite(one.half_width):
        ours += f" ± {one.half_width:.{len(ours.partition('.')[2])}f}"
    return f"{_number(one.theirs)} | {ours}{'' if one.inside else ' **no**'}"


def _words(figure: str) -> str:
    """Returns the name of a figure in words, with its unit after a comma."""
    words, _, unit = figure.rpartition(", ")
    return f"{words}, {unit}" if words else figure


def _number(value: float) -> str:
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if abs(value) < 1000 else 0
    return f"{value:.{min(digits, 4)}f}"
