"""The answer of `goodqueue size` as a page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from goodqueue.output import page
from goodqueue.output.answer import rules_table
from goodqueue.sizing.export import checks

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goodqueue.plots.style import Picture
    from goodqueue.sizing.answer.answer import Answer

    Table = tuple[str, Sequence[str], Sequence[Sequence[str]]]
    """A title, names of columns, and rows."""


def write(  # noqa: PLR0913, PLR0917 - all that a page shows
    answer: Answer,
    sentences: Sequence[str],
    pictures: Sequence[Picture],
    path: Path,
    command: Sequence[str],
    tables: Sequence[Table] = (),
) -> None:
    """Writes the page, whole or not at all.

    Args:
        answer: the answer.
        sentences: link and recommendation in words, without markup: the question first.
        pictures: pictures, each with its caption.
        path: the page.
        command: arguments that gave the answer, after `goodqueue`.
        tables: tables before the pictures.
    """
    question, verdict = sentences[0], sentences[1:]
    body = [
        f"<p>{escape(question)}</p>",
        *(f'<p class="answer">{escape(line)}</p>' for line in verdict),
        *(line for table in tables for line in _plain(table)),
        *map(page.figure, pictures),
        *_rules(answer),
        *_exports(answer),
    ]
    title = f"How much buffer? {question}"
    page.write(title, "How much buffer does this link need?", body, command, path)


def _plain(table: Table) -> list[str]:
    """Returns a table as plain text under its title."""
    title, columns, rows = table
    cells = [list(map(escape, row)) for row in rows]
    return [f"<h2>{escape(title)}</h2>", page.table(list(map(escape, columns)), cells)]


def _rules(answer: Answer) -> list[str]:
    if not answer.by_rule:
        return []
    made = rules_table(answer)
    titled = zip(answer.by_rule, made.rows, strict=True)
    rows = [list(map(escape, [one.rule.title, *cells[1:]])) for one, cells in titled]
    return [
        f"<h2>{made.title}</h2>",
        page.table(made.columns, rows),
        "<h2>Assumptions that do not hold here</h2>",
        _assumptions(answer),
    ]


def _assumptions(answer: Answer) -> str:
    items = [
        f"<li>{escape(one.rule.title)}: {escape('; '.join(one.advice.broken))}. "
        f"<small>{escape(one.rule.source)}</small></li>"
        for one in answer.by_rule
        if one.advice.broken
    ]
    return f"<ul>{''.join(items)}</ul>" if items else "<p>None.</p>"


def _exports(answer: Answer) -> list[str]:
    if answer.buffer is None:
        return []
    link = answer.link
    parts = ["<h2>Configuration</h2>"]
    for one in answer.exports:
        lines = escape("\n".join(one.lines))
        parts.append(
            f"<h3>{escape(one.device)}</h3><p>{escape(one.arithmetic)}</p><pre>{lines}</pre>"
            f"<p>Mind: {escape(one.warning)}</p>"
        )
    delay = None if answer.trials is None else answer.interval(answer.buffer, "p99_delay_s").mean
    items = checks(link.rate_bps, link.mean_rtt_s, delay)
    parts.append("<h2>How to check it</h2><ul>")
    parts += [f"<li>{escape(item)}</li>" for item in items]
    return [*parts, "</ul>"]
