"""A self-contained HTML page, which needs no other file to be read or repeated."""

from __future__ import annotations

import base64
import shlex
import tempfile
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from goodqueue import _core
from goodqueue.core.files.outdir import GENERATOR, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goodqueue.output.terminal import Figures
    from goodqueue.plots.style import Picture


@dataclass(frozen=True, slots=True)
class Tile:
    """A figure that a page shows large.

    Attributes:
        name: name of the figure.
        value: value with its unit.
        notes: lines below it, such as its interval and its bound.
        kind: class of the style for the last line, which sets its colour.
    """

    name: str
    value: str
    notes: Sequence[str] = ()
    kind: str = "soft"


def answer(number: str, rest: str, sentence: str, tiles: Sequence[Tile] = ()) -> list[str]:
    """Returns the first lines of a page as HTML: a large number, one sentence, and tiles.

    Args:
        number: the number with its unit.
        rest: meaning of the number, in the same line.
        sentence: benefit or context of the number; empty for none.
        tiles: further figures.
    """
    lines = [f'<p class="number"><b>{escape(number)}</b> {escape(rest)}</p>']
    if sentence:
        lines.append(f'<p class="buys">{escape(sentence)}</p>')
    if tiles:
        lines.append(f'<div class="tiles">{"".join(map(_tile, tiles))}</div>')
    return lines


def _tile(tile: Tile) -> str:
    *others, last = tile.notes or [""]
    notes = [f'<span class="soft">{escape(note)}</span>' for note in others]
    if last:
        notes.append(f'<span class="{tile.kind}">{escape(last)}</span>')
    name = f'<span class="soft">{escape(tile.name)}</span>'
    return f'<div class="tile">{name}<b>{escape(tile.value)}</b>{"".join(notes)}</div>'


def style() -> str:
    """Returns the style that all pages share."""
    return (resources.files("goodqueue.output") / "report.css").read_text("utf-8")


def write(
    title: str, heading: str, body: Sequence[str], command: Sequence[str], path: Path
) -> None:
    """Writes a page, whole or not at all.

    Args:
        title: title of the page, as text.
        heading: heading of the page, as text.
        body: contents, as HTML.
        command: the arguments after `goodqueue` that the page was made with.
        path: file of the page.
    """
    parts = [
        "<!doctype html>",
        '<html lang="en"><meta charset="utf-8">',
        GENERATOR,
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title><style>{style()}</style>",
        f"<main><h1>{escape(heading)}</h1>",
        *body,
        "<h2>How to repeat it</h2>",
        f"<pre>{escape(shlex.join(['goodqueue', *command]))}</pre>",
        f"<p>goodqueue {escape(_core.version())}, results version {_core.results_version()}.</p>",
        "</main></html>",
    ]
    # HTML allows no control characters, not even as character references.
    page = "\n".join(parts)
    write_whole(path, "".join(c for c in page if c.isprintable() or c in "\n\t"))


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Returns a table as HTML, from texts that are HTML already."""
    head = "".join(f"<th>{text}</th>" for text in heads)
    cells = ("".join(f"<td>{text}</td>" for text in row) for row in rows)
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    above = f"<caption>{caption}</caption>" if caption else ""
    return f'<div class="wide"><table>{above}<tr>{head}</tr>{body}</table></div>'


def made(figures: Figures) -> list[str]:
    """Returns a table of the terminal as HTML, under its title."""
    rows = [[escape(Text.from_markup(cell).plain) for cell in row] for row in figures.rows]
    return [
        f"<h2>{escape(figures.title)}</h2>",
        table(list(map(escape, figures.columns)), rows),
    ]


def figure(picture: Picture) -> str:
    """Returns a picture with its caption as HTML. The image's own text does not repeat it."""
    with tempfile.TemporaryDirectory() as folder:
        image = base64.b64encode(picture.save(Path(folder), caption=False).read_bytes()).decode()
    caption = escape(picture.caption)
    return (
        f'<figure><img alt="Chart, described below" src="data:image/png;base64,{image}">'
        f"<figcaption>{caption}</figcaption></figure>"
    )
