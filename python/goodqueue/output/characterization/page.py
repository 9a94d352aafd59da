"""An HTML page about a characterisation: ellipses, and each section with its figures."""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from goodqueue.characterization.figures import figure_of
from goodqueue.output import page, play
from goodqueue.output.characterization.texts import band_text, cells
from goodqueue.output.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from goodqueue.characterization.measure import Characterization, Found, Score
    from goodqueue.plots.style import Picture

GRADES = {"better": "matches", "worse": "not"}
"""Class of a finding, which sets its colour."""

SIDES = {"inside": "matches", "outside": "not"}
"""Class of a figure with a band."""


def write(
    found: Characterization, pictures: Sequence[Picture], command: Sequence[str], path: Path
) -> None:
    """Writes the page, whole or not at all.

    Args:
        found: the characterisation.
        pictures: the pictures.
        command: the arguments after `goodqueue` that the page was made with.
        path: file of the page.
    """
    body = [
        '<section class="first">',
        *_introduction(found),
        *map(page.figure, pictures),
        "</section>",
    ]
    numbered = list(enumerate(found.found, 1))
    for section, group in groupby(numbered, key=lambda pair: pair[1].section):
        body.append(f"<h2>{escape(section.number)} {escape(section.title)}</h2>")
        body.append(f"<p><b>{escape(found.guide.document)} asks:</b> {escape(section.asks)}</p>")
        if section.about:
            body.append(f"<p>{escape(section.about)}</p>")
        body += [_case(found, one, place) for place, one in group]
    body += _not_run(found)
    if play.has_links(body):
        body.append(play.hint(path))
    heading = f"{found.guide.title}: {found.subject.name}"
    page.write(heading, heading, body, command, path)


def _introduction(found: Characterization) -> Iterator[str]:
    if found.against is not None:
        tally = found.tally
        tiles = [
            page.Tile(name.capitalize(), f"{count:,}") for name, count in tally.items() if count
        ]
        first = f"{tally['better']:,} of {sum(tally.values()):,}"
        rest = f"figures are better with {found.subject.name} than with {found.against.name}"
        yield from page.answer(first, rest, "", tiles)
    if any(found.standings.values()):
        sides = found.standings
        tiles = [page.Tile(name.capitalize(), f"{count:,}") for name, count in sides.items()]
        first = f"{sides['inside']:,} of {sum(sides.values()):,}"
        yield from page.answer(
            first, f"figures of {found.subject.name} are in their bands", "", tiles
        )
    yield (
        f"<p>Figures are means over {counted(len(found.seeds), 'seed')} with 95 % intervals "
        "(Student's t). A finding is that of the differences seed by seed: better or worse if "
        "their 95 % interval excludes zero and their mean is at least 1 % of the larger figure. "
        "With so many figures about one in twenty differs by chance. "
        f"{escape(found.guide.document)} sets no limits. {_bands_of(found)}"
        "The caption of a table names the file of its scenario beside this page.</p>"
    )


BANDS = (
    "A band has the bounds of the source below its table. A figure is inside if its mean is, and "
    "outside if its 95 % interval does not reach the band; of ratios these are those of the "
    "logarithms. "
)
NO_BANDS = "No figure passes or fails. "


def _bands_of(found: Characterization) -> str:
    return BANDS if any(found.standings.values()) else NO_BANDS


def _case(found: Characterization, one: Found, place: int) -> str:
    if one.refused:
        name = f"{one.case.name}: not run" if one.case.name else "Not run"
        return f'<p class="soft">{escape(name)}: {escape(one.refused)}</p>'
    heads, rows = cells(found, one)
    banded = [score for score in one.scores if score.band is not None]
    lines = [
        "".join(f"<td>{escape(text)}</td>" for text in row)
        + _finding(score, heads)
        + (_side(score) if banded else "")
        for row, score in zip(rows, one.scores, strict=True)
    ]
    if banded:
        heads = [*heads, "band"]
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    name = f"{one.case.name} " if one.case.name else ""
    scenario = found.subject.scenario(one.case, found.guide.subject)
    link = play.link(play.settings(scenario), f"scenario-{place}.toml")
    above = f"<caption>{escape(name)}<small>scenario-{place}.toml</small> {link}</caption>"
    return f'<div class="wide"><table>{above}<tr>{head}</tr>{body}</table></div>' + "".join(
        map(_source, banded)
    )


def _side(score: Score) -> str:
    grade = SIDES.get(score.standing or "")
    kind = f' class="{grade}"' if grade else ""
    return f"<td{kind}>{escape(band_text(score))}</td>"


def _source(score: Score) -> str:
    assert score.band is not None
    title = figure_of(score.measure).title
    return f'<p class="soft">Band of {escape(title)}: {escape(score.band.source)}</p>'


def _finding(score: Score, heads: Sequence[str]) -> str:
    if "finding" not in heads:
        return ""
    grade = GRADES.get(score.verdict)
    kind = f' class="{grade}"' if grade else ""
    return f"<td{kind}>{score.verdict or '-'}</td>"


def _not_run(found: Characterization) -> Iterator[str]:
    if found.not_run:
        yield "<h2>Not run</h2>"
        rows = [list(map(escape, (part.number, part.title, part.why))) for part in found.not_run]
        yield page.table(["section", "subject", "reason"], rows)
