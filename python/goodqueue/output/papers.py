"""An HTML page about reproductions: counts of verdicts, tables and pictures."""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from goodqueue.output import page
from goodqueue.output.papers_drawn import drawn
from goodqueue.papers import tally
from goodqueue.papers.cells import GRADES
from goodqueue.papers.experiment import paper

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goodqueue.papers.cells import Cell, Reproduction
    from goodqueue.papers.experiment import Experiment

LEGEND = (
    "A published figure <em>matches</em> if it lies in our 95 % prediction interval for one run, "
    "rounded or cut to the digits printed; it <em>matches in shape</em> if it does not, but named "
    "tests of the shape of its row hold. Where the paper prints no number the verdict is on what "
    "its text claims. A conclusion is a bound on a mean or on a ratio of means: it "
    "<em>holds</em> if the 95 % interval lies within the bound, and is <em>undecided</em> if it "
    "straddles the bound. Outside the bound it is <em>contradicted by the paper</em> if the "
    "paper's own figures break it, too, and else <em>not reproduced</em>; it "
    "<em>fails elsewhere</em> in rows and under variants of which the paper prints no figures."
)


def write(
    found: Sequence[tuple[Experiment, Reproduction]],
    path: Path,
    command: Sequence[str],
    store: Path,
) -> None:
    """Writes the page, whole or not at all.

    Args:
        found: experiments and their outcomes.
        path: file of the page.
        command: the arguments after `goodqueue` that the page was made with.
        store: folder of the stored runs, which also holds the cached pictures.
    """
    body = [f"<p>{LEGEND}</p>", f"<p>{tally.LEGEND}</p>", _counts(found), _controls(found)]
    for name, group in groupby(found, key=lambda pair: pair[0].paper):
        of = paper(name)
        body.append(f"<h2>{escape(of.title)}</h2>")
        body.append(f"<p>{escape(of.by)}; see {escape(of.page)}.</p>")
        for one, done in group:
            body += _experiment(one, done, store)
    page.write("Papers, reproduced", "Papers, reproduced", body, command, path)


def _counts(found: Sequence[tuple[Experiment, Reproduction]]) -> str:
    rows = []
    for one, done in found:
        where = f"{one.paper}-{one.name}"
        rows.append((f'<a href="#{where}">{where}</a>', tally.tally(done.cells)))
    rows.append(("all, repeated cells once", tally.tally(tally.once(found))))
    lines = [(name, *map(str, counts.every.values())) for name, counts in rows]
    return page.table(["cells", *rows[0][1].every], lines)


def _controls(found: Sequence[tuple[Experiment, Reproduction]]) -> str:
    lines = [
        (
            *(f"{one.paper}-{one.name}", escape(each.name), escape(each.quantity)),
            *map(str, (each.cells, each.ours, each.ours_weak, each.matches, each.weak)),
        )
        for one, done in found
        for each in tally.controls(done.cells)
    ]
    heads = ("", "control", "", "cells", "ours match", "weakly", "control matches", "weakly")
    caption = "Controls: models that are wrong on purpose"
    return page.table(heads, lines, caption) if lines else ""


def _experiment(one: Experiment, done: Reproduction, store: Path) -> list[str]:
    counts = tally.tally(done.cells).text()
    return [
        f'<h3 id="{one.paper}-{one.name}">{escape(one.title)}</h3>',
        *(f"<p>{escape(sentence)}</p>" for sentence in done.sentences),
        f"<p>Cells: {counts}.</p>" if counts else "",
        *(
            _table(quantity, unit, list(cells))
            for (quantity, unit), cells in groupby(
                done.cells, key=lambda cell: (cell.quantity, cell.unit)
            )
        ),
        drawn(one, done, store),
        f"<pre>goodqueue reproduce {one.paper} {one.name}</pre>",
    ]


def _table(quantity: str, unit: str, cells: Sequence[Cell]) -> str:
    head = "".join(f"<th>{escape(text)}</th>" for text in (*cells[0].heads, "because"))
    caption = escape(f"{quantity}, {unit}" if unit else quantity)
    rows = "".join(_row(cell) for cell in cells)
    return f"<table><caption>{caption}</caption><tr>{head}</tr>{rows}</table>"


def _row(cell: Cell) -> str:
    texts = "".join(f"<td>{escape(text)}</td>" for text in (*cell.row.values(), *cell.texts))
    verdict = cell.verdict
    kind = "" if verdict is None else f' class="{GRADES.get(verdict, "not")}"'
    return f"<tr>{texts}<td{kind}>{verdict or '-'}</td><td>{escape(cell.said)}</td></tr>"
