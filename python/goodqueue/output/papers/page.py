"""An HTML page about reproductions: counts of verdicts, tables and pictures."""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from goodqueue.output import page, play
from goodqueue.output.papers.drawn import drawn
from goodqueue.output.papers.tables import summary
from goodqueue.papers import tally
from goodqueue.papers.cells import GRADES, Finding
from goodqueue.papers.experiment import paper

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from goodqueue.papers.cells import Cell, Reproduction
    from goodqueue.papers.experiment import Experiment

    Places = Mapping[tuple[str, ...], str | None]
    """Settings of the lab for the rows of an experiment, by the values of their keys."""

LEGEND = (
    "A published figure <em>matches</em> if it lies in our 95 % prediction interval for one run, "
    "rounded or cut to the digits printed; it <em>matches in shape</em> if it does not, but named "
    "tests of the shape of its row hold. A claim about figures that the paper does not print "
    "counts as a conclusion, once for each row of figures, and not as a published figure. Another "
    "conclusion is a bound on a mean or on a ratio of means: it <em>holds</em> if the 95 % "
    "interval lies within the bound, and is <em>undecided</em> if it straddles the bound. Outside "
    "the bound it is <em>contradicted by the paper</em> if the paper's own figures break it, too, "
    "and else <em>not reproduced</em>; it <em>fails elsewhere</em> in rows and under variants of "
    "which the paper prints no figures, unless its text states the claim for these rows."
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
    body = [*_answer(found), *_summary(found), f"<p>{LEGEND}</p>", f"<p>{tally.LEGEND}</p>"]
    for name, group in groupby(found, key=lambda pair: pair[0].paper):
        of = paper(name)
        body.append(f"<h2>{escape(of.title)}</h2>")
        body.append(f"<p>{escape(of.by)}; see {escape(of.page)}.</p>")
        for one, done in group:
            body += _experiment(one, done, store)
    if play.has_links(body):
        body.append(play.hint(path))
    page.write("Papers, reproduced", "Papers, reproduced", body, command, path)


def _answer(found: Sequence[tuple[Experiment, Reproduction]]) -> list[str]:
    """Returns how many published figures match and how many conclusions hold."""
    cells = tally.once(found)
    counts = tally.tally(cells)
    figures, conclusions = sum(counts.figures.values()), sum(counts.findings.values())
    matches, holds = counts.matches, counts.findings[Finding.HOLDS]
    tiles = [
        page.Tile("Weak matches, which say little", str(counts.weak), (f"of {figures:,}",)),
        page.Tile("Figures in shape only", str(counts.shape), (f"of {figures:,}",)),
        page.Tile("Figures that do not match", str(counts.fails), (f"of {figures:,}",)),
        page.Tile("Conclusions that hold", str(holds), (f"of {conclusions:,}",)),
    ]
    wrong = [
        f"The deliberately wrong model {one.name} matches {one.matches:,} of {one.cells:,} "
        f"figures, ours {one.ours:,} of the same."
        for one in tally.of_all(cells)
    ]
    sentence = " ".join(wrong)
    if figures == 0:
        return page.answer(f"{holds:,} of {conclusions:,}", "conclusions hold", sentence)
    return page.answer(f"{matches:,} of {figures:,}", "published figures match", sentence, tiles)


def _summary(found: Sequence[tuple[Experiment, Reproduction]]) -> Iterator[str]:
    """Yields the counts that the terminal shows, with links to the experiments."""
    anchors = {f"{one.paper} {one.name}": f"{one.paper}-{one.name}" for one, _ in found}
    for made in summary(found):
        rows = [list(map(escape, row)) for row in made.rows]
        for row in rows:
            if row[0] in anchors:
                row[0] = f'<a href="#{anchors[row[0]]}">{row[0]}</a>'
        yield page.table(list(map(escape, made.columns)), rows, made.title)


def _experiment(one: Experiment, done: Reproduction, store: Path) -> list[str]:
    counts = tally.tally(done.cells).text()
    places = {key: play.settings(scenario) for key, scenario in done.scenarios.items()}
    return [
        f'<h3 id="{one.paper}-{one.name}">{escape(one.title)}</h3>',
        *(f"<p>{escape(sentence)}</p>" for sentence in done.sentences),
        f"<p>Cells: {counts}.</p>" if counts else "",
        *(
            _table(quantity, unit, list(cells), places)
            for (quantity, unit), cells in groupby(
                done.cells, key=lambda cell: (cell.quantity, cell.unit)
            )
        ),
        drawn(one, done, store),
        f"<pre>goodqueue reproduce {one.paper} {one.name}</pre>",
    ]


def _table(quantity: str, unit: str, cells: Sequence[Cell], places: Places) -> str:
    """Returns a table of cells. Each links to the row's scenario in the lab if this can open it."""
    links = [
        play.link(places.get(tuple(cell.row.values())), " ".join(cell.row.values()))
        for cell in cells
    ]
    last = [play.HEAD] if any(links) else []
    heads = [*map(escape, (*cells[0].heads, "because")), *last]
    head = "".join(f"<th>{text}</th>" for text in heads)
    caption = escape(f"{quantity}, {unit}" if unit else quantity)
    rows = "".join(
        f"<tr>{_row(cell)}{f'<td>{link}</td>' if last else ''}</tr>"
        for cell, link in zip(cells, links, strict=True)
    )
    table = f"<table><caption>{caption}</caption><tr>{head}</tr>{rows}</table>"
    return f'<div class="wide">{table}</div>'


def _row(cell: Cell) -> str:
    texts = "".join(f"<td>{escape(text)}</td>" for text in (*cell.row.values(), *cell.texts))
    verdict = cell.verdict
    kind = "" if verdict is None else f' class="{GRADES.get(verdict, "not")}"'
    said = f'<td class="said">{escape(cell.said)}</td>'
    return f"{texts}<td{kind}>{cell.verdict_text or '-'}</td>{said}"
