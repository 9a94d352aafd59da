"""Reproductions as a page: counts, tables, pictures."""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from goodqueue import page
from goodqueue.papers.cells import VERDICTS, Finding, Verdict
from goodqueue.papers.drawn import drawn
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
    "its text claims. A claim <em>holds</em> if the 95 % interval of our mean lies within the "
    "bound asked, is <em>not reproduced</em> if the interval lies outside, and is "
    "<em>undecided</em> if an end of the bound lies within the interval."
)

CLASSES: dict[Verdict | Finding, str] = {
    Verdict.MATCHES: "matches",
    Verdict.SHAPE: "shape",
    Verdict.NOT: "not",
    Finding.HOLDS: "matches",
    Finding.UNDECIDED: "shape",
    Finding.UNREPRODUCED: "not",
}


def write(
    found: Sequence[tuple[Experiment, Reproduction]],
    path: Path,
    command: Sequence[str],
    store: Path,
) -> None:
    """Writes the page, whole or not at all.

    Args:
        found: experiments and what they came to.
        path: the page.
        command: the arguments that yielded them, after `goodqueue`.
        store: where runs are kept, and beside them pictures.
    """
    body = [f"<p>{LEGEND}</p>", _counts(found)]
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
        counts = done.count()
        cells = "".join(f"<td>{counts[verdict]}</td>" for verdict in VERDICTS)
        where = f"{one.paper}-{one.name}"
        rows.append(f'<tr><td><a href="#{where}">{where}</a></td>{cells}</tr>')
    head = "".join(f"<th>{verdict}</th>" for verdict in VERDICTS)
    return f"<table><tr><th>cells</th>{head}</tr>{''.join(rows)}</table>"


def _experiment(one: Experiment, done: Reproduction, store: Path) -> list[str]:
    counts = ", ".join(f"{count} {verdict}" for verdict, count in done.count().items() if count)
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
