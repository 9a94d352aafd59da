"""A self-contained HTML page, which needs no other file to be read or repeated."""

from __future__ import annotations

import base64
import shlex
import tempfile
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.core.outdir import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goodqueue.plots.style import Picture

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
       color: #1a1a1a; background: #fff; }
table { border-collapse: collapse; width: 100%; font-size: 0.85rem; }
th, td { text-align: right; padding: 0.25rem 0.6rem; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; }
caption { text-align: left; font-weight: bold; padding: 0.6rem 0 0.2rem; }
h3 { margin-top: 2.2rem; }
td.matches { color: #006b3c; } td.shape { color: #8a5a00; } td.not { color: #b00020; }
pre { background: #f4f4f4; padding: 0.7rem; overflow-x: auto; font-size: 0.85rem; }
figure { margin: 1.5rem 0; } figcaption { font-size: 0.9rem; color: #444; }
img { max-width: 100%; } .answer { font-size: 1.2rem; }
"""


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
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title><style>{STYLE}</style>",
        f"<h1>{escape(heading)}</h1>",
        *body,
        "<h2>How to repeat it</h2>",
        f"<pre>{escape(shlex.join(['goodqueue', *command]))}</pre>",
        f"<p>goodqueue {escape(_core.version())}, results version {_core.results_version()}.</p>",
        "</html>",
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
    return f"<table>{above}<tr>{head}</tr>{body}</table>"


def figure(picture: Picture) -> str:
    """Returns a picture with its caption as HTML."""
    with tempfile.TemporaryDirectory() as folder:
        image = base64.b64encode(picture.save(Path(folder), caption=False).read_bytes()).decode()
    caption = escape(picture.caption)
    return (
        f'<figure><img alt="{caption}" src="data:image/png;base64,{image}">'
        f"<figcaption>{caption}</figcaption></figure>"
    )
