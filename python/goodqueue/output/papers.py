"""An HTML page about reproductions: counts of verdicts, tables and pictures."""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from goodqueue.output import page
from goodqueue.output.papers_drawn import drawn
from goodqueue.papers import tally
from goodqueue.papers.cells import Finding, Verdict
from goodqueue.papers.experiment import paper

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
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

CLASSES: dict[Verdict | Finding, str] = {
    Verdict.MATCHES: "matches",
    Verdict.SHAPE: "shape",
    Verdict.NOT: "not",
    Finding.HOLDS: "matches",
    Finding.UNDECIDED: "shape",
    Finding.UNREPRODUCED: "not",
    Finding.CONTRADICTED: "not",
    Finding.ELSEWHERE: "not",
}


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
    lines = "".join(_line(name, counts.every.values()) for name, counts in rows)
    head = "".join(f"<th>{label}</th>" for label in rows[0][1].every)
    return f"<table><tr><th>cells</th>{head}</tr>{lines}</table>"


def _controls(found: Sequence[tuple[Experiment, Reproduction]]) -> str:
    lines = "".join(
        _line(
            f"{one.paper}-{one.name}",
            (
                escape(each.name),
                escape(each.quantity),
                *(each.cells, each.ours, each.ours_weak, each.matches, each.weak),
            ),
        )
        for one, done in found
        for each in tally.controls(done.cells)
    )
    heads = ("control", "", "cells", "ours match", "weakly", "control matches", "weakly")
    head = "".join(f"<th>{label}</th>" for label in ("", *heads))
    caption = "<caption>Controls: models that are wrong on purpose</caption>"
    return f"<table>{caption}<tr>{head}</tr>{lines}</table>" if lines else ""


def _line(name: str, values: Iterable[object]) -> str:
    return f"<tr><td>{name}</td>{''.join(f'<td>{value}</td>' for value in values)}</tr>"


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
    first = cells[0]
    heads = [*first.row, "paper", "ours", first.interval_of]
    heads += [beside.label for beside in first.beside]
    heads += [*first.variants, *(["asked"] if first.asked else []), "verdict", "because"]
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    caption = escape(f"{quantity}, {unit}" if unit else quantity)
    rows = "".join(_row(cell) for cell in cells)
    return f"<table><caption>{caption}</caption><tr>{head}</tr>{rows}</table>"


def _row(cell: Cell) -> str:
    digits = cell.digits
    texts = [*cell.row.values(), cell.published or "-", f"{cell.ours.mean:.{digits}f}"]
    texts.append(cell.ours.text(digits))
    texts += [beside.spread.text(digits) for beside in cell.beside]
    texts += [spread.text(digits) for spread in cell.variants.values()]
    texts += [cell.asked] if cell.asked else []
    verdict = cell.verdict
    kind = "" if verdict is None else f' class="{CLASSES[verdict]}"'
    last = f"<td{kind}>{verdict or '-'}</td><td>{escape(cell.said)}</td>"
    return "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in texts) + last + "</tr>"
