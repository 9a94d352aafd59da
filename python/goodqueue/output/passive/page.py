"""The analysis of a capture as a page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from goodqueue.output import page
from goodqueue.output.passive.tables import sentences, tables

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goodqueue.passive.analysis import Analysis
    from goodqueue.plots.style import Picture


def write_page(
    analysis: Analysis, pictures: Sequence[Picture], command: Sequence[str], path: Path
) -> None:
    """Writes the page, whole or not at all.

    Args:
        analysis: the findings.
        pictures: pictures of them, each with its caption.
        command: arguments that gave them, after `goodqueue`.
        path: the page.
    """
    body = [f"<p>{escape(line)}</p>" for line in sentences(analysis)]
    for made in tables(analysis):
        body += page.made(made)
    body += map(page.figure, pictures)
    if notes := analysis.summary["notes"]:
        items = "".join(f"<li>{escape(note)}</li>" for note in notes)
        body.append(f"<h2>Notes</h2><ul>{items}</ul>")
    title = ", ".join(read["path"] for read in analysis.summary["reading"])
    page.write(f"What {title} shows", "What this capture shows", body, command, path)
